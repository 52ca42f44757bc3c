"""Whether a model fits into the memory of a gang's chips.

Must not refuse what could fit: the sum is the least that training with Adam needs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from windlass.planner.gang import Gang
from windlass.planner.priors import Priors

GIB = 2.0**30
_HEADS_OF_WIDTH = 128.0
"""A usual shape: layers are a 128th of the width, so that parameters are 12 / 128 of its cube."""
_LAYER_BYTES = 34.0
"""bf16 activations inside one layer, for each token and unit of width (arXiv 2205.05198)."""


class MemoryNeed(NamedTuple):
    """What one chip must hold, in GiB."""

    gang: Gang
    params: float
    state_bytes: float
    """Of one parameter."""
    states_gib: float
    activations_gib: float
    usable_gib: float

    @property
    def need_gib(self) -> float:
        """All of it."""
        return self.states_gib + self.activations_gib

    @property
    def fits(self) -> bool:
        """Whether it has room."""
        return self.need_gib <= self.usable_gib

    def text(self) -> str:
        """The sum, for people."""
        chip = self.gang.chip
        name, has = (chip.name, chip.memory_gib) if chip else ("chip", 0.0)
        return (
            f"{self.params:.3g} parameters x {self.state_bytes:g} bytes / {self.gang.chips} chips "
            f"= {self.states_gib:.1f} GiB of states + {self.activations_gib:.1f} GiB of "
            f"activations = {self.need_gib:.1f} GiB on each; {name} has {has:g} GiB, "
            f"{self.usable_gib:.1f} of them usable"
        )


def memory_need(params: float, gang: Gang, priors: Priors) -> MemoryNeed | None:
    """The least that a chip of this gang must hold; None for a gang without accelerators."""
    if gang.chip is None or gang.chips == 0:
        return None
    each = priors.value("state_bytes")
    return MemoryNeed(
        gang=gang,
        params=params,
        state_bytes=each,
        states_gib=params * each / gang.chips / GIB,
        activations_gib=activation_bytes(params, priors) / GIB,
        usable_gib=gang.chip.memory_gib * priors.value("usable_memory"),
    )


def activation_bytes(params: float, priors: Priors) -> float:
    """Of one chip, when every layer keeps only its input and one layer is computed at a time."""
    width = math.cbrt(params * _HEADS_OF_WIDTH / 12)
    layers = max(1.0, width / _HEADS_OF_WIDTH)
    return priors.value("activation_tokens") * width * (2 * layers + _LAYER_BYTES)


def least_nodes(params: float, gang: Gang, priors: Priors) -> int | None:
    """How many nodes of this kind would hold it; None when no number does."""
    if gang.chip is None or gang.chips_per_node == 0:
        return None
    usable = gang.chip.memory_gib * priors.value("usable_memory") * GIB
    room = usable - activation_bytes(params, priors)
    if room <= 0:
        return None
    chips = params * priors.value("state_bytes") / room
    return max(1, -int(-chips // gang.chips_per_node))
