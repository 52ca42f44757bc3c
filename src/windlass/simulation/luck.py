"""Seeded chance for faults, with a moment after which all faults stop.

Must not be asked in an order that depends on anything but the seed.
"""

from __future__ import annotations

from windlass.ports.entropy import ALPHABET, seeded

WEIGHTS = (0.0, 0.5, 1.0, 1.0, 4.0)


class Luck:
    """Decides what goes wrong. The same seed, asked the same questions, answers the same."""

    def __init__(self, seed: int) -> None:
        self._random = seeded(seed)
        self._weights: dict[str, float] = {}
        self.is_over = False
        self.struck: dict[str, int] = {}
        """How often each fault happened."""

    def strikes(self, fault: str, probability: float) -> bool:
        """Whether the fault happens now.

        Each seed has faults that never happen to it and some that happen often: a world where
        everything fails a little hides what happens when one thing fails all the time.
        """
        if fault not in self._weights:
            self._weights[fault] = self._random.choice(WEIGHTS)
        roll = self._random.random()
        if self.is_over or roll >= probability * self._weights[fault]:
            return False
        self.count(fault)
        return True

    def count(self, fault: str) -> None:
        """A fault that was planned has happened."""
        self.struck[fault] = self.struck.get(fault, 0) + 1

    def between(self, low: float, high: float) -> float:
        """A number between two others."""
        return self._random.uniform(low, high)

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends possible."""
        return self._random.randint(low, high)

    def name(self) -> str:
        """A name that nobody else has."""
        return "".join(self._random.choice(ALPHABET) for _ in range(12))
