"""The twin's time, which passes `speed` times as fast as the machine's.

It stands still while the twin is down.

Must not be set back: what was promised for a moment happens at that moment.
"""

from __future__ import annotations

from windlass.ports.clock import Clock


class TwinClock:
    """Google's time of day, as this twin has it."""

    def __init__(self, machine: Clock, *, start: float, speed: float = 1.0) -> None:
        self._machine = machine
        self._start = start
        self._began = machine.monotonic()
        self.speed = speed

    def now(self) -> float:
        """See ports.Clock."""
        return self._start + self.monotonic()

    def monotonic(self) -> float:
        """See ports.Clock."""
        return (self._machine.monotonic() - self._began) * self.speed

    def real_seconds_until(self, moment: float) -> float:
        """How long that is for somebody outside the twin."""
        return max(0.0, (moment - self.now()) / self.speed)
