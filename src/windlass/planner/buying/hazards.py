"""How long spot capacity and outages last: a prior by age, and what a zone's own record adds.

Must not look at a clock: hours come from the caller.

Over all published traces the chance per hour that a state ends falls with its age `a` like
`shape / (scale + a)`: what has lasted lasts. This is what one sees when the rate of every single
state is itself drawn from a Gamma distribution. A zone may be livelier or calmer than that by a
factor, whose posterior is Gamma too: (weight + ends seen) / (weight + ends expected at these ages).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log1p


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """How long a state lasts in a zone of factor 1: `shape / (scale_h + age)` ends per hour."""

    shape: float
    scale_h: float

    def hazard(self, age_h: float) -> float:
        """Ends per hour of a state of this age."""
        return self.shape / (self.scale_h + age_h)

    def expected_ends(self, age_h: float) -> float:
        """Ends expected until this age."""
        return self.shape * log1p(age_h / self.scale_h)

    def chance_to_last(self, hours: float, *, age_h: float, factor: float) -> float:
        """The probability that a state of this age lasts so much longer."""
        return exp(-factor * (self.expected_ends(age_h + hours) - self.expected_ends(age_h)))

    def mean_within(self, hours: float, *, age_h: float, factor: float) -> float:
        """How long a state of this age lasts on average, if counted for so many hours at most."""
        power = factor * self.shape - 1.0
        if abs(power) < 1e-4:
            power = 1e-4
        age = self.scale_h + age_h
        share: float = (age / (age + hours)) ** power
        return age / power * (1.0 - share)


UP = Life(shape=1.0, scale_h=0.35)
"""Spot capacity: 2.2 ends per hour in the first minutes, 0.12 after 8 hours."""

DOWN = Life(shape=1.2, scale_h=0.3)
"""Outages: 3 ends per hour in the first minutes, 0.14 after 8 hours."""

UNSEEN_H = 2.0
"""The age given to a state that had begun before anybody looked: it is likely to be an old one."""

WEIGHT = 4.0
"""How many ends the prior of a zone's factor is worth."""

SHARE_WEIGHT_H = 12.0
"""How many hours the prior of a zone's share of time up, one half, is worth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What has been seen of one zone."""

    age_h: float = UNSEEN_H
    """How long it has been up, or down, as it is now; UNSEEN_H more if nobody saw it begin."""
    up_h: float = 0.0
    down_h: float = 0.0
    ups_ended: int = 0
    ups_expected: float = 0.0
    """How many ends a zone of factor 1 would have had in the same hours at the same ages."""
    downs_ended: int = 0
    downs_expected: float = 0.0

    def up_factor(self) -> float:
        """How much faster than usual spot capacity ends here: the mean of the posterior."""
        return (WEIGHT + self.ups_ended) / (WEIGHT + self.ups_expected)

    def down_factor(self) -> float:
        """How much faster than usual outages end here: the mean of the posterior."""
        return (WEIGHT + self.downs_ended) / (WEIGHT + self.downs_expected)

    def up_share(self) -> float:
        """The share of time in which there is spot capacity."""
        seen_h = self.up_h + self.down_h
        return (self.up_h + SHARE_WEIGHT_H / 2) / (seen_h + SHARE_WEIGHT_H)

    def later(self, hours: float, *, is_up: bool) -> Record:
        """The record after the zone has been as it is for some more hours."""
        life = UP if is_up else DOWN
        # A clock that was set back adds nothing.
        hours = max(hours, 0.0)
        age_h = self.age_h + hours
        expected = life.expected_ends(age_h) - life.expected_ends(self.age_h)
        if is_up:
            expected += self.ups_expected
            return replace(self, age_h=age_h, up_h=self.up_h + hours, ups_expected=expected)
        expected += self.downs_expected
        return replace(self, age_h=age_h, down_h=self.down_h + hours, downs_expected=expected)

    def changed(self, *, was_up: bool) -> Record:
        """The record after the zone went down, or came back."""
        if was_up:
            return replace(self, age_h=0.0, ups_ended=self.ups_ended + 1)
        return replace(self, age_h=0.0, downs_ended=self.downs_ended + 1)
