"""The twin's Cloud Storage over one keep-alive connection, beside fake-gcs-server in the same run.

The twin syncs every write to the disk before it answers; fake-gcs-server (1.56, its filesystem
backend) does not. `WINDLASS_FAKE_GCS_SERVER` names that program; without it there are no ratios.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from clocks import in_turn, median, seconds
from figures import Figure, Result

from windlass.twin.server.home import TwinHome

PEER = "WINDLASS_FAKE_GCS_SERVER"
REPETITIONS = 5
SMALL = os.urandom(4096)
LARGE = os.urandom(64 << 20)
OBJECTS = 1000
PATIENCE_S = 30.0
BUCKET = "bench"


class Service:
    """A server, through one connection that stays open.

    Speaks HTTP itself: the standard library's client takes as long as the servers do.
    """

    def __init__(self, port: int, *, token: str = "") -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = f"Host: 127.0.0.1:{port}\r\nAccept-Encoding: identity\r\n"
        if token:
            self._headers += f"Authorization: Bearer {token}\r\n"
        self._number = 0

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        self._send(method, path, body)
        head, rest, length = self._head()
        if b"chunked" in head:
            return self._chunks(rest)
        parts = [rest]
        left = length - len(rest)
        while left > 0:
            parts.append(self._socket.recv(min(left, 1 << 20)))
            left -= len(parts[-1])
        return b"".join(parts)

    def _send(self, method: str, path: str, body: bytes = b"") -> None:
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}Content-Length: {len(body)}\r\n\r\n"
        if len(body) <= len(SMALL):
            self._socket.sendall(head.encode() + body)
        else:
            self._socket.sendall(head.encode())
            self._socket.sendall(body)

    def _head(self) -> tuple[bytes, bytes, int]:
        """The head, what came behind it, and how long the body is."""
        data = self._socket.recv(1 << 16)
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._socket.recv(1 << 16)
        head = data[:end].lower()
        if not head.startswith(b"http/1.1 2"):
            raise SystemExit(f"answered {data[:300]!r}")
        at = head.find(b"content-length: ")
        length = int(head[at + 16 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        return head, data[end + 4 :], length

    def _chunks(self, data: bytes) -> bytes:
        parts = []
        while True:
            while (end := data.find(b"\r\n")) < 0:
                data += self._socket.recv(1 << 16)
            size, data = int(data[:end], 16), data[end + 2 :]
            while len(data) < size + 2:
                data += self._socket.recv(1 << 20)
            parts.append(data[:size])
            data = data[size + 2 :]
            if not size:
                return b"".join(parts)

    def fill(self) -> None:
        self.ask("POST", "/storage/v1/b?project=bench", json.dumps({"name": BUCKET}).encode())
        for number in range(OBJECTS):
            self.put(f"list/{number:04}", SMALL)

    def put(self, name: str, body: bytes) -> None:
        self.ask("POST", f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={name}", body)

    def puts(self, count: int) -> None:
        for _ in range(count):
            self._number += 1
            self.put(f"put/{self._number}", SMALL)

    def gets(self, count: int) -> None:
        for number in range(count):
            path = f"/storage/v1/b/{BUCKET}/o/list%2F{number % OBJECTS:04}?alt=media"
            assert len(self.ask("GET", path)) == len(SMALL)

    def looks(self, count: int) -> None:
        for number in range(count):
            self.ask("GET", f"/storage/v1/b/{BUCKET}/o/list%2F{number % OBJECTS:04}")

    def lists(self, count: int) -> None:
        for _ in range(count):
            page = self.ask("GET", f"/storage/v1/b/{BUCKET}/o?prefix=list/&maxResults={OBJECTS}")
            assert page.count(b'"storage#object"') == OBJECTS

    def uploads(self, count: int) -> None:
        for _ in range(count):
            self.put("large", LARGE)

    def downloads(self, count: int) -> None:
        """Into one block again and again, so that the client's memory is not what is measured."""
        block = memoryview(bytearray(1 << 20))
        for _ in range(count):
            self._send("GET", f"/storage/v1/b/{BUCKET}/o/large?alt=media")
            head, rest, size = self._head()
            assert size == len(LARGE), head
            left = size - len(rest)
            while left > 0:
                left -= self._socket.recv_into(block, min(left, len(block)))


# Name, unit, how often in a batch, and how a batch's seconds become the figure.
MEASURES: tuple[tuple[str, str, int, Callable[[Service, int], None], Callable[[float], float]], ...]
MEASURES = (
    ("put of 4 KB", "/s", 200, Service.puts, lambda s: 1 / s),
    ("get of 4 KB", "/s", 400, Service.gets, lambda s: 1 / s),
    ("metadata", "/s", 400, Service.looks, lambda s: 1 / s),
    ("list of 1,000", "ms", 5, Service.lists, lambda s: s * 1e3),
    ("64 MB up", "MB/s", 1, Service.uploads, lambda s: 64 / s),
    ("64 MB down", "MB/s", 1, Service.downloads, lambda s: 64 / s),
)


def measure() -> Result:
    """Both services in turn, for every measure."""
    peer = os.environ.get(PEER, "")
    figures: list[Figure] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="windlass-bench-")))
        services = {"twin": stack.enter_context(_twin(folder / "home"))}
        if peer:
            services["peer"] = stack.enter_context(_fake_gcs(peer, folder / "peer"))
        for service in services.values():
            service.fill()
        sync_s = median(in_turn({"": _syncs(folder / "synced")}, repetitions=REPETITIONS)[""])
        figures.append(Figure(name="append 4 KB and fdatasync", value=100 / sync_s, unit="/s"))
        for name, unit, count, ask, shown in MEASURES:
            timed = {
                side: lambda service=service, ask=ask, count=count: seconds(
                    lambda: ask(service, count)
                )
                for side, service in services.items()
            }
            found = in_turn(timed, repetitions=REPETITIONS)
            each = {side: median(times) / count for side, times in found.items()}
            beside = f"fake-gcs-server {shown(each['peer']):,.0f} {unit}" if peer else ""
            figures.append(
                Figure(
                    name=name,
                    value=shown(each["twin"]),
                    unit=unit,
                    ratio=each["twin"] / each["peer"] if peer else None,
                    target=1.0 if peer else None,
                    note=beside,
                )
            )
    return Result(
        title="Cloud Storage of the twin, over HTTP, one connection, writes synced to the disk",
        baseline="the time of fake-gcs-server for the same; below 1 the twin is faster",
        limit="a put cannot be faster than the disk syncs",
        peers="" if peer else f"fake-gcs-server was not measured: {PEER} does not name it",
        figures=tuple(figures),
    )


def _syncs(path: Path) -> Callable[[], float]:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def sync() -> float:
        def append() -> None:
            for _ in range(100):
                os.write(file, SMALL)
                os.fdatasync(file)

        return seconds(append)

    return sync


@contextmanager
def _twin(folder: Path) -> Iterator[Service]:
    """The twin itself, with its door and its token."""
    argv = [sys.executable, "-m", "windlass.twin.server.main", "--home", str(folder)]
    with _process(argv) as process:
        home = TwinHome(folder)
        deadline = time.monotonic() + PATIENCE_S
        while (running := home.running()) is None:
            _wait(process, deadline)
        yield Service(running.port, token=home.token())


@contextmanager
def _fake_gcs(program: str, folder: Path) -> Iterator[Service]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    argv = [program, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    argv += ["-backend", "filesystem", "-filesystem-root", str(folder), "-log-level", "error"]
    with _process(argv) as process:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                service = Service(port)
            except ConnectionRefusedError:
                _wait(process, deadline)
            else:
                break
        yield service


def _wait(process: subprocess.Popen[bytes], deadline: float) -> None:
    if process.poll() is not None or time.monotonic() > deadline:
        raise SystemExit(f"{process.args} did not come up")
    time.sleep(0.05)


@contextmanager
def _process(argv: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
