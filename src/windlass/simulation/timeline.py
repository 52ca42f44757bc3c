"""Simulated time: a queue of things to do, in order, and a clock that jumps from one to the next.

Must not touch the real clock. The same pushes give the same order, whatever the hash seed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

START_WALL = 1_800_000_000.0


class Timeline:
    """Clock and agenda in one. Implements ports.Clock."""

    def __init__(self) -> None:
        self._steady = 0.0
        self._offset = START_WALL
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._pushed = 0

    def now(self) -> float:
        """The time of day, which faults may set."""
        return self._steady + self._offset

    def monotonic(self) -> float:
        """Seconds since the beginning."""
        return self._steady

    def jump(self, seconds: float) -> None:
        """Somebody sets the clock of the controller's machine."""
        self._offset += seconds

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Do something later."""
        self._pushed += 1
        heapq.heappush(self._agenda, (self._steady + max(seconds, 0.0), self._pushed, action))

    def run_until(self, steady: float, *, after_each: Callable[[], None]) -> None:
        """Do everything that is due until then. May be called from inside an action: the world
        goes on while one of its actors is stuck in a call."""
        while self._agenda and self._agenda[0][0] <= steady:
            at, _, action = heapq.heappop(self._agenda)
            self._steady = max(self._steady, at)
            action()
            after_each()
        self._steady = max(self._steady, steady)
