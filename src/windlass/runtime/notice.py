"""The word that this machine will be taken away: read it, and leave with the status that says so.

Must not decide what to do about it: the training loop saves and leaves.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import threading
import time
from typing import NoReturn, Optional

EXIT_PREEMPTED = 75
"""The exit status of a rank that left because it was told to: the run goes on elsewhere."""
POLL_S = 0.1
"""A loop may ask every step; the file is looked at this often."""
GRACE_S = 1.0
"""A machine that is shut down sends SIGTERM to all of its processes at once: this long may pass
before the agent, which is among them, has written the file."""


class Notice:
    """This process will be killed when no seconds are left."""

    __slots__ = ("_until", "deadline", "reason")

    def __init__(self, deadline: float, reason: str) -> None:
        self.deadline = deadline
        """Unix time."""
        self.reason = reason
        # From here on a steady clock counts, so that setting the wall clock changes nothing.
        self._until = time.monotonic() + deadline - time.time()

    @property
    def seconds_left(self) -> float:
        """How long the process may still take; never below zero."""
        return max(0.0, self._until - time.monotonic())

    def __repr__(self) -> str:
        return f"Notice(seconds_left={self.seconds_left:.1f}, reason={self.reason!r})"


class NoticeFile:
    """The file that the agent writes before it sends SIGTERM."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._looked_at = float("-inf")
        self._seen: Optional[Notice] = None
        self._mtime_ns = 0

    def look(self) -> Optional[Notice]:
        """The notice, or None while there is none; looks at the disk at most every 0.1 s."""
        now = time.monotonic()
        if now - self._looked_at >= POLL_S:
            self._looked_at = now
            self._read()
        return self._seen

    def _read(self) -> None:
        try:
            mtime_ns = os.stat(self.path).st_mtime_ns
            if mtime_ns == self._mtime_ns:
                return
            with open(self.path, "rb") as file:
                said = json.loads(file.read())
            self._seen = Notice(float(said["deadline"]), str(said.get("reason", "")))
            self._mtime_ns = mtime_ns
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return  # Not there, or not whole yet: the next look will tell.


def notice() -> Optional[Notice]:
    """None, or how long this process has left and why. Cheap enough to ask every step.

    The first call makes SIGTERM survivable, unless the program handles it itself: without that the
    signal would end the process before the loop could save.
    """
    return _notice_from(os.environ.get("WINDLASS_NOTICE", ""))


def leave() -> NoReturn:
    """End the program with the status that says: preempted, restart me."""
    sys.exit(EXIT_PREEMPTED)


def _notice_from(path: str) -> Optional[Notice]:
    if not path:
        return None
    file = _file(path)
    return file.look()


@functools.lru_cache(maxsize=None)
def _file(path: str) -> NoticeFile:
    _outlive_sigterm(path)
    return NoticeFile(path)


def _outlive_sigterm(path: str) -> None:
    if threading.current_thread() is not threading.main_thread():
        return  # Python lets only the main thread set handlers.
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, functools.partial(_on_sigterm, path))


def _on_sigterm(path: str, number: int, _frame: object) -> None:
    """With a notice the loop will see it; without one somebody else wants this process to end."""
    until = time.monotonic() + GRACE_S
    while time.monotonic() < until:
        if os.path.exists(path):
            return
        time.sleep(0.01)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
