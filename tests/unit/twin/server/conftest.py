"""A server on a real socket, and a client that says exactly what a test wants said."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from windlass.twin.messages import Request, Response, json_response
from windlass.twin.server.listener import Server
from windlass.twin.server.stream import Limits


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def document(self):
        return json.loads(self.content)


class Client:
    """A raw connection."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.file = self.sock.makefile("rb")

    def say(self, text: str | bytes) -> None:
        self.sock.sendall(text.encode() if isinstance(text, str) else text)

    def over(self, sock: socket.socket) -> None:
        """Go on over another socket, such as a TLS one around ours."""
        self.sock = sock
        self.file = sock.makefile("rb")

    def answer(self, *, is_head: bool = False) -> Answer:
        status = int(self.file.readline().split()[1])
        headers = {}
        while line := self.file.readline().strip():
            name, _, value = line.decode().partition(": ")
            headers[name.lower()] = value
        if is_head or status in (100, 204, 304):
            content = b""
        elif headers.get("transfer-encoding") == "chunked":
            content = self._chunks()
        elif "content-length" in headers:
            content = self.file.read(int(headers["content-length"]))
        else:
            content = self.file.read()
        return Answer(status, headers, content)

    def _chunks(self) -> bytes:
        content = b""
        while size := int(self.file.readline(), 16):
            content += self.file.read(size)
            assert self.file.readline() == b"\r\n"
        assert self.file.readline() == b"\r\n"
        return content

    def ask(self, text: str, *, is_head: bool = False) -> Answer:
        """One request, written with plain line ends."""
        self.say(text.replace("\n", "\r\n"))
        return self.answer(is_head=is_head)

    def is_closed(self) -> bool:
        try:
            return self.file.read(1) == b""
        except ConnectionResetError:  # It has hung up on something that it has not read.
            return True

    def close(self) -> None:
        self.file.close()
        self.sock.close()


def echo(request: Request) -> Response:
    """Says what it was asked."""
    body = request.body.read()
    return json_response(
        {
            "method": request.method,
            "host": request.host,
            "path": request.path,
            "query": request.query,
            "base": request.base,
            "length": len(body),
            "body": body[:100].decode("latin-1"),
        }
    )


@dataclass
class Serving:
    """Servers and clients that end with the test."""

    stack: ExitStack
    log: io.StringIO = field(default_factory=io.StringIO)

    def server(self, handler=echo, *, limits: Limits | None = None, tls=None) -> Server:
        server = Server(handler, limits=limits, tls=tls, log=self.log)
        server.start()
        self.stack.callback(server.stop)
        return server

    def client(self, server: Server) -> Client:
        client = Client(server.port)
        self.stack.callback(client.close)
        return client

    def talk(self, handler=echo, *, limits: Limits | None = None) -> Client:
        return self.client(self.server(handler, limits=limits))


@pytest.fixture
def serving() -> Iterator[Serving]:
    with ExitStack() as stack:
        yield Serving(stack)
