"""How close together the machines of a gang are: the placement policy that is made with it.

Must not ask anything of Google. Pure.
"""

from __future__ import annotations

from typing import Any

from windlass.catalog.model import Buy, Offer
from windlass.engines.base import ClaimRequest
from windlass.engines.compute.naming import claim_name, description
from windlass.engines.compute.options import ComputeOptions

DENSE_FAMILIES = frozenset({"a3-ultra", "a4"})
"""Those whose flex-start groups Google places close together; others it places as it can."""


def policy_body(
    claim: ClaimRequest, offer: Offer, options: ComputeOptions
) -> dict[str, Any] | None:
    """The policy that is to be made for a claim, or None where none helps: machines of a
    reservation stand where the reservation does."""
    machine = offer.machine
    is_gang = claim.nodes > 1 and offer.chip is not None
    is_given = bool(options.placement_policy) or "/" in claim.buy
    if not (is_gang and options.compact and machine.has_compact_placement) or is_given:
        return None
    body = {"name": claim_name(claim.id), "description": description(claim, offer.zone)}
    if offer.buy is not Buy.FLEX_START:
        return {**body, "groupPlacementPolicy": {"collocation": "COLLOCATED"}}
    if machine.family in DENSE_FAMILIES:
        return {**body, "workloadPolicy": {"type": "HIGH_THROUGHPUT"}}
    return None
