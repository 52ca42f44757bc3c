"""Asks a machine's init to do something, from the host: run a program, or power off.

Must not hand an open file of the host's to a machine: root inside could open it again, for writing.
A program inside gets pipes, and its bytes are carried over by whoever asked.
"""

from __future__ import annotations

import os
import selectors
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from windlass.twin.machines.inside import channel


class Unreachable(Exception):
    """The machine is not there, or does not do what it was asked."""


class Terminal(NamedTuple):
    """How large the caller's terminal is, and what it understands."""

    rows: int
    columns: int
    kind: str


class Session:
    """A program that runs in a machine."""

    def __init__(self, sock: socket.socket, near: Sequence[int]) -> None:
        self._sock = sock
        self.near = tuple(near)
        """Its terminal, or our ends of its standard input, output and error; the caller closes."""

    def wait(self) -> int:
        """Its status, when it has ended."""
        try:
            return min(max(int(_answered(self._sock)["status"]), 0), 255)
        finally:
            self._sock.close()


class Finished(NamedTuple):
    """A program that has ended."""

    status: int
    stdout: bytes
    stderr: bytes


def ask(folder: Path, message: dict[str, Any], *, timeout_s: float = 5.0) -> None:
    """Tell a machine something that needs no open files."""
    with reach(folder) as sock:
        sock.settimeout(timeout_s)
        channel.send(sock, message)
        _answered(sock)


def reach(folder: Path) -> socket.socket:
    """A connection to a machine's init."""
    try:
        return channel.connect(str(folder / "control"))
    except OSError as exc:
        raise Unreachable(f"the machine does not answer: {exc.strerror}") from exc


def spawn(
    sock: socket.socket,
    argv: Sequence[str],
    *,
    user: str,
    is_command: bool = False,
    terminal: Terminal | None = None,
) -> Session:
    """Start a program over a connection. `is_command`: one word, for the user's shell."""
    message = {
        "do": "spawn",
        "argv": list(argv),
        "user": user,
        "is_command": is_command,
        "terminal": list(terminal) if terminal else None,
    }
    if terminal is not None:
        channel.send(sock, message)
        received = channel.receive(sock)
        if received is None or len(received[1]) != 1:
            raise Unreachable(_reason(received[0] if received else {}))
        return Session(sock, received[1])
    (far_in, near_in), (near_out, far_out), (near_err, far_err) = os.pipe(), os.pipe(), os.pipe()
    try:
        channel.send(sock, message, (far_in, far_out, far_err))
    finally:
        for descriptor in (far_in, far_out, far_err):
            os.close(descriptor)
    return Session(sock, (near_in, near_out, near_err))


def finish(session: Session, stdin: bytes) -> Finished:
    """Give a program its input, take what it prints, and wait for its end."""
    near_in, near_out, near_err = session.near
    kept: dict[int, list[bytes]] = {near_out: [], near_err: []}
    os.set_blocking(near_in, False)
    left = memoryview(stdin)
    waiting = selectors.DefaultSelector()
    waiting.register(near_out, selectors.EVENT_READ)
    waiting.register(near_err, selectors.EVENT_READ)
    waiting.register(near_in, selectors.EVENT_WRITE)
    while waiting.get_map():
        for key, _ in waiting.select():
            if key.fd == near_in:
                left = left[_write_some(near_in, left) :]
                chunk = bytes(left[:1])
            else:
                chunk = os.read(key.fd, 65536)
                kept[key.fd].append(chunk)
            if not chunk:
                waiting.unregister(key.fd)
                os.close(key.fd)
    waiting.close()
    return Finished(session.wait(), b"".join(kept[near_out]), b"".join(kept[near_err]))


def _write_some(descriptor: int, content: memoryview) -> int:
    try:
        return os.write(descriptor, content)
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(content)


def _answered(sock: socket.socket) -> dict[str, Any]:
    try:
        received = channel.receive(sock)
    except (OSError, channel.Refused) as exc:
        raise Unreachable(f"the machine's answer was lost: {exc}") from exc
    if received is None:
        raise Unreachable("the machine has gone")
    message, descriptors = received
    for descriptor in descriptors:
        os.close(descriptor)
    if not isinstance(message.get("status"), int):
        raise Unreachable(_reason(message))
    return message


def _reason(message: dict[str, Any]) -> str:
    return str(message.get("error", "the machine has gone"))
