"""The head of a request: parsed strictly, so that nobody can smuggle one request inside another.

Must not touch sockets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from windlass.twin.server.stream import Malformed

LINE_MAX = 1 << 15
HEADERS_MAX = 128
LENGTH_DIGITS_MAX = 18

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}")
# Control characters, and line ends that are only half a line end.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._~-]+)(?::(\d{1,5}))?")
# Of these a request has one, or somebody is being fooled.
_SINGLE = frozenset({"host", "content-length", "transfer-encoding", "authorization", "expect"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What stands before a request's body."""

    method: str
    target: str
    headers: dict[str, str]
    """By lower-case name."""
    is_old: bool
    """HTTP/1.0: no chunks, and the connection ends unless the client asks for more."""

    @property
    def stays_open(self) -> bool:
        """Whether the client wants to ask more on this connection."""
        said = self.headers.get("connection")
        if said is None:
            return not self.is_old
        words = {word.strip() for word in said.lower().split(",")}
        return "close" not in words and (not self.is_old or "keep-alive" in words)

    @property
    def is_chunked(self) -> bool:
        """Whether the body comes in chunks."""
        return "transfer-encoding" in self.headers

    @property
    def length(self) -> int:
        """How long the body is, unless it comes in chunks."""
        return int(self.headers.get("content-length", 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Whom a request is for."""

    host: str
    base: str
    path: str
    query: str


def parse(data: bytes) -> Head:
    """A head without the empty line behind it; Malformed when it is not one."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if _FORBIDDEN.search(text):
        raise Malformed("the head of the request has control characters")
    first, *lines = text.split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[1] or not words[1].isascii():
        raise Malformed("the first line of the request is no request line")
    method, target, version = words
    if len(first) > LINE_MAX:
        raise Malformed("the URL is too long", status=414)
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise Malformed("only HTTP/1.1 is spoken here", status=505)
    _lower(method)
    head = Head(method=method, target=target, headers=_headers(lines), is_old=version == "HTTP/1.0")
    _check(head)
    return head


def _headers(lines: list[str]) -> dict[str, str]:
    if len(lines) > HEADERS_MAX:
        raise Malformed("the request has too many headers", status=431)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise Malformed("a header has no colon")
        name = _lower(name)
        value = value.strip(" \t")
        if name in headers:
            if name in _SINGLE:
                raise Malformed(f"the header {name} stands there twice")
            value = f"{headers[name]}, {value}"
        headers[name] = value
    return headers


@lru_cache(maxsize=1024)
def _lower(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise Malformed("a header or method has a name that it cannot have")
    return name.lower()


def _check(head: Head) -> None:
    """That everybody agrees where the body ends, and whom the request is for."""
    headers = head.headers
    length = headers.get("content-length")
    if length is not None and not (length.isdecimal() and length.isascii()):
        raise Malformed("Content-Length is no number")
    if length is not None and len(length) > LENGTH_DIGITS_MAX:
        raise Malformed("the body is too long", status=413)
    coding = headers.get("transfer-encoding")
    if coding is not None and (length is not None or head.is_old):
        raise Malformed("Transfer-Encoding stands beside what contradicts it")
    if coding is not None and coding.lower() != "chunked":
        raise Malformed("only chunks are understood as Transfer-Encoding", status=501)
    if "host" not in headers and not head.is_old:
        raise Malformed("the request does not say which host it is for")
    expected = headers.get("expect")
    if expected is not None and expected.lower() != "100-continue":
        raise Malformed("only 100-continue can be expected", status=417)


def address(head: Head, *, scheme: str, fallback: str) -> Address:
    """Whom a request is for. `fallback` is the host and port when it does not say."""
    target = head.target
    authority = head.headers.get("host") or fallback
    if target[0] != "/" and target != "*":
        scheme, authority, target = _absolute(target)
    host, base = _origin(scheme, authority)
    path, _, query = target.partition("?")
    return Address(host=host, base=base, path=path, query=query)


def _absolute(target: str) -> tuple[str, str, str]:
    """The form in which a proxy is asked: the whole URL."""
    scheme, mark, rest = target.partition("://")
    if not mark or scheme.lower() not in ("http", "https"):
        raise Malformed("the URL is neither a path nor a whole URL")
    cut = re.search(r"[/?]", rest)
    authority = rest[: cut.start()] if cut else rest
    path = rest[cut.start() :] if cut else "/"
    return scheme.lower(), authority, path if path.startswith("/") else f"/{path}"


@lru_cache(maxsize=1024)
def _origin(scheme: str, authority: str) -> tuple[str, str]:
    """The host alone, and the URL that everything at this host begins with."""
    host, port = split_authority(authority)
    shown = f"[{host}]" if ":" in host else host
    is_usual = port in (None, 443 if scheme == "https" else 80)
    return host, f"{scheme}://{shown}" if is_usual else f"{scheme}://{shown}:{port}"


def split_authority(authority: str) -> tuple[str, int | None]:
    """`host:port` as host (lower case, IPv6 without brackets) and port."""
    found = _AUTHORITY.fullmatch(authority)
    if found is None or int(found[2] or 0) > 65535:
        raise Malformed("the request's host is none")
    return found[1].strip("[]").lower(), int(found[2]) if found[2] else None
