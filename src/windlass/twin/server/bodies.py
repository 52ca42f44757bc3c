"""What follows a request's head, read while it arrives.

Must not hold a body in memory that nobody asks for. Each raises ConnectionError when the client
hangs up before its end, and Malformed when its framing is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from windlass.twin.server.head import Head
from windlass.twin.server.stream import Malformed, Stream

PIECE = 1 << 20
CHUNK_LINE_MAX = 1 << 10
TRAILERS_MAX = 64
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")


class Arriving(Protocol):
    """A body that comes over a socket."""

    @property
    def is_over(self) -> bool:
        """Whether all of it has been read."""

    @property
    def is_unasked(self) -> bool:
        """Whether the client still waits to be asked for it."""

    def read(self, size: int = -1) -> bytes:
        """See messages.Body. Less than `size` only at the end."""


def body_of(head: Head, stream: Stream, *, go_on: Callable[[], None]) -> Arriving:
    """The body that this head announces; `go_on` tells a client that waits to be asked for it."""
    ask = go_on if "expect" in head.headers else None
    if head.is_chunked:
        return ChunkedBody(stream, ask=ask)
    return SizedBody(stream, head.length, ask=ask)


class SizedBody:
    """So many bytes."""

    def __init__(
        self, stream: Stream, length: int, *, ask: Callable[[], None] | None = None
    ) -> None:
        self._stream = stream
        self._left = length
        self._ask = ask

    @property
    def is_over(self) -> bool:
        """See Arriving."""
        return not self._left

    @property
    def is_unasked(self) -> bool:
        """See Arriving."""
        return self._ask is not None

    def read(self, size: int = -1) -> bytes:
        """See Arriving."""
        if not self._left:
            return b""
        if self._ask is not None:
            ask, self._ask = self._ask, None
            ask()
        wanted = self._left if size < 0 else min(size, self._left)
        if wanted <= PIECE:
            return self._take(wanted)
        # Piece by piece: a length that somebody only claims must not take memory.
        parts = []
        while wanted:
            parts.append(self._take(min(PIECE, wanted)))
            wanted -= len(parts[-1])
        return b"".join(parts)

    def _take(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= size
        return data


class ChunkedBody:
    """Chunks, each with its length before it."""

    def __init__(self, stream: Stream, *, ask: Callable[[], None] | None = None) -> None:
        self._stream = stream
        self._ask = ask
        self._left = 0
        """Of the present chunk."""
        self._is_first = True
        self.is_over = False

    @property
    def is_unasked(self) -> bool:
        """See Arriving."""
        return self._ask is not None

    def read(self, size: int = -1) -> bytes:
        """See Arriving."""
        if self._ask is not None:
            ask, self._ask = self._ask, None
            ask()
        parts = []
        while size != 0 and not self.is_over:
            if not self._left:
                self._next_chunk()
                continue
            part = self._stream.read(min(self._left, PIECE if size < 0 else min(size, PIECE)))
            self._left -= len(part)
            size -= len(part) if size > 0 else 0
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _next_chunk(self) -> None:
        if not self._is_first and self._stream.line(2) != b"":
            raise Malformed("a chunk does not end where it should")
        self._is_first = False
        found = _SIZE.fullmatch(self._stream.line(CHUNK_LINE_MAX))
        if found is None:
            raise Malformed("a chunk has no length")
        self._left = int(found[1], 16)
        if not self._left:
            self._skip_trailers()
            self.is_over = True

    def _skip_trailers(self) -> None:
        for _ in range(TRAILERS_MAX):
            if not self._stream.line(CHUNK_LINE_MAX):
                return
        raise Malformed("the body has too many trailers", status=431)


def drain(body: Arriving, most: int) -> bool:
    """Read what nobody wanted, to come to the next request; False when that is too much."""
    if body.is_unasked and not body.is_over:
        return False  # Nobody knows whether the client will send it.
    while not body.is_over and most > 0:
        most -= len(body.read(min(most, PIECE)))
    return body.is_over
