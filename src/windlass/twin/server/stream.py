"""Bytes from a client, in the order they came, with what came early kept for whoever reads next.

Must not know HTTP beyond where a head and a line end.
"""

from __future__ import annotations

import socket
import ssl
import struct
import time
from dataclasses import dataclass

BLOCK = 1 << 16
END = b"\r\n\r\n"
LINE = b"\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a client may ask of us."""

    head_bytes: int = 1 << 16
    head_s: float = 20.0
    """From the first byte of a head to its last."""
    idle_s: float = 600.0
    """Between two requests."""
    silence_s: float = 60.0
    """In the middle of something."""
    drain_bytes: int = 1 << 18
    """Of a body that nobody wants; a longer one ends the connection."""
    connections: int = 1000


class Gone(ConnectionError):
    """The client has hung up, or has been silent for too long."""


class Malformed(Exception):
    """What came is not HTTP as we take it; `status` is what the client is told."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Stream:
    """What one client sends."""

    def __init__(self, sock: socket.socket, limits: Limits) -> None:
        self._sock = sock
        self._limits = limits
        # A plain socket waits for all that is asked for in the kernel; TLS has no such thing.
        self._whole = 0 if isinstance(sock, ssl.SSLSocket) else socket.MSG_WAITALL
        self._early = b""
        self._at = 0

    @property
    def has_early(self) -> bool:
        """Whether bytes have come that nobody has asked for yet."""
        return self._at < len(self._early)

    def head(self) -> bytes | None:
        """A request's head without the empty line behind it; None when there is no next one."""
        data = self._early[self._at :].lstrip(LINE) or self._first()
        if data is None:
            return None
        end = data.find(END)
        if end < 0:
            data, end = self._rest_of_head(data)
        if end > self._limits.head_bytes:
            raise Malformed("the head of the request is too long", status=431)
        self._early = data
        self._at = end + len(END)
        return data[:end]

    def read(self, size: int) -> bytes:
        """Exactly so many bytes; Gone when they do not come."""
        piece = self._early[self._at : self._at + size]
        self._at += len(piece)
        if len(piece) == size:
            return piece
        # What was early is used up: let it go, it may be large.
        self._early, self._at = b"", 0
        rest = self._receive_all(size - len(piece))
        return piece + rest if piece else rest

    def line(self, most: int) -> bytes:
        """Up to the end of the line, which is taken off."""
        while (end := self._early.find(LINE, self._at)) < 0:
            if len(self._early) - self._at > most:
                raise Malformed("a line of the body's framing is too long")
            self._early = self._early[self._at :] + self._receive(BLOCK)
            self._at = 0
        found = self._early[self._at : end]
        self._at = end + len(LINE)
        return found

    def _first(self) -> bytes | None:
        """The first bytes of a request, however long the client thinks about it."""
        deadline = time.monotonic() + self._limits.idle_s
        while True:
            try:
                data = self._sock.recv(BLOCK)
            except (BlockingIOError, TimeoutError):
                if time.monotonic() > deadline:
                    return None
                continue
            except (OSError, ValueError):
                return None
            if not data:
                return None
            if data := data.lstrip(LINE):  # Old clients end a body with a line too many.
                return data

    def _rest_of_head(self, data: bytes) -> tuple[bytes, int]:
        """Waits for the end of a head; whoever sends it byte by byte is not waited for."""
        deadline = time.monotonic() + self._limits.head_s
        end = -1
        while end < 0:
            if len(data) > self._limits.head_bytes:
                raise Malformed("the head of the request is too long", status=431)
            try:
                more = self._receive(BLOCK)
            except TimeoutError as exc:
                raise Malformed("the request took too long", status=408) from exc
            if time.monotonic() > deadline:
                raise Malformed("the request took too long", status=408)
            searched = max(0, len(data) - len(END) + 1)
            data += more
            end = data.find(END, searched)
        return data, end

    def _receive(self, size: int) -> bytes:
        try:
            data = self._sock.recv(size)
        except (BlockingIOError, TimeoutError) as exc:
            raise SilentClient("the client was silent for too long") from exc
        except (OSError, ValueError) as exc:
            raise Gone("the connection is broken") from exc
        if not data:
            raise Gone("the client has hung up in the middle")
        return data

    def _receive_all(self, size: int) -> bytes:
        first = self._receive_much(size)
        if len(first) == size:
            return first
        parts, missing = [first], size - len(first)
        while missing:
            parts.append(self._receive_much(missing))
            missing -= len(parts[-1])
        return b"".join(parts)

    def _receive_much(self, size: int) -> bytes:
        if not self._whole:
            return self._receive(size)
        try:
            data = self._sock.recv(size, self._whole)
        except (BlockingIOError, TimeoutError) as exc:
            raise SilentClient("the client was silent for too long") from exc
        except OSError as exc:
            raise Gone("the connection is broken") from exc
        if not data:
            raise Gone("the client has hung up in the middle")
        return data


class SilentClient(Gone, TimeoutError):
    """Nothing has come for too long."""


def set_patience(sock: socket.socket, seconds: float) -> None:
    """How long one receive or send may take.

    In the kernel where that is possible: Python's own timeout asks whether there is something to
    read before it reads, which costs another system call each time. TLS has only Python's.
    """
    if isinstance(sock, ssl.SSLSocket):
        sock.settimeout(seconds)
        return
    whole = int(seconds)
    value = struct.pack("@ll", whole, int((seconds - whole) * 1_000_000))
    sock.setblocking(True)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, value)
