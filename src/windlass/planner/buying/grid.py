"""Uneven grids and linear interpolation between their points.

Must not know what the numbers mean.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


class Mix(NamedTuple):
    """For each wanted point: the grid point below it, and the share of the one above."""

    below: npt.NDArray[np.intp]
    share: Array


def between(points: Sequence[float], wanted: float) -> tuple[int, float]:
    """The grid point below one wanted value and the share of the one above; ends are held."""
    last = len(points) - 2
    low = min(max(bisect_right(points, wanted) - 1, 0), last)
    share = (wanted - points[low]) / (points[low + 1] - points[low])
    return low, min(max(share, 0.0), 1.0)


def mix(points: Sequence[float], wanted: Sequence[float]) -> Mix:
    """Where many wanted values lie."""
    found = [between(points, value) for value in wanted]
    return Mix(
        below=np.array([low for low, _ in found], np.intp),
        share=np.array([share for _, share in found], np.float32),
    )


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
