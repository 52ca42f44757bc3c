"""The log of one process in the run folder: prompt, bounded, and never in the way of the process.

Must not block on anything but the folder itself.
"""

from __future__ import annotations

from typing import Optional

from windlass.agent import clock
from windlass.agent.chunks import Chunks
from windlass.agent.lines import Text

PARTIAL_S = 1.0
"""How long an unfinished line waits for its end."""
RETRY_S = 1.0
KEPT_BYTES = 1 << 20
"""How much of the end is kept while the folder cannot be written."""
PENDING_BYTES = 4 << 20
"""With this much unwritten, the pipe is not read until the next flush."""
CAP_BYTES = 256 << 20


class Log:
    """Takes what comes out of a pipe and writes it to chunks when it is time."""

    def __init__(self, chunks: Chunks, text: Text, *, cap_bytes: int = CAP_BYTES) -> None:
        self._chunks = chunks
        self._text = text
        self._room = cap_bytes
        self._cap_bytes = cap_bytes
        self._pending = bytearray()
        self._flush_at = float("-inf")
        self._partial_at: Optional[float] = None
        self._is_failing = False
        self._lost = 0

    @property
    def is_full(self) -> bool:
        """Whether the pipe had better wait: the writer is faster than the folder."""
        return len(self._pending) >= PENDING_BYTES

    def feed(self, data: bytes, now: float, wall: float) -> None:
        """Take some output."""
        if self._room <= 0:
            return
        stamp = clock.stamp(wall)
        self._keep(self._text.take(data, stamp))
        if not self._text.has_rest:
            self._partial_at = None
        elif self._partial_at is None:
            self._partial_at = now + PARTIAL_S
        if self._room <= 0:
            self._partial_at = None
            self._pending += stamp + self._cut_note()

    def due(self) -> float:
        """When `flush` has something to do."""
        flush_at = self._flush_at if self._pending else float("inf")
        return flush_at if self._partial_at is None else min(flush_at, self._partial_at)

    def flush(self, now: float, wall: float) -> None:
        """Write what is due."""
        if self._partial_at is not None and now >= self._partial_at:
            self._keep(self._text.rest(clock.stamp(wall), is_last=False))
            self._partial_at = None
        if self._pending and now >= self._flush_at:
            self._write(now, wall)

    def close(self, now: float, wall: float) -> None:
        """Write everything: nothing more will come."""
        if self._room > 0:
            self._keep(self._text.rest(clock.stamp(wall), is_last=True))
        if self._pending:
            self._write(now, wall)

    def _keep(self, text: bytes) -> None:
        self._pending += text
        self._room -= len(text)
        if self._is_failing:
            self._forget()

    def _forget(self) -> None:
        over = len(self._pending) - KEPT_BYTES
        if over > 0:
            # Up to the end of a line, so that what is left begins with a time.
            end = self._pending.find(b"\n", over) + 1 or over
            del self._pending[:end]
            self._lost += end

    def _write(self, now: float, wall: float) -> None:
        said = bytes(self._pending)
        if self._lost:
            said = clock.stamp(wall) + self._lost_note() + said
        try:
            self._chunks.add(said)
        except OSError:
            self._is_failing = True
            self._flush_at = now + RETRY_S
            self._forget()
            return
        self._is_failing = False
        self._lost = 0
        self._pending.clear()
        self._flush_at = now + self._chunks.pause_s

    def _lost_note(self) -> bytes:
        return (
            f"[windlass] {self._lost} bytes of log were lost here: "
            "the run folder could not be written\n"
        ).encode()

    def _cut_note(self) -> bytes:
        return f"[windlass] log cut here: it is over {self._cap_bytes} bytes\n".encode()
