"""Starting a child of the agent: its own process group, one pipe for its output.

Must not know what the child is for. No thread may exist in the process: it forks.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from typing import Callable, Dict, List, NamedTuple

from windlass.agent import signals, system

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash")
_PIPE_BYTES = 1 << 18
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ, which Python 3.9 does not name.


class Child(NamedTuple):
    """A process that was started, and where its output comes out (non-blocking)."""

    pid: int
    output: int


def shell() -> str:
    """The shell for everything the user wrote: bash where there is one."""
    for path in _SHELLS:
        if os.access(path, os.X_OK):
            return path
    return "/bin/sh"


def start_command(command: str, *, env: Dict[str, str], cwd: str) -> Child:
    """Run a command line of the user's."""

    def become() -> None:
        os.chdir(cwd)
        os.execve(shell(), [shell(), "-c", command], env)

    return _start(become)


def start_function(function: Callable[[], None]) -> Child:
    """Run a function in a process of its own; it ends with 0 when the function returns."""

    def become() -> None:
        close_inherited()
        function()

    return _start(become)


def close_inherited() -> None:
    """Close every open file but the standard three: a fork that does not exec keeps them."""
    listed: List[str] = os.listdir("/dev/fd")
    for name in listed:
        number = int(name)
        if number > 2:
            try:
                os.close(number)
            except OSError:
                pass  # The one that listed them.


def _start(become: Callable[[], None]) -> Child:
    agent = os.getpid()
    reader, writer = os.pipe()
    _widen(reader)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _be_child(become, writer, agent)
    except OSError:
        os.close(reader)
        raise
    finally:
        os.close(writer)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        os.setpgid(pid, pid)  # The child does so too: whoever is first.
    except OSError as exc:
        if exc.errno not in (errno.EACCES, errno.ESRCH, errno.EPERM):
            raise
    os.set_blocking(reader, False)
    return Child(pid=pid, output=reader)


def _be_child(become: Callable[[], None], output: int, agent: int) -> None:
    """The child's part after fork. Never returns."""
    status = 127
    try:
        os.setpgid(0, 0)
        system.die_with_parent(signal.SIGKILL)
        if os.getppid() != agent:
            os._exit(status)
        nothing = os.open("/dev/null", os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        signals.forget_all()
        become()
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, this copy of the agent must end here.
        import traceback

        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(status)


def _widen(pipe: int) -> None:
    try:
        fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_BYTES)
    except OSError:
        pass  # Not Linux, or the user has too many wide pipes already.
