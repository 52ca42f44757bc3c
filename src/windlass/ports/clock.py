"""The time of day and a steady count of seconds, as values that can be replaced.

Must not sleep: code returns when to wake instead.
"""

from __future__ import annotations

import time
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
