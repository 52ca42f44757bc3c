"""What the buying policy is told and what it answers: frozen values, all times in hours.

Must not decide anything, and must not know where observations come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import exp, log

from windlass.planner.buying.hazards import Record


class Place(StrEnum):
    """Where the work is done at the moment."""

    IDLE = "idle"
    SPOT = "spot"
    ON_DEMAND = "on-demand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """One zone as it is seen now. Prices are those of the whole gang for one hour."""

    name: str
    spot_price: float
    on_demand_price: float
    is_up: bool
    """Whether spot capacity for the whole gang is to be had now."""
    record: Record
    """Everything seen of this zone, the state it is in now included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What is rented now. A spot zone that went down is not held any more: the place is idle."""

    place: Place = Place.IDLE
    zone: str = ""
    starting_h: float = 0.0
    """How much of the restart is still ahead before work goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """How soon on-demand machines come once asked for.

    With probability `at_once` they are there; otherwise the wait is exponential.
    """

    at_once: float = 1.0
    mean_wait_h: float = 0.0

    def chance_within(self, hours: float) -> float:
        """The probability that machines have come after so many hours of asking."""
        if hours < 0:
            return 0.0
        if self.at_once >= 1.0 or self.mean_wait_h <= 0:
            return 1.0
        return 1.0 - (1.0 - self.at_once) * exp(-hours / self.mean_wait_h)

    def wait_for(self, chance: float) -> float:
        """How long to allow for so that machines come with this probability."""
        if chance <= self.at_once or self.mean_wait_h <= 0:
            return 0.0
        return -self.mean_wait_h * log((1.0 - chance) / (1.0 - self.at_once))


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What stays the same during a run."""

    work_h: float
    """Hours of work in all, on this gang, when the run began."""
    deadline_h: float
    """Hours from the beginning to the deadline."""
    restart_h: float
    """What a start costs before work goes on: launch, setup, and work lost since the last save."""
    look_h: float
    """How long at most until something that happened is seen and the policy is asked again."""
    supply: Supply = field(default_factory=Supply)
    chance: float = 0.95
    """The probability of meeting the deadline to aim at where on-demand may be out of stock."""

    def reserve_h(self) -> float:
        """The slack that on-demand needs: a restart, and the wait that is allowed for."""
        return self.restart_h + self.supply.wait_for(self.chance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything the policy may look at."""

    work_h: float
    """Hours of work left on this gang, restarts not counted."""
    time_h: float
    """Hours until the deadline."""
    zones: tuple[Zone, ...]
    holding: Holding

    def slack_h(self) -> float:
        """Hours that may be spent on anything but work."""
        return self.time_h - self.work_h


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to hold from now on."""

    place: Place
    zone: str
    hold_h: float
    """How long this stands if no zone goes up or down; then ask again."""
    promise: float
    """The probability of meeting the deadline that can be stated now, a lower bound."""
    reason: str
