"""The time of day and a steady count of seconds, as values that can be replaced.

Must not sleep: code returns when to wake instead.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """What the control plane may know of time."""

    def now(self) -> float:
        """Seconds since 1970, UTC. May jump when the machine's clock is set."""

    def monotonic(self) -> float:
        """Seconds since some moment. Never jumps; means nothing to another process."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        """See Clock."""
        return time.time()

    def monotonic(self) -> float:
        """See Clock."""
        return time.monotonic()


class PacedClock:
    """A time of day that passes `speed` times as fast as the machine's: a rehearsal's.

    The steady count stays the machine's. What really happens is counted by it: agents that beat,
    calls that are waited for. Budgets, deadlines and leases on machines go by the time of day.
    """

    def __init__(self, *, start: float, since: float, speed: float) -> None:
        self.start = start
        self.since = since
        """The machine's steady count when it was `start`: the same for all of its processes."""
        self.speed = speed

    def now(self) -> float:
        """See Clock."""
        return self.start + (time.monotonic() - self.since) * self.speed

    def monotonic(self) -> float:
        """See Clock."""
        return time.monotonic()

    def at(self, machine_time: float) -> float:
        """The time of day here when the machine's own clock showed that."""
        return self.now() + (machine_time - time.time()) * self.speed

    def write(self, path: Path) -> None:
        """Keep it for other processes, which `clock_from` reads it in."""
        path.write_text(json.dumps({"start": self.start, "since": self.since, "speed": self.speed}))


def clock_from(path: Path) -> Clock:
    """The clock that the file tells of; the machine's own when there is none."""
    try:
        said = json.loads(path.read_bytes())
    except FileNotFoundError:
        return SystemClock()
    return PacedClock(start=said["start"], since=said["since"], speed=said["speed"])
