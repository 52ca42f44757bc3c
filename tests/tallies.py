"""Means, spreads and shares of what was played, each with its standard error.

Must not know what is expected: tests compare.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Figure:
    """Something that was measured by playing."""

    value: float
    error: float
    """The standard error."""

    def plus(self, constant: float) -> Figure:
        """The same on top of a constant."""
        return Figure(self.value + constant, self.error)

    def chance(self) -> float:
        """The standard error, relative."""
        return self.error / abs(self.value) if self.value else math.inf

    def off(self, expected: float) -> float:
        """How far it lies from what was expected, relative to that."""
        return abs(self.value / expected - 1)


@dataclass
class Tally:
    """Sums of powers, so that no number of runs is too large."""

    count: int = 0
    sums: np.ndarray = field(default_factory=lambda: np.zeros(6))

    def add(self, values: np.ndarray) -> None:
        """More of the same."""
        self.count += values.size
        power = np.ones(values.shape)
        for index in range(6):
            power *= values
            self.sums[index] += power.sum()

    def mean(self) -> Figure:
        """The mean."""
        mean, square, *_ = self.sums / self.count
        return Figure(mean, math.sqrt(max(0.0, square - mean**2) / self.count))

    def central(self) -> list[float]:
        """Central moments, from the second to the sixth."""
        raw = [1.0, *(self.sums / self.count)]
        mean = raw[1]
        return [
            sum(math.comb(k, j) * raw[j] * (-mean) ** (k - j) for j in range(k + 1))
            for k in range(2, 7)
        ]

    def deviation(self) -> Figure:
        """The standard deviation; its error is that of large samples."""
        m2, _, m4, *_ = self.central()
        deviation = math.sqrt(max(0.0, m2))
        if not deviation:
            return Figure(0.0, math.inf)
        return Figure(deviation, math.sqrt(max(0.0, m4 - m2**2) / self.count) / (2 * deviation))

    def third(self) -> Figure:
        """The third central moment, likewise."""
        m2, m3, m4, _, m6 = self.central()
        spread = m6 - m3**2 - 6 * m4 * m2 + 9 * m2**3
        return Figure(m3, math.sqrt(max(0.0, spread) / self.count))

    def share(self) -> Figure:
        """Of ones among zeros and ones: the error of a share that is 0 or 1 is not 0."""
        share = self.sums[0] / self.count
        spread = max(share * (1 - share), 1 / self.count)
        return Figure(share, math.sqrt(spread / self.count))
