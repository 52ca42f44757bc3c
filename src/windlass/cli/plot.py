"""A small scatter plot of characters.

Must not know what is plotted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

WIDTH = 56
HEIGHT = 10
POINT, FRONT = "·", "o"

Point = tuple[float, float]
Say = Callable[[float], str]


def plot(points: Sequence[Point], front: Sequence[Point], *, x_text: Say, y_text: Say) -> str:
    """Points on logarithmic axes, with those of the front marked. All must be above zero."""
    usable = [point for point in (*points, *front) if all(0 < part < math.inf for part in point)]
    if not usable:
        return ""
    x_low, x_high = _span([x for x, _ in usable])
    y_low, y_high = _span([y for _, y in usable])
    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    for mark, some in ((POINT, points), (FRONT, front)):
        for x, y in some:
            if 0 < x < math.inf and 0 < y < math.inf:
                column = _place(x, x_low, x_high, WIDTH)
                row = HEIGHT - 1 - _place(y, y_low, y_high, HEIGHT)
                grid[row][column] = mark
    labels = [y_text(y_high), *[""] * (HEIGHT - 2), y_text(y_low)]
    wide = max(map(len, labels))
    lines = [
        f"  {label:>{wide}} |{''.join(row).rstrip()}"
        for label, row in zip(labels, grid, strict=True)
    ]
    left, right = f"{x_text(x_low)} $", f"{x_text(x_high)} $"
    lines.append(f"  {'':>{wide}} +{'-' * WIDTH}")
    lines.append(f"  {'':>{wide}}  {left}{right:>{max(1, WIDTH - len(left))}}")
    return "\n".join(lines)


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low * 1.0001 else (low / 1.1, high * 1.1)


def _place(value: float, low: float, high: float, cells: int) -> int:
    share = math.log(value / low) / math.log(high / low)
    return min(cells - 1, max(0, int(share * cells)))
