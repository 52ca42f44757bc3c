"""Starts programs inside a machine, as a user, with pipes or with a terminal of its own.

Must not be used by a process with threads: it forks.
"""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import termios
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from windlass.twin.machines.inside.users import User

NOT_FOUND, NOT_EXECUTABLE = 127, 126


class Terminal(NamedTuple):
    """How large a terminal is, and what it understands."""

    rows: int
    columns: int
    kind: str


class Program(NamedTuple):
    """What to run, and as whom."""

    argv: Sequence[str]
    user: User
    env: Mapping[str, str]
    cwd: str
    can_switch_user: bool


def environment(user: User, base: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """What a login of that user has in its environment."""
    own = {"HOME": user.home, "USER": user.name, "LOGNAME": user.name, "SHELL": user.shell}
    return {"LANG": "C.UTF-8", **base, **own, **extra}


def start(program: Program, stdio: Sequence[int]) -> int:
    """Start it with these three as its standard files; its process id."""
    pid = os.fork()
    if pid:
        return pid
    _become(program, stdio)


def start_with_terminal(program: Program, terminal: Terminal) -> tuple[int, int]:
    """Start it at the far end of a new terminal; its process id, and the near end."""
    near, far = pty.openpty()
    resize(near, terminal)
    if program.can_switch_user:
        os.chown(os.ttyname(far), program.user.uid, -1)
    env = {**program.env, "TERM": terminal.kind}
    pid = os.fork()
    if pid == 0:
        os.close(near)
        _become(program._replace(env=env), (far, far, far))
    os.close(far)
    return pid, near


def resize(near: int, terminal: Terminal) -> None:
    """Tell the programs at a terminal how large it is."""
    fcntl.ioctl(
        near, termios.TIOCSWINSZ, struct.pack("HHHH", terminal.rows, terminal.columns, 0, 0)
    )


def _become(program: Program, stdio: Sequence[int]) -> NoReturn:
    try:
        os.setsid()
        copies = [fcntl.fcntl(number, fcntl.F_DUPFD, 10) for number in stdio]
        for number, copy in enumerate(copies):
            os.dup2(copy, number)
        os.closerange(3, 1024)
        if os.isatty(0):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.set_wakeup_fd(-1)
        for number in (
            signal.SIGPIPE,
            signal.SIGINT,
            signal.SIGCHLD,
            signal.SIGTERM,
            signal.SIGHUP,
        ):
            signal.signal(number, signal.SIG_DFL)
        _take_user(program)
        _go_to(program.cwd)
        os.execvpe(program.argv[0], list(program.argv), dict(program.env))
    except FileNotFoundError:
        os.write(2, f"{program.argv[0]}: command not found\n".encode())
        os._exit(NOT_FOUND)
    except BaseException as exc:  # noqa: BLE001 - a forked process must end here, whatever happens
        os.write(2, f"{program.argv[0]}: {exc}\n".encode())
    os._exit(NOT_EXECUTABLE)


def _take_user(program: Program) -> None:
    if program.can_switch_user and program.user.uid != 0:
        os.setgroups([program.user.gid])
        os.setgid(program.user.gid)
        os.setuid(program.user.uid)


def _go_to(folder: str) -> None:
    try:
        os.chdir(folder)
    except OSError:
        os.chdir("/")
