"""In what time a run ends with a given probability.

Must not simulate anything. Times are seconds.

What is lost to preemptions is a sum over a random number of them. While they are few, the
distribution is lumpy (an atom where nothing happened, a lump for each number of preemptions), so
the lumps are added up one by one: their weights are exact, the place and width of each are exact,
a lump of one preemption has its exact shape and the others that of a normal. When the lumps have
run together, a shifted gamma distribution with the exact mean, variance and skew is as good.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from windlass.planner.course import HOPELESS, Course, cut_short, excess_moments

_FEW = 6.0
"""Preemptions below which the atom of runs that see none cannot be smoothed away."""
_OFF = 0.01
"""By how much of all runs a quantile may be off."""
_NEGLIGIBLE = 1e-4
_BISECTIONS = 18
_ROOT_HALF = math.sqrt(0.5)

P50 = 0.5
P90 = 0.9
_NORMAL = {P50: 0.0, P90: 1.2815515655446004}
"""Quantiles of the normal distribution."""


class _Lump(NamedTuple):
    """Runs that lost so many segments and so many starts."""

    weight: float
    start: float
    """The mean, or where the lump begins when its shape is known exactly."""
    width: float
    """The standard deviation, or the length of the whole lump."""
    has_edges: bool


def quantile_s(course: Course, probability: float) -> float:
    """The smallest time in which at least this part of all runs ends: P50 or P90 of them."""
    if course.hazard_per_s == 0 or course.calm >= probability:
        return course.least_s
    if course.hazard_per_s * max(course.segment_s, course.restart_s) > HOPELESS:
        return math.inf
    if _is_smooth(course):
        return course.least_s + _smooth(course, probability)
    return course.least_s + _lumpy(course, probability)


def is_within(course: Course, limit_s: float, probability: float) -> bool:
    """Whether this quantile is within the limit: far cheaper than finding it."""
    excess = limit_s - course.least_s
    if excess < 0 or course.hazard_per_s == 0 or course.calm >= probability:
        return excess >= 0
    if course.hazard_per_s * max(course.segment_s, course.restart_s) > HOPELESS:
        return False
    found = excess_moments(course)
    # Cantelli's inequality settles most cases: no time further from the mean can be the quantile.
    deviation = math.sqrt(found.variance)
    odds = math.sqrt(probability / (1 - probability))
    if found.mean + odds * deviation <= excess:
        return True
    if found.mean - deviation / odds > excess:
        return False
    if _is_smooth(course):
        return _smooth(course, probability) <= excess
    return _covered(_lumps(course), excess, course.hazard_per_s) >= probability


def _is_smooth(course: Course) -> bool:
    """Whether the lumps leave so little of themselves that no quantile is off by a hundredth.

    The largest lump near P90 holds 0.175 / (standard deviation of their number) of all runs, so a
    smooth curve is off by half of that; lumps that overlap, by the factor of their first harmonic.
    """
    rate = course.hazard_per_s
    odds = math.expm1(rate * course.segment_s)
    segments = course.segments * odds
    starts = (1 + segments) * math.expm1(rate * course.restart_s)
    if segments + starts < _FEW:
        return False
    lost, start = cut_short(rate, course.segment_s), cut_short(rate, course.restart_s)
    width = segments * lost.variance + starts * start.variance
    distance = course.wait_s + course.restart_s + lost.mean
    trace = math.exp(-2 * math.pi**2 * width / distance**2)
    return 0.0875 * trace / math.sqrt(segments * (1 + odds)) < _OFF


def _smooth(course: Course, probability: float) -> float:
    """Wilson and Hilferty's quantile of the gamma distribution that has the same three moments."""
    excess = excess_moments(course)
    deviation = math.sqrt(excess.variance)
    normal = _NORMAL[probability]
    skew = excess.third / deviation**3
    if skew < 1e-6:
        return max(0.0, excess.mean + normal * deviation)
    shape = 4 / skew**2
    ratio = 1 - 1 / (9 * shape) + normal / (3 * math.sqrt(shape))
    at = shape * max(0.0, ratio) ** 3
    return max(0.0, excess.mean + deviation * (at - shape) / math.sqrt(shape))


def _lumpy(course: Course, probability: float) -> float:
    lumps = _lumps(course)
    excess = excess_moments(course)
    low, high = 0.0, excess.mean + 3 * math.sqrt(excess.variance)
    while _covered(lumps, high, course.hazard_per_s) < probability and high < 1e18:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _covered(lumps, middle, course.hazard_per_s) < probability:
            low = middle
        else:
            high = middle
    return high


def _lumps(course: Course) -> list[_Lump]:
    """By number of segments lost and, within those, of starts lost."""
    rate = course.hazard_per_s
    lost = cut_short(rate, course.segment_s)
    fails = -math.expm1(-rate * course.segment_s)
    weight = math.exp(-rate * course.segment_s * course.segments)
    lumps: list[_Lump] = []
    left = 1.0
    number = 0
    while left > 5 * _NEGLIGIBLE and number < 1000:
        if weight > _NEGLIGIBLE:
            at = number * (course.wait_s + course.restart_s + lost.mean)
            _add_starts(lumps, course, number, weight=weight, at=at)
        left -= weight
        weight *= (course.segments + number) / (number + 1) * fails
        number += 1
    return lumps


def _add_starts(
    lumps: list[_Lump], course: Course, segments: int, *, weight: float, at: float
) -> None:
    """The lumps with so many segments lost: one for each number of starts lost."""
    rate = course.hazard_per_s
    start = cut_short(rate, course.restart_s)
    lost = cut_short(rate, course.segment_s)
    fails = -math.expm1(-rate * course.restart_s)
    here = weight * math.exp(-rate * course.restart_s * (segments + 1))
    left = weight
    number = 0
    while left > _NEGLIGIBLE and number < 1000:
        if segments + number == 1:
            edge = course.wait_s + (course.restart_s if segments else 0.0)
            length = course.segment_s if segments else course.restart_s
            lumps.append(_Lump(here, edge, length, has_edges=True))
        elif here > 0:
            mean = at + number * (course.wait_s + start.mean)
            variance = segments * lost.variance + number * start.variance
            lumps.append(_Lump(here, mean, math.sqrt(variance), has_edges=False))
        left -= here
        here *= (segments + 1 + number) / (number + 1) * fails
        number += 1


def _covered(lumps: list[_Lump], excess: float, rate: float) -> float:
    """The part of all runs that lose at most this much."""
    total = 0.0
    for weight, start, width, has_edges in lumps:
        beyond = excess - start
        if has_edges:
            if beyond >= width:
                total += weight
            elif beyond > 0:
                total += weight * math.expm1(-rate * beyond) / math.expm1(-rate * width)
        elif beyond > 4 * width or (width == 0 and beyond >= 0):
            total += weight
        elif beyond > -4 * width:
            total += weight * 0.5 * math.erfc(-beyond / width * _ROOT_HALF)
    return total
