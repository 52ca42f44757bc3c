"""What a rank prints, made into lines that begin with the time.

Must not write anywhere; it only transforms bytes.
"""

from __future__ import annotations

from typing import List, Protocol

from windlass.agent.mask import Mask

LINE_BYTES = 1 << 16
"""A longer line is cut into pieces."""


class Text(Protocol):
    """Turns the bytes that came out of a pipe into the bytes that go into a log."""

    @property
    def has_rest(self) -> bool:
        """Whether something waits that `rest` would give after a while."""

    def take(self, data: bytes, stamp: bytes) -> bytes:
        """What can be written now."""

    def rest(self, stamp: bytes, *, is_last: bool) -> bytes:
        """What waited: the unfinished line, when it has waited long enough or was the last."""


class Lines:
    """Whole lines, each with the time, secrets masked, progress bars down to their last state."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._tail = b""
        self._is_open = False
        """Whether the beginning of the current line was given out already."""

    @property
    def has_rest(self) -> bool:
        """See Text."""
        return bool(self._tail)

    def take(self, data: bytes, stamp: bytes) -> bytes:
        """See Text."""
        data = (self._tail + data).replace(b"\r\n", b"\n")
        end = data.rfind(b"\n") + 1
        whole, self._tail = data[:end], data[end:]
        out = self._whole(whole, stamp) if whole else b""
        if b"\r" in self._tail[:-1]:
            # Only the last state of a progress bar counts; the \r says that it starts the line.
            is_over = self._tail.endswith(b"\r")
            self._tail = b"\r" + _last_state(self._tail) + (b"\r" if is_over else b"")
        if len(self._tail) > LINE_BYTES:
            out += self.rest(stamp, is_last=False) + b"\n"
            self._is_open = False
        return out

    def rest(self, stamp: bytes, *, is_last: bool) -> bytes:
        """See Text."""
        piece, self._tail = self._tail, b""
        if not is_last:
            kept = max(self._mask.held(piece), _unfinished(piece), piece.endswith(b"\r"))
            cut = len(piece) - kept
            piece, self._tail = piece[:cut], piece[cut:]
        is_restart = piece.startswith(b"\r")
        text = self._clean(piece.strip(b"\r"))
        if not text and not (is_last and self._is_open):
            self._tail = piece + self._tail
            return b""
        before = b"" if self._is_open and not is_restart else stamp
        if self._is_open and is_restart:
            before = b"\n" + stamp
        self._is_open = not is_last
        return before + text + (b"\n" if is_last else b"")

    def _whole(self, whole: bytes, stamp: bytes) -> bytes:
        out = b""
        if self._is_open:
            first, _, whole = whole.partition(b"\n")
            if b"\r" in first:
                out = b"\n" + stamp
            out += self._clean(_last_state(first)) + b"\n"
            self._is_open = False
            if not whole:
                return out
        body = whole[:-1]
        if b"\r" in body:
            body = b"\n".join(_last_state(line) for line in body.split(b"\n"))
        body = self._clean(body)
        if len(body) > LINE_BYTES:
            body = b"\n".join(piece for line in body.split(b"\n") for piece in _cut(line))
        return out + stamp + body.replace(b"\n", b"\n" + stamp) + b"\n"

    def _clean(self, data: bytes) -> bytes:
        data = self._mask.apply(data)
        try:
            data.decode()
        except UnicodeDecodeError:
            return data.decode("utf-8", "replace").encode()
        return data


class Raw:
    """The bytes as they are, but for secrets: what a command of `windlass exec` prints."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._tail = b""

    @property
    def has_rest(self) -> bool:
        """See Text. What waits here waits for the end."""
        return False

    def take(self, data: bytes, stamp: bytes) -> bytes:
        """See Text. What may be the start of a secret waits for the rest of it, or the end."""
        data = self._mask.apply(self._tail + data)
        cut = len(data) - self._mask.held(data)
        data, self._tail = data[:cut], data[cut:]
        return data

    def rest(self, stamp: bytes, *, is_last: bool) -> bytes:
        """See Text."""
        if not is_last:
            return b""
        data, self._tail = self._tail, b""
        return data


def _last_state(line: bytes) -> bytes:
    """What a terminal would show of a line that was written over again and again."""
    return line.rstrip(b"\r").rpartition(b"\r")[2]


def _cut(line: bytes) -> List[bytes]:
    """Pieces of at most LINE_BYTES that do not split a character."""
    pieces = []
    while len(line) > LINE_BYTES:
        end = LINE_BYTES - _unfinished(line[:LINE_BYTES])
        pieces.append(line[:end])
        line = line[end:]
    return [*pieces, line]


def _unfinished(data: bytes) -> int:
    """How many bytes at the end are the beginning of a UTF-8 character."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needed else 0
    return 0
