"""Chance, as a value that can be replaced: names and jitter.

Must not be used for secrets.
"""

from __future__ import annotations

import random
from typing import Protocol

# No vowels and no look-alikes: an id is read aloud, typed, and never spells a word.
ALPHABET = "23456789bcdfghjkmnpqrstvwxyz"


class Entropy(Protocol):
    """What the control plane may know of chance."""

    def id(self, length: int = 5) -> str:
        """A short name that is safe in shells, labels and file systems."""

    def jitter(self, base: float) -> float:
        """Something between 0.5 and 1.5 times `base`."""


def seeded(seed: int) -> random.Random:
    """A generator of its own, for simulations: the same seed gives the same numbers."""
    return random.Random(seed)


class SeededEntropy:
    """Chance from a generator: the machine's own unless a seed is given."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed) if seed is not None else random.SystemRandom()

    def id(self, length: int = 5) -> str:
        """See Entropy."""
        return "".join(self._random.choice(ALPHABET) for _ in range(length))

    def jitter(self, base: float) -> float:
        """See Entropy."""
        return base * self._random.uniform(0.5, 1.5)
