"""What keeps a test from touching anything outside of it: the network, the user's home, processes.

Must not know which tests there are; conftest.py applies it to them.
"""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import time
from pathlib import Path
from typing import NamedTuple

import pytest

PROC = Path("/proc")

# What a framework or a client library would read from the shell that the tests are started in.
FOREIGN_VARIABLES = (
    "MASTER_ADDR",
    "MASTER_PORT",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "TF_CONFIG",
    "JAX_COORDINATOR_ADDRESS",
    "JAX_NUM_PROCESSES",
    "JAX_PROCESS_ID",
    "XLA_FLAGS",
    "NO_COLOR",
    "FORCE_COLOR",
)


def clear_environment(*, keep: frozenset[str]) -> None:
    """Forget what the caller's shell says to Windlass, to PostgreSQL and to the frameworks."""
    for name in list(os.environ):
        if name in keep:
            continue
        if name.startswith(("WINDLASS_", "PG")) or name in FOREIGN_VARIABLES:
            del os.environ[name]


# ---- the network ---------------------------------------------------------------------------------


def is_local(host: str | bytes | None) -> bool:
    """Whether a host name or address is this machine's own loopback."""
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def block_network(patch: pytest.MonkeyPatch) -> None:
    """Fail whoever connects, or looks a name up, beyond loopback and Unix sockets.

    A failed test, not an OSError: code that copes with a dead network must not hide it.
    """
    real_lookup = socket.getaddrinfo

    def guarded(method):
        def call(self, address, *args):
            if self.family in (socket.AF_INET, socket.AF_INET6) and not is_local(address[0]):
                pytest.fail(f"a test connected to {address!r}: only loopback is allowed")
            return method(self, address, *args)

        return call

    def lookup(host, *args, **options):
        if not is_local(host):
            pytest.fail(f"a test looked up {host!r}: only loopback is allowed")
        return real_lookup(host, *args, **options)

    patch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    patch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
    patch.setattr(socket, "getaddrinfo", lookup)


# ---- processes -----------------------------------------------------------------------------------


class Process(NamedTuple):
    """A process that a test started; `began` tells it from a later one of the same id."""

    pid: int
    parent: int
    began: int
    command: str


def processes_of(needles: tuple[str, ...]) -> dict[int, Process]:
    """Live processes, but for this one, with one of `needles` in their command or environment."""
    wanted = [needle.encode() for needle in needles]
    found = {}
    for folder in PROC.iterdir() if PROC.is_dir() else ():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        try:
            command = (folder / "cmdline").read_bytes()
            if not _has(wanted, command) and not _has(wanted, (folder / "environ").read_bytes()):
                continue
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It ended meanwhile, or it is somebody else's.
        shown = command.replace(b"\0", b" ").decode(errors="replace").strip()
        pid = int(folder.name)
        found[pid] = Process(pid, int(stat[1]), int(stat[19]), shown)
    return found


def _has(needles: list[bytes], text: bytes) -> bool:
    return any(needle in text for needle in needles)


def left_behind(before: dict[int, Process], now: dict[int, Process]) -> list[Process]:
    """Processes that are new, unless one from before is their ancestor.

    A server that a fixture of the whole module runs may start workers of its own.
    """

    def is_old(process: Process | None) -> bool:
        while process is not None:
            earlier = before.get(process.pid)
            if earlier is not None and earlier.began == process.began:
                return True
            process = now.get(process.parent)
        return False

    return [process for process in now.values() if not is_old(process)]


def end_left_behind(
    needles: tuple[str, ...], before: dict[int, Process], *, patience_s: float = 3.0
) -> list[Process]:
    """Wait a moment for what is left to end by itself; kill and return what does not."""
    deadline = time.monotonic() + patience_s
    left = left_behind(before, processes_of(needles))
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = left_behind(before, processes_of(needles))
    for process in left:
        _kill(process)
    return left


def _kill(process: Process) -> None:
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
