"""What the buying policy is told and what it answers: frozen values, all times in hours.

Must not decide anything, and must not know where observations come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import exp, inf, log

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

    def is_certain(self) -> bool:
        """Whether machines are there whenever they are asked for."""
        return self.at_once >= 1.0 or self.mean_wait_h <= 0

    def after_refusal(self, hours: float) -> Supply:
        """What is to be expected so many hours after machines were refused.

        Stock comes back after `mean_wait_h` on average and runs out again so often that it is there
        for a share `at_once` of the time: what was out a minute ago is likely to be out still.
        """
        if self.is_certain() or self.at_once <= 0:
            return self
        forgotten = 1.0 - exp(-max(hours, 0.0) / (self.at_once * self.mean_wait_h))
        return Supply(at_once=self.at_once * forgotten, mean_wait_h=self.mean_wait_h)

    def chance_within(self, hours: float) -> float:
        """The probability that machines have come after so many hours of asking."""
        if hours < 0:
            return 0.0
        if self.is_certain():
            return 1.0
        return 1.0 - (1.0 - self.at_once) * exp(-hours / self.mean_wait_h)

    def wait_for(self, chance: float) -> float:
        """How long to allow for so that machines come with this probability."""
        if chance <= self.at_once or self.is_certain():
            return 0.0
        if chance >= 1.0:
            return inf
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

    def __post_init__(self) -> None:
        if not (self.work_h >= 0 and self.restart_h >= 0 and self.look_h > 0):
            raise ValueError(f"work, restart and look must be hours, and a look takes some: {self}")
        if not 0 <= self.chance <= 1:
            raise ValueError(f"a chance lies between 0 and 1, not {self.chance}")

    def risk(self) -> float:
        """The probability of missing the deadline that may be taken over the whole run."""
        return 0.0 if self.supply.is_certain() else 1.0 - self.chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything the policy may look at."""

    work_h: float
    """Hours of work left on this gang, restarts not counted."""
    time_h: float
    """Hours until the deadline."""
    zones: tuple[Zone, ...]
    """A zone that is held and not listed is kept and not compared with others."""
    holding: Holding
    asked: int = 0
    """How many times on-demand machines were asked for so far; asking on and on counts once."""
    refused_h: float | None = None
    """Hours since they were refused, 0 while they are asked for; None: never, or got since."""

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
    meanwhile: str = ""
    """On-demand is refused and nothing is held: the spot zone to start in while asking goes on.

    What is held already is kept until on-demand machines are there.
    """
