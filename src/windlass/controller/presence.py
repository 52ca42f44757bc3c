"""One controller per home folder: who is it, wake it, start it when there is none.

Must not run runs. A lock that dies with its process tells whether a controller is there; a named
pipe wakes it. Any path works: a pipe has no length limit as a socket's name has.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LOCK = "controller.lock"
PIPE = "controller.wake"
LOG = "controller.log"
LEAVE = "!leave"
"""Written to the pipe by a controller of another cloud that waits for its turn."""
_LASTING = "lasting"


class Held(NamedTuple):
    """What the controller that holds the lock says of itself."""

    process_id: int
    cloud: str
    """The one that it talks to; empty when it does not say."""
    is_lasting: bool
    """It was not started on demand, and leaves for nobody."""


class Presence:
    """The signs of life of a home folder's controller."""

    def __init__(self, home: Path, *, cloud: str = "") -> None:
        """`cloud` is the one that this process talks to; empty where there is only one."""
        self._home = home
        self.cloud = cloud
        self._lock: int | None = None

    @property
    def home(self) -> Path:
        """Whose controller it is."""
        return self._home

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

    def serves(self, cloud: str) -> bool:
        """Whether there is a controller that can serve runs of the cloud; empty for any."""
        held = self.held()
        if held is None:
            return self.is_alive()
        return not cloud or held.cloud in ("", cloud)

    def ensure(self, start: Callable[[], None], *, cloud: str = "") -> None:
        """Wake the controller, or call `start` when there is none that can serve the cloud.

        Whoever is about to end looks for new runs once more after it has let go of the lock, so
        a run that was written before this call is seen by the old controller or by the new one.
        """
        if not self.wake() or not self.serves(cloud):
            start()

    # ---- the controller's own side ---------------------------------------------------------

    def take(self, *, is_lasting: bool = False) -> bool:
        """Become the controller; False when there is one. The lock dies with the process."""
        lock = os.open(self._home / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        while not _try_lock(lock, fcntl.LOCK_EX):
            # Somebody who only looked whether we are alive shares it for a moment; a controller
            # shares it with nobody.
            if not _try_lock(lock, fcntl.LOCK_SH):
                os.close(lock)
                return False
        os.ftruncate(lock, 0)
        said = [str(os.getpid()), self.cloud, _LASTING if is_lasting else ""]
        os.write(lock, "".join(f"{line}\n" for line in said if line).encode())
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
        held = self.held()
        return held.process_id if held is not None else None

    def held(self) -> Held | None:
        """Who holds the lock; None when nobody does, or has not said yet who it is."""
        if not self.is_alive():
            return None
        lines = (self._home / LOCK).read_text().splitlines()
        if not lines or not lines[0].isdigit():
            return None
        is_lasting = lines[-1] == _LASTING
        told = lines[1:-1] if is_lasting else lines[1:]
        return Held(int(lines[0]), cloud="".join(told), is_lasting=is_lasting)


def _try_lock(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
