"""One controller per home folder: who is it, wake it, start it when there is none.

Must not run runs. A lock that dies with its process tells whether a controller is there; a named
pipe wakes it. Any path works: a pipe has no length limit as a socket's name has.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

LOCK = "controller.lock"
PIPE = "controller.wake"
LOG = "controller.log"


class Presence:
    """The signs of life of a home folder's controller."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock: int | None = None

    @property
    def pipe(self) -> Path:
        """Write a line to it and the controller looks at once."""
        return self._home / PIPE

    def is_alive(self) -> bool:
        """Whether a controller holds the lock."""
        try:
            lock = os.open(self._home / LOCK, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            return not _try_lock(lock, fcntl.LOCK_SH)
        finally:
            os.close(lock)

    def wake(self, text: str = "") -> bool:
        """Make the controller look at once; False when nobody listens."""
        try:
            pipe = os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        try:
            os.write(pipe, f"{text}\n".encode())
        except BlockingIOError:
            return True  # The pipe is full of wake-ups it has not read yet.
        except OSError:
            return False
        finally:
            os.close(pipe)
        return True

    def ensure(self, start: Callable[[], None]) -> None:
        """Wake the controller, or call `start` when there is none.

        Whoever is about to end looks for new runs once more after it has let go of the lock, so
        a run that was written before this call is seen by the old controller or by the new one.
        """
        if not self.wake() or not self.is_alive():
            start()

    # ---- the controller's own side ---------------------------------------------------------

    def take(self) -> bool:
        """Become the controller; False when there is one. The lock dies with the process."""
        lock = os.open(self._home / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        while not _try_lock(lock, fcntl.LOCK_EX):
            # Somebody who only looked whether we are alive shares it for a moment; a controller
            # shares it with nobody.
            if not _try_lock(lock, fcntl.LOCK_SH):
                os.close(lock)
                return False
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
        self._lock = lock
        return True

    def open_pipe(self) -> int:
        """The reading end. Opened for writing too, so that it never reports an end."""
        if not self.pipe.is_fifo():
            self.pipe.unlink(missing_ok=True)  # A home that was copied has a plain file there.
            os.mkfifo(self.pipe, 0o600)
        return os.open(self.pipe, os.O_RDWR | os.O_NONBLOCK)

    def release(self) -> None:
        """Let go, so that the next command starts a new controller."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def process_id(self) -> int | None:
        """Of the controller that holds the lock."""
        if not self.is_alive():
            return None
        text = (self._home / LOCK).read_text().strip()
        return int(text) if text.isdigit() else None


def _try_lock(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
