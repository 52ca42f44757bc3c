"""What a chosen candidate means for the claims of a run.

Must not choose: the planner ranks, and its caller takes one. Pure.
"""

from __future__ import annotations

from windlass.controller.view import Gang
from windlass.planner.candidates import Candidate


def rented(chosen: Candidate) -> Gang:
    """What claims record of it."""
    offer = chosen.offer
    accelerators = ""
    if offer.slice is not None:
        accelerators = offer.slice.name
    elif offer.chip is not None:
        accelerators = f"{offer.chip.name}:{offer.machine.chips}"
    return Gang(offer=offer.id, buy=chosen.way.name, accelerators=accelerators, nodes=chosen.nodes)
