"""How long a run takes that is preempted now and then: its process, and the exact moments of it.

Must not know prices, machines or specs. Pure arithmetic on floats; times are seconds.

The process. The gang waits `first_wait_s` for its machines, then starts, which takes `restart_s`.
Its work is cut into `segments` equal parts, each followed by a save of `save_s`. Preemptions come
as a Poisson process of `hazard_per_s` whenever the gang has machines. One during a segment or its
save loses all of that segment; the gang waits `wait_s` (nothing can be preempted then), starts
again and repeats the segment. One during a start costs what was done of it, a wait, and a start.
"""

from __future__ import annotations

import math
from typing import NamedTuple

HOPELESS = 500.0
"""With this many preemptions expected in one segment it never ends; exp() is still finite."""

_SMALL = 0.02
"""Below this, differences of nearly equal numbers are replaced by their series."""


class Cumulants(NamedTuple):
    """Mean, variance and third central moment of a sum: each adds up over independent parts."""

    mean: float
    variance: float
    third: float

    def plus(self, other: Cumulants) -> Cumulants:
        """Of the sum of two independent times."""
        return Cumulants(
            self.mean + other.mean, self.variance + other.variance, self.third + other.third
        )

    def after(self, seconds: float) -> Cumulants:
        """Of the same time with a constant added."""
        return Cumulants(self.mean + seconds, self.variance, self.third)


class Course(NamedTuple):
    """Everything that decides how long a run takes."""

    work_s: float
    """What it would take if nothing ever happened and nothing were saved."""
    hazard_per_s: float
    """Preemptions of the whole gang per second."""
    segments: int
    save_s: float
    restart_s: float
    wait_s: float = 0.0
    first_wait_s: float = 0.0

    @property
    def segment_s(self) -> float:
        """One segment with its save."""
        return self.work_s / self.segments + self.save_s

    @property
    def least_s(self) -> float:
        """What it takes when nothing is preempted."""
        return self.first_wait_s + self.restart_s + self.segments * self.segment_s

    @property
    def calm(self) -> float:
        """The probability that nothing is preempted."""
        return math.exp(-self.hazard_per_s * (self.restart_s + self.segments * self.segment_s))

    @property
    def preemptions(self) -> float:
        """How many are expected: the rate, times the time that machines are held."""
        return self.hazard_per_s * expected_held_s(self) if self.hazard_per_s else 0.0

    def without_waits(self) -> Course:
        """The time in which machines are held, and billed."""
        return Course(
            work_s=self.work_s,
            hazard_per_s=self.hazard_per_s,
            segments=self.segments,
            save_s=self.save_s,
            restart_s=self.restart_s,
        )


def expected_held_s(course: Course) -> float:
    """The expected time in which machines are held: the mean of `without_waits`, only faster."""
    rate = course.hazard_per_s
    start_s, segment_s, segments = course.restart_s, course.segment_s, course.segments
    if rate == 0:
        return start_s + segments * segment_s
    if rate * max(segment_s, start_s) > HOPELESS:
        return math.inf
    in_starts = math.expm1(rate * start_s)
    in_segments = segments * math.expm1(rate * segment_s) * (1 + in_starts)
    return (in_starts + in_segments) / rate


def expected_wall_s(course: Course, held_s: float) -> float:
    """The expected whole time, given the time in which machines are held.

    Preemptions come at their rate while machines are held, and each is followed by one wait.
    """
    return course.first_wait_s + held_s * (1 + course.hazard_per_s * course.wait_s)


def moments(course: Course) -> Cumulants:
    """Exact mean, variance and third central moment of the whole time; infinite when hopeless."""
    excess = excess_moments(course)
    return excess.after(course.least_s)


def excess_moments(course: Course) -> Cumulants:
    """The same of what comes on top of `least_s`."""
    rate = course.hazard_per_s
    if rate == 0:
        return Cumulants(0.0, 0.0, 0.0)
    if rate * max(course.segment_s, course.restart_s) > HOPELESS:
        return Cumulants(math.inf, math.inf, math.inf)
    failed_start = cut_short(rate, course.restart_s).after(course.wait_s)
    in_starts = repeated(1, math.expm1(rate * course.restart_s), failed_start)
    lost = cut_short(rate, course.segment_s).after(course.wait_s + course.restart_s)
    odds = math.expm1(rate * course.segment_s)
    return repeated(course.segments, odds, lost.plus(in_starts)).plus(in_starts)


def repeated(successes: float, odds: float, each: Cumulants) -> Cumulants:
    """What failures cost until so many successes came, with these odds of a failure to a success.

    Their number is negative binomial; each costs an independent time with the given cumulants.
    """
    count = successes * odds
    spread = count * (1 + odds)
    skew = spread * (1 + 2 * odds)
    return Cumulants(
        count * each.mean,
        count * each.variance + spread * each.mean**2,
        count * each.third + 3 * spread * each.mean * each.variance + skew * each.mean**3,
    )


def cut_short(rate: float, length_s: float) -> Cumulants:
    """When a preemption came, given that it came within this length: a truncated exponential."""
    x = rate * length_s
    if x < _SMALL:
        square = x * x
        mean = 1 / 2 - x / 12 + x * square / 720
        variance = 1 / 12 - square / 240 + square * square / 6048
        third = x / 120 - x * square / 1512
    else:
        rest, gone = math.exp(-x), -math.expm1(-x)
        mean = 1 / x - rest / gone
        variance = 1 / x**2 - rest / gone**2
        third = 2 / x**3 - rest * (1 + rest) / gone**3
    return Cumulants(mean * length_s, variance * length_s**2, third * length_s**3)
