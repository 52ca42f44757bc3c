"""What the claims of a run are for: the candidate that was chosen, as claims record it.

Must not choose: the planner ranks, and its caller takes one. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from windlass.planner.candidates import Candidate


class Gang(NamedTuple):
    """What a claim is for, recorded with it: plans of later runs learn from it.

    Every `windlass run` loads this before its run starts, so it is one of the cheaper tuples.
    """

    offer: str = ""
    """What is rented; empty where nothing is."""
    buy: str = ""
    """As the spec writes it."""
    accelerators: str = ""
    """Of each node; empty for none, and where they are only emulated."""
    nodes: int = 1
    """Slices, for TPUs."""


def rented(chosen: Candidate) -> Gang:
    """What claims record of it."""
    offer = chosen.offer
    accelerators = ""
    if offer.slice is not None:
        accelerators = offer.slice.name
    elif offer.chip is not None:
        accelerators = f"{offer.chip.name}:{offer.machine.chips}"
    return Gang(offer=offer.id, buy=chosen.way.name, accelerators=accelerators, nodes=chosen.nodes)
