"""When the next checkpoint is due: a fixed interval, or the one that loses the least time.

Must not save anything, nor read a clock: it is told the time.
"""

from __future__ import annotations

import math
from typing import Optional

SHORTEST_S = 15.0
LONGEST_S = 3600.0
UNMEASURED_S = 30.0
"""How long to wait for the first save, whose cost is not known before it was done."""


class Pace:
    """Says when a save is due, from what the last one cost."""

    def __init__(self, every_s: Optional[float], *, mtbf_s: float, now: float) -> None:
        self.every_s = every_s
        self.mtbf_s = mtbf_s
        self._since = now
        self._cost_s: Optional[float] = None

    @property
    def interval_s(self) -> float:
        """The fixed interval, or Young's: sqrt(2 x cost of a save x time between interruptions)."""
        if self.every_s is not None:
            return self.every_s
        if self._cost_s is None:
            return UNMEASURED_S
        return min(LONGEST_S, max(SHORTEST_S, math.sqrt(2 * self._cost_s * self.mtbf_s)))

    def is_due(self, now: float) -> bool:
        """Whether the interval has passed since the last save, or the last try."""
        return now - self._since >= self.interval_s

    def restart(self, now: float) -> None:
        """Count from now: there was a restore, or a save that failed or was somebody else's."""
        self._since = now

    def saved(self, now: float, cost_s: float) -> None:
        """Count from now, and remember what the save cost."""
        self._since = now
        self._cost_s = cost_s
