"""Where the `ssh` shim asks for a machine: a socket in the twin's home, answered by the twin.

Must not serve another user of the host, nor carry any bytes itself: it hands a connection to the
machine over and is done.
"""

from __future__ import annotations

import os
import shlex
import socket
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from windlass.twin.machines import client
from windlass.twin.machines.inside import channel
from windlass.twin.machines.machines import Machines

SOCKET = "ssh.sock"
PROGRAMS = ("ssh", "scp")

_CODE = "import sys; sys.path.insert(0, {source!r}); from {module} import main; main(sys.argv[1:])"
_SHIM = "windlass.twin.machines.ssh_shim"


class SshDoor:
    """Answers for the machines of one twin; `is_modelled` knows those without processes."""

    def __init__(
        self, home: Path, machines: Machines, *, is_modelled: Callable[[str], bool]
    ) -> None:
        self._home = home
        self._machines = machines
        self._is_modelled = is_modelled
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Begin to answer, and put the shims into the home's `bin`."""
        write_shims(self._home)
        holder = os.open(self._home, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # Through the descriptor: a home's name may be longer than a socket's may be.
            self._listener = channel.listen(f"/proc/self/fd/{holder}/{SOCKET}")
        finally:
            os.close(holder)
        (self._home / SOCKET).chmod(0o600)
        self._thread = threading.Thread(target=self._serve, name="ssh-door", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        if self._listener is not None and self._thread is not None:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._thread.join()
            self._listener.close()
            (self._home / SOCKET).unlink(missing_ok=True)

    def _serve(self) -> None:
        assert self._listener is not None
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with sock:
                try:
                    self._answer(sock)
                except (OSError, channel.Refused):
                    # The one who asked has gone, or asks nonsense; the next is not to suffer.
                    continue

    def _answer(self, sock: socket.socket) -> None:
        if _peer(sock) not in (os.getuid(), 0):
            return
        sock.settimeout(5.0)
        received = channel.receive(sock)
        if received is None:
            return
        message, descriptors = received
        for descriptor in descriptors:
            os.close(descriptor)
        address = str(message.get("address", ""))
        name = self._machines.at(address)
        if name is None:
            known = "modelled" if self._is_modelled(address) else "unknown"
            channel.send(sock, {"machine": known})
            return
        try:
            with self._machines.reach(name) as connection:
                channel.send(sock, {"machine": "real"}, (connection.fileno(),))
        except client.Unreachable:
            channel.send(sock, {"machine": "down"})


def _peer(sock: socket.socket) -> int:
    """The user at the other end."""
    told = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", told)
    return int(uid)


def write_shims(home: Path) -> None:
    """`ssh` and `scp` for a search path that begins with the home's `bin`."""
    folder = home / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    code = _CODE.format(source=str(Path(__file__).parents[3]), module=_SHIM)
    python = os.path.realpath(sys.executable)
    for name in PROGRAMS:
        words = shlex.join([python, "-I", "-S", "-c", code, name, str(home)])
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        path.chmod(0o755)
