"""The pipes the agent listens to, each with the log that it ends in.

Must not know which processes write into them.
"""

from __future__ import annotations

import os
import selectors
from typing import Dict

from windlass.agent.logs import Log

READ_BYTES = 1 << 18
DRAIN_BYTES = 8 << 20
"""No more is read from a pipe whose processes are gone: somebody else may hold its other end."""


class Streams:
    """Reads pipes when they have something, and writes logs when they are due."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._logs: Dict[int, Log] = {}
        self._paused: Dict[int, Log] = {}

    def add(self, pipe: int, log: Log) -> None:
        """Listen to a pipe until it ends."""
        self._logs[pipe] = log
        self._selector.register(pipe, selectors.EVENT_READ)

    def holds(self, pipe: int) -> bool:
        """Whether the pipe is one of ours."""
        return pipe in self._logs

    def read(self, pipe: int, now: float, wall: float) -> int:
        """Take what a pipe has; how many bytes. A pipe that has ended is closed."""
        log = self._logs[pipe]
        try:
            data = os.read(pipe, READ_BYTES)
        except BlockingIOError:
            return 0
        except OSError:
            data = b""
        if not data:
            self._drop(pipe, now, wall)
            return 0
        log.feed(data, now, wall)
        if log.due() <= now:
            log.flush(now, wall)
        if log.is_full and pipe not in self._paused:
            self._paused[pipe] = log
            self._selector.unregister(pipe)
        return len(data)

    def flush(self, now: float, wall: float) -> None:
        """Write every log that is due, and listen again to pipes that had to wait."""
        for log in self._logs.values():
            if log.due() <= now:
                log.flush(now, wall)
        for pipe in [pipe for pipe, log in self._paused.items() if not log.is_full]:
            del self._paused[pipe]
            self._selector.register(pipe, selectors.EVENT_READ)

    def due(self) -> float:
        """When `flush` has something to do."""
        return min((log.due() for log in self._logs.values()), default=float("inf"))

    def drain(self, pipe: int, now: float, wall: float) -> None:
        """Take everything that is left in a pipe whose processes are gone, and close it."""
        left = DRAIN_BYTES
        while left > 0 and self.holds(pipe):
            taken = self.read(pipe, now, wall)
            if taken == 0:
                break
            left -= taken
        if self.holds(pipe):
            self._drop(pipe, now, wall)

    def drain_all(self, now: float, wall: float) -> None:
        """`drain` every pipe."""
        for pipe in list(self._logs):
            self.drain(pipe, now, wall)

    def _drop(self, pipe: int, now: float, wall: float) -> None:
        if self._paused.pop(pipe, None) is None:
            self._selector.unregister(pipe)
        os.close(pipe)
        self._logs.pop(pipe).close(now, wall)
