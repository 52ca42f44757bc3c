"""Signals as something a loop can wait for.

Must not decide what a signal means.
"""

from __future__ import annotations

import os
import signal
from typing import Iterable, List


class Signals:
    """Collects the signals it was given; `reader` becomes readable when one has arrived.

    Whoever makes it has blocked them before, so that none is lost; they are unblocked here.
    """

    def __init__(self, numbers: Iterable[signal.Signals]) -> None:
        self._arrived: List[int] = []
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, self._note)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)

    def _note(self, number: int, frame: object) -> None:
        self._arrived.append(number)

    def take(self) -> List[int]:
        """What has arrived since the last call, in order. The pipe only wakes the loop: it may
        be full of SIGCHLD while the list knows of the SIGTERM."""
        try:
            os.read(self.reader, 65536)
        except BlockingIOError:
            pass
        arrived, self._arrived = self._arrived, []
        return arrived


def block(numbers: Iterable[signal.Signals]) -> None:
    """Keep signals waiting until somebody is ready for them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


def forget_all() -> None:
    """In a forked child: what the parent did with signals is undone, and none is blocked.

    They have to be blocked when this is called: a signal that met the parent's handler in the
    child would be taken for one that was sent to the parent.
    """
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            _reset(number)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _reset(number: int) -> None:
    try:
        signal.signal(number, signal.SIG_DFL)
    except (OSError, ValueError):
        pass  # Real-time signals that the C library keeps for itself.
