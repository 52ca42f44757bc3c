"""The twin's Cloud Storage over one keep-alive connection, beside fake-gcs-server in the same run.

The twin syncs every write to the disk before it answers; fake-gcs-server (1.56, its filesystem
backend) does not. `WINDLASS_FAKE_GCS_SERVER` names that program; without it there are no ratios.
"""

from __future__ import annotations

import http.client
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
    """A server, through one connection that stays open."""

    def __init__(self, port: int, *, token: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._number = 0

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        self._connection.request(method, path, body=body, headers=self._headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {content[:200]!r}")
        return content

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
            path = f"/storage/v1/b/{BUCKET}/o/large?alt=media"
            self._connection.request("GET", path, headers=self._headers)
            response = self._connection.getresponse()
            size = 0
            while read := response.readinto(block):
                size += read
            assert size == len(LARGE)


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
