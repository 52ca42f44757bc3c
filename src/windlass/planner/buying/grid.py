"""Uneven grids and linear interpolation between their points.

Must not know what the numbers mean.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

Mix = tuple[int, float]
"""The grid point below a wanted value, and the share of the one above."""


def between(points: Sequence[float], wanted: float) -> Mix:
    """Where one wanted value lies; the ends are held."""
    last = len(points) - 2
    low = min(max(bisect_right(points, wanted) - 1, 0), last)
    share = (wanted - points[low]) / (points[low + 1] - points[low])
    return low, min(max(share, 0.0), 1.0)


def moved(values: Sequence[float], to: Sequence[Mix]) -> list[float]:
    """The values between their points, at every wanted place."""
    return [values[low] * (1.0 - share) + values[low + 1] * share for low, share in to]


def slack_points(restart_h: float, most_h: float) -> tuple[float, ...]:
    """Hours of slack: fine where a restart or two decide, coarse where there is plenty."""
    quarter = max(restart_h / 4, most_h / 10_000, 1e-3)
    widest = max(1.0, most_h / 60)
    points = [0.0, quarter]
    step = quarter
    while points[-1] < most_h:
        if points[-1] > 8 * quarter:
            step = min(step * 1.12, max(widest, quarter))
        points.append(points[-1] + step)
    return tuple(points)
