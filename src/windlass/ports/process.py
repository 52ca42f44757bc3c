"""Starts programs: detached ones that outlive us, and short ones whose answer we want.

Must not know what they are for.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a short program ended."""

    status: int
    stdout: str
    stderr: str


@dataclass(slots=True)
class Processes:
    """The machine's processes."""

    _children: list[int] = field(default_factory=list)

    def spawn(self, argv: Sequence[str], *, env: Mapping[str, str], output: Path) -> int:
        """Start a program in a session of its own, its output into a file; returns its id.

        It goes on when we end. Nothing of ours but its output file is open in it; it leaves our
        working folder by itself.
        """
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        try:
            child = os.posix_spawn(
                argv[0],
                list(argv),
                dict(env),
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, file, 1),
                    (os.POSIX_SPAWN_DUP2, file, 2),
                    (os.POSIX_SPAWN_DUP2, nothing, 0),
                    *((os.POSIX_SPAWN_CLOSE, number) for number in _inherited()),
                ],
                setsid=True,
            )
        finally:
            os.close(file)
            os.close(nothing)
        self._children.append(child)
        return child

    def reap(self) -> None:
        """Let children that have ended go, so that none stays behind as a zombie."""
        self._children = [child for child in self._children if not _has_ended(child)]

    def is_running(self, child: int) -> bool:
        """Whether a program that this object has started still runs."""
        self.reap()
        return child in self._children

    def ask(self, argv: Sequence[str], *, timeout_s: float = 10.0) -> Finished | None:
        """Run a short program; None when it is not installed or does not answer."""
        try:
            done = subprocess.run(
                list(argv),
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return Finished(status=done.returncode, stdout=done.stdout, stderr=done.stderr)


def _inherited() -> list[int]:
    """Files that our own caller left open in us: a pipe to it, held by a program that outlives us
    all, would keep whoever reads it waiting."""
    found = []
    for path in Path("/dev/fd").iterdir():
        number = int(path.name)
        with contextlib.suppress(OSError):  # The one that listed them is closed by now.
            if number > 2 and os.get_inheritable(number):
                found.append(number)
    return found


def _has_ended(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True
