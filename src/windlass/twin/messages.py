"""A request to the twin and its answer, free of sockets.

Must not parse HTTP (the server does) nor decide anything: a test and a simulation make the same
values that the server makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl


class Body(Protocol):
    """The bytes that follow a request's head; read at most once, front to back."""

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, or all that is left; empty at the end."""


class Bytes:
    """A body that is in memory."""

    def __init__(self, content: bytes = b"") -> None:
        self._content = content
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        """See Body."""
        end = len(self._content) if size < 0 else min(len(self._content), self._at + size)
        piece = self._content[self._at : end]
        self._at = end
        return piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a client asks."""

    method: str
    host: str
    """The service's host (`compute.googleapis.com`), lower case, without port; the loopback
    address when the client was given an endpoint of the twin's own."""
    path: str
    """As sent: still percent-encoded, without the query."""
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case name."""
    body: Body = field(default_factory=Bytes)
    base: str = "http://127.0.0.1"
    """How the client reached the twin; links that it is to follow start with it."""

    def queries(self) -> dict[str, str]:
        """The query by name; the last of several wins, as at Google."""
        return dict(parse_qsl(self.query, keep_blank_values=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """So many bytes of a file, for the server to send without reading them."""

    path: Path
    offset: int
    length: int


Content = bytes | FilePart | Iterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What the twin answers."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content: Content = b""
    """An iterator is sent in chunks, as long as the client listens."""


def json_response(value: Any, *, status: int = 200) -> Response:
    """A JSON answer as Google's front end sends it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    headers = (("Content-Type", "application/json; charset=UTF-8"),)
    return Response(status=status, headers=headers, content=text.encode())
