"""An answer on its way to the client: one write where it is small, no copy where it is a file.

Must not decide what is answered, nor whether the connection stays.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from email.utils import formatdate
from http import HTTPStatus

from windlass.twin.messages import FilePart, Response
from windlass.twin.server.stream import Gone

TOGETHER_BYTES = 1 << 16
"""Up to here copying a content behind its head is cheaper than a second write."""
FILE_BLOCK = 1 << 20
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"

_FIRST_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus
}
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})
_LINE_END = re.compile(r"[\r\n\x00]")


class Reply:
    """Sends one answer."""

    def __init__(self, sock: socket.socket, *, method: str, stays_open: bool, is_old: bool) -> None:
        self._sock = sock
        self._is_head = method == "HEAD"
        self._stays_open = stays_open
        self._is_old = is_old

    def send(self, response: Response) -> bool:
        """Send it; whether the connection can be used for another request."""
        content = response.content
        has_none = response.status in (204, 304) or response.status < 200
        is_sized = isinstance(content, (bytes, FilePart))
        stays = self._stays_open and (is_sized or has_none or not self._is_old)
        head = self._head(response, stays=stays, has_none=has_none)
        try:
            if has_none or self._is_head:
                self._write(head)
            elif isinstance(content, bytes):
                self._send_bytes(head, content)
            elif isinstance(content, FilePart):
                self._send_file(head, content)
            else:
                self._send_pieces(head, content)
        finally:
            if not is_sized and hasattr(content, "close"):
                content.close()
        return stays

    def _head(self, response: Response, *, stays: bool, has_none: bool) -> bytes:
        lines = [_FIRST_LINES.get(response.status) or f"HTTP/1.1 {response.status} \r\n"]
        announced = ""
        for name, value in response.headers:
            lower = name.lower()
            if lower in _FRAMING:
                announced = value if lower == "content-length" else announced
                continue
            if _LINE_END.search(value):
                raise ValueError(f"the header {name} of an answer has a line end in it")
            lines.append(f"{name}: {value}\r\n")
        if not any(name == "Date" for name, _ in response.headers):
            lines.append(f"Date: {_date(int(time.time()))}\r\n")
        lines.append(self._framing(response, announced) if not has_none else "")
        if not stays:
            lines.append("Connection: close\r\n")
        elif self._is_old:
            lines.append("Connection: keep-alive\r\n")
        lines.append("\r\n")
        return "".join(lines).encode()

    def _framing(self, response: Response, announced: str) -> str:
        content = response.content
        if self._is_head and announced and content == b"":
            return f"Content-Length: {announced}\r\n"  # How long it would be.
        if isinstance(content, bytes):
            return f"Content-Length: {len(content)}\r\n"
        if isinstance(content, FilePart):
            return f"Content-Length: {content.length}\r\n"
        return "" if self._is_old else "Transfer-Encoding: chunked\r\n"

    def _write(self, data: bytes | memoryview) -> None:
        try:
            self._sock.sendall(data)
        except (OSError, ValueError) as exc:
            raise Gone("the client does not listen any more") from exc

    def _send_bytes(self, head: bytes, content: bytes) -> None:
        if len(content) <= TOGETHER_BYTES:
            self._write(head + content)
            return
        self._write(head)
        self._write(content)

    def _send_file(self, head: bytes, part: FilePart) -> None:
        """Through one block of memory. On loopback that is faster than sendfile, which hands the
        file over page by page (3.5 to 2.5 GB/s where this was measured), and TLS needs it."""
        with part.path.open("rb", buffering=0) as file:
            offset, left = part.offset, part.length
            first = os.pread(file.fileno(), min(left, TOGETHER_BYTES), offset)
            _check_length(part, first, at_least=min(left, 1))
            self._write(head + first)
            offset += len(first)
            left -= len(first)
            block = memoryview(bytearray(min(left, FILE_BLOCK)))
            while left:
                count = os.preadv(file.fileno(), [block[: min(left, FILE_BLOCK)]], offset)
                _check_length(part, block[:count], at_least=1)
                self._write(block[:count])
                offset += count
                left -= count

    def _send_pieces(self, head: bytes, pieces: Iterator[bytes]) -> None:
        self._write(head)
        for piece in pieces:
            if piece:
                frame = piece if self._is_old else b"%x\r\n%b\r\n" % (len(piece), piece)
                self._write(frame)
        if not self._is_old:
            self._write(b"0\r\n\r\n")


class ShortFile(OSError):
    """A file ended before the answer did: a bug of whoever cut it."""


def _check_length(part: FilePart, block: bytes | memoryview, *, at_least: int) -> None:
    if len(block) < at_least:
        raise ShortFile(f"{part.path} is shorter than it was")


class _LastDate:
    """The date of this second: it is made once a second, not once an answer."""

    second = 0
    text = ""


def _date(second: int) -> str:
    if second != _LastDate.second:
        _LastDate.text, _LastDate.second = formatdate(second, usegmt=True), second
    return _LastDate.text
