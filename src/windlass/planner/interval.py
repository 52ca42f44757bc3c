"""How often to save: the interval that makes the expected time shortest.

Must not know how a save is done. Times are seconds.
"""

from __future__ import annotations

import math

SHORTEST_S = 15.0
LONGEST_S = 3600.0
"""Between these the runtime keeps `every: auto`, whatever is best on paper."""

_STEPS = 6
_CLOSE = 1e-7
"""Newton's steps shrink as their squares: the one after such a one would change nothing."""


def best_interval_s(hazard_per_s: float, save_s: float) -> float:
    """The work between two saves that loses the least time; infinite when nothing can be lost.

    The expected time is proportional to (exp(r (t + c)) - 1) / t, which is least where
    r t = 1 - exp(-r (t + c)). Young's sqrt(2 c / r) is the first guess, and Newton's method does
    the rest: Daly's series is what this gives for small r c.
    """
    if hazard_per_s == 0:
        return math.inf
    cost = hazard_per_s * save_s
    if cost == 0:
        return 0.0
    x = min(math.sqrt(2 * cost), 1.0)
    for _ in range(_STEPS):
        rest = math.expm1(-(x + cost))
        step = (x + rest) / -rest
        x -= step
        if abs(step) < _CLOSE:
            break
    return x / hazard_per_s


def segments_for(work_s: float, interval_s: float) -> int:
    """Equal parts of the work, none longer than the interval."""
    if not interval_s < work_s:
        return 1
    # A part that is longer by a rounding error is no reason for one more.
    return max(1, math.ceil(work_s / interval_s * (1 - 1e-9)))


def auto_segments(work_s: float, hazard_per_s: float, save_s: float) -> int:
    """The best number of segments within what the runtime does on its own.

    Exactly the best, so that a higher hazard can never seem to make a run shorter.
    """
    fewest, most = segments_for(work_s, LONGEST_S), segments_for(work_s, SHORTEST_S)
    ideal = work_s / max(best_interval_s(hazard_per_s, save_s), 1e-9)
    below = min(most, max(fewest, math.floor(ideal)))
    above = min(most, below + 1)
    if above == below:
        return below
    lost = _cost(below, work_s, hazard_per_s, save_s)
    return above if _cost(above, work_s, hazard_per_s, save_s) < lost else below


def _cost(segments: int, work_s: float, hazard_per_s: float, save_s: float) -> float:
    """What the expected time is proportional to."""
    if hazard_per_s == 0:
        return work_s + segments * save_s
    expected = hazard_per_s * (work_s / segments + save_s)
    return math.inf if expected > 700 else segments * math.expm1(expected)
