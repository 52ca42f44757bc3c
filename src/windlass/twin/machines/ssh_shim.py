"""`ssh` and `scp` of the twin: its machines are entered, other hosts are left to the real ones.

Must not hand a machine any file or terminal of the host's: bytes are carried over, both ways.
"""

from __future__ import annotations

import getpass
import os
import selectors
import shutil
import signal
import socket
import struct
import sys
import tarfile
import termios
import threading
import tty
from collections.abc import Sequence
from fcntl import ioctl
from pathlib import Path
from typing import NoReturn

from windlass.twin.machines import client, ssh_words
from windlass.twin.machines.inside import channel, copying

FAILED = 255
CHUNK = 65536
SOCKET = "ssh.sock"

_COPY = (
    "import sys; sys.path.insert(0, '/run/windlass-twin/lib'); "
    "from windlass.twin.machines.inside.copying import main; main(sys.argv[1:])"
)


class NotOurs(Exception):
    """The host is none of the twin's."""


class Failed(Exception):
    """What ssh itself would say before it ends with 255."""


def main(words: list[str]) -> NoReturn:
    """`PROGRAM HOME WORDS...`."""
    name, home, *rest = words
    try:
        status = (_ssh if name == "ssh" else _scp)(Path(home), rest)
    except NotOurs:
        _leave_to_real(name, Path(home), rest)
    except (Failed, client.Unreachable, channel.Refused, OSError) as exc:
        sys.stderr.write(f"{name}: {exc}\n")
        status = FAILED
    sys.stdout.flush()
    os._exit(status)


def _leave_to_real(name: str, home: Path, words: Sequence[str]) -> NoReturn:
    ours = os.path.realpath(home / "bin")
    folders = [folder for folder in os.get_exec_path() if os.path.realpath(folder) != ours]
    found = shutil.which(name, path=os.pathsep.join(folders))
    if found is None:
        sys.stderr.write(f"{name}: not one of the twin's machines, and there is no other {name}\n")
        os._exit(FAILED)
    os.execv(found, [name, *words])


def _reach(home: Path, host: str) -> socket.socket:
    """A connection to the machine with that address."""
    if not host.startswith("127."):
        raise NotOurs
    try:
        with channel.connect(str(home / SOCKET)) as door:
            channel.send(door, {"address": host})
            received = channel.receive(door)
    except OSError:
        raise NotOurs from None
    if received is None:
        raise Failed("the twin does not talk to this user")
    message, descriptors = received
    if message.get("machine") == "modelled":
        raise Failed(
            f"connect to host {host} port 22: Connection refused "
            "(the twin models this machine without processes)"
        )
    if message.get("machine") == "unknown":
        raise NotOurs
    if len(descriptors) != 1:
        raise Failed(f"connect to host {host} port 22: Connection refused")
    return socket.socket(fileno=descriptors[0])


# ---- ssh -----------------------------------------------------------------------------------------


def _ssh(home: Path, words: Sequence[str]) -> int:
    asked = ssh_words.read_ssh(words)
    sock = _reach(home, asked.host)
    user = asked.user or getpass.getuser()
    wants_terminal = asked.terminals > 0 or (not asked.command and asked.terminals == 0)
    if wants_terminal and (os.isatty(0) or asked.terminals > 1):
        return _with_terminal(sock, asked, user)
    command = asked.command if asked.has_command else "exec sleep infinity"
    argv = [command] if command else []
    session = client.spawn(sock, argv, user=user, is_command=bool(command))
    _carry(session.near, has_input=asked.has_input)
    return session.wait()


def _carry(near: Sequence[int], *, has_input: bool) -> None:
    """Carry bytes between our standard files and a program's, until it has no more to say."""
    near_in, near_out, near_err = near
    if has_input:
        # A thread of its own, as a blocked write to the program must not keep its output waiting.
        threading.Thread(target=_feed, args=(near_in,), daemon=True).start()
    else:
        os.close(near_in)
    waiting = selectors.DefaultSelector()
    waiting.register(near_out, selectors.EVENT_READ, 1)
    waiting.register(near_err, selectors.EVENT_READ, 2)
    while waiting.get_map():
        for key, _ in waiting.select():
            content = os.read(key.fd, CHUNK)
            if content:
                _write(key.data, content)
            else:
                waiting.unregister(key.fd)


def _feed(near_in: int) -> None:
    try:
        while content := os.read(0, CHUNK):
            _write(near_in, content)
    except OSError:
        # The program does not listen any more.
        pass
    os.close(near_in)


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _with_terminal(sock: socket.socket, asked: ssh_words.Ssh, user: str) -> int:
    argv = [asked.command] if asked.command else []
    size = client.Terminal(*_size(), os.environ.get("TERM", "dumb"))
    session = client.spawn(sock, argv, user=user, is_command=bool(argv), terminal=size)
    near = session.near[0]
    signal.signal(signal.SIGWINCH, lambda *_: _resize(near))
    before = termios.tcgetattr(0) if os.isatty(0) else None
    try:
        if before is not None:
            # Without flushing: what was typed ahead is meant for the machine.
            tty.setraw(0, termios.TCSADRAIN)
        _carry_terminal(near)
    finally:
        if before is not None:
            termios.tcsetattr(0, termios.TCSADRAIN, before)
    return session.wait()


def _size() -> tuple[int, int]:
    try:
        rows, columns, _, _ = struct.unpack("HHHH", ioctl(0, termios.TIOCGWINSZ, bytes(8)))
    except OSError:
        return 24, 80
    return rows or 24, columns or 80


def _resize(near: int) -> None:
    ioctl(near, termios.TIOCSWINSZ, struct.pack("HHHH", *_size(), 0, 0))


def _carry_terminal(near: int) -> None:
    threading.Thread(target=_type, args=(near,), daemon=True).start()
    while True:
        try:
            content = os.read(near, CHUNK)
        except OSError:
            # The far end was closed: the program has ended.
            return
        if not content:
            return
        _write(1, content)


def _type(near: int) -> None:
    try:
        while content := os.read(0, CHUNK):
            _write(near, content)
        # The end of the input is a keystroke at a terminal.
        _write(near, b"\x04")
    except OSError:
        pass


# ---- scp -----------------------------------------------------------------------------------------


def _scp(home: Path, words: Sequence[str]) -> int:
    asked = ssh_words.read_scp(words)
    if len(asked.places) < 2:
        raise Failed("usage: scp [-r] source ... target")
    *sources, target = asked.places
    user, host, path = ssh_words.read_place(target)
    if host:
        return _upload(_reach(home, host), user, sources, path, is_deep=asked.is_deep)
    status = 0
    for source in sources:
        user, host, path = ssh_words.read_place(source)
        if not host:
            raise NotOurs
        sock = _reach(home, host)
        status = max(status, _download(sock, user, path, target, is_deep=asked.is_deep))
    return status


def _spawn_copy(sock: socket.socket, user: str, words: Sequence[str]) -> client.Session:
    argv = [os.path.realpath(sys.executable), "-I", "-S", "-c", _COPY, *words]
    return client.spawn(sock, argv, user=user or getpass.getuser())


def _upload(
    sock: socket.socket, user: str, sources: Sequence[str], path: str, *, is_deep: bool
) -> int:
    if any(ssh_words.read_place(source)[1] for source in sources):
        raise Failed("copies between two machines go through this host: copy twice")
    session = _spawn_copy(sock, user, ["in", path])
    near_in, near_out, near_err = session.near
    try:
        with os.fdopen(near_in, "wb") as stream:
            copying.pack(list(sources), stream, is_deep=is_deep)
    except copying.CopyRefused as exc:
        raise Failed(str(exc)) from exc
    except BrokenPipeError:
        # It says itself why it does not take more.
        pass
    _tell(near_out, near_err)
    return session.wait()


def _download(sock: socket.socket, user: str, path: str, target: str, *, is_deep: bool) -> int:
    flags = ["-r"] if is_deep else []
    session = _spawn_copy(sock, user, ["out", *flags, path])
    near_in, near_out, near_err = session.near
    os.close(near_in)
    try:
        with os.fdopen(near_out, "rb") as stream:
            copying.unpack(stream, target)
    except (copying.CopyRefused, tarfile.TarError) as exc:
        sys.stderr.write(f"scp: {exc}\n")
    _tell(near_err)
    return session.wait()


def _tell(*descriptors: int) -> None:
    for descriptor in descriptors:
        with os.fdopen(descriptor, "rb") as stream:
            sys.stderr.write(stream.read().decode(errors="replace"))
