"""An ask for a gang of instances, complete: what `windlass render` prints and `submit` sends.

Must not ask anything of Google. Pure: equal claims give equal requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from windlass.catalog.model import Buy, Offer
from windlass.catalog.query import Catalog
from windlass.engines.base import ClaimRequest
from windlass.engines.bootstrap import OF_MACHINES, Manner, expire, node_order, startup_script
from windlass.engines.compute.gpudirect import set_up
from windlass.engines.compute.images import image_for
from windlass.engines.compute.inserts import Insert, bulk_insert, policy_insert, queue_inserts
from windlass.engines.compute.instance import SHORTEST_RUN_S, has_gpudirect, properties
from windlass.engines.compute.options import ComputeOptions, options_of
from windlass.engines.compute.placement import policy_body
from windlass.engines.compute.scratch import SET_UP
from windlass.engines.lifetime import lifetime
from windlass.errors import EngineRejected

# A machine that is not needed deletes itself, so that a gang which has ended costs nothing even
# when no controller looks. Where its account may not, it turns itself off, and is deleted at its
# expiry.
LEAVE = """\
from machine import *
ask("DELETE", "https://compute.googleapis.com/compute/v1/projects/%s/zones/%s/instances/%s" % (
    metadata("project/project-id"), metadata("instance/zone").rpartition("/")[2],
    metadata("instance/name")))"""
EARLY_S = 20
"""So long before Compute Engine ends it a machine ends itself: its ranks are told, and can save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeRequest:
    """What is made for one claim, in order: the last of it are the machines."""

    claim: str
    folder: str
    attempt: int
    zone: str
    nodes: int
    inserts: tuple[Insert, ...]


def render(
    claim: ClaimRequest,
    *,
    catalog: Catalog,
    defaults: Mapping[str, Any],
    agent_url: str,
    project: str,
) -> ComputeRequest:
    """The request for a claim. Its deadman counts from the claim's own times, never from a
    clock: a request that is rendered again must be the same."""
    offer = offer_of(claim, catalog)
    options = options_of(claim.options, defaults=defaults)
    shared = properties(
        claim,
        offer,
        options,
        image=options.image or image_for(catalog, offer),
        script=_script(claim, offer, options, agent_url=agent_url, project=project),
    )
    return ComputeRequest(
        claim=claim.id,
        folder=claim.folder,
        attempt=claim.attempt,
        zone=offer.zone,
        nodes=claim.nodes,
        inserts=tuple(_inserts(claim, offer, options, shared)),
    )


def _inserts(
    claim: ClaimRequest, offer: Offer, options: ComputeOptions, shared: Mapping[str, Any]
) -> Iterator[Insert]:
    policy = policy_body(claim, offer, options)
    if policy is not None:
        yield policy_insert(claim, offer, policy)
    placement = options.placement_policy or (policy["name"] if policy else "")
    if offer.buy is Buy.FLEX_START:
        yield from queue_inserts(claim, offer, shared, policy=placement)
    else:
        placed = {**shared, "resourcePolicies": [placement]} if placement else shared
        yield bulk_insert(claim, offer, placed)


def _script(
    claim: ClaimRequest, offer: Offer, options: ComputeOptions, *, agent_url: str, project: str
) -> str:
    order = node_order(claim, project=project, node_from="instance/name")
    meanwhile = _deadman(claim)
    if options.local_ssds or offer.machine.local_ssd_gib:
        meanwhile += SET_UP
    if has_gpudirect(claim, offer, options):
        meanwhile += set_up(offer.machine.gpu_direct or "", machine=offer.machine.name)
    manner = Manner(
        meanwhile=meanwhile,
        leave="python3 leave.py\npoweroff\n",
        programs={**OF_MACHINES, "leave.py": LEAVE},
    )
    return startup_script(order, agent_url=agent_url, manner=manner)


def _deadman(claim: ClaimRequest) -> str:
    """Compute Engine counts from when machines came, which may be late: those of a queue can come
    when nobody wants them any more, and are given ten minutes at least."""
    life = lifetime(claim, shortest_s=SHORTEST_RUN_S)
    early = life._replace(lasts_s=max(life.lasts_s - EARLY_S, 0))
    return f"({expire(early, spare_s=0)}; python3 leave.py || poweroff) &\n"


def offer_of(claim: ClaimRequest, catalog: Catalog) -> Offer:
    """What the claim wants to rent."""
    offer = catalog.offer(claim.offer) if claim.offer else None
    if offer is None or offer.slice is not None:
        raise EngineRejected(
            f"{claim.id} names no machine type to rent ({claim.offer or 'nothing'})",
            remedy="Plan the run again: `windlass plan FILE` lists what can be rented.",
        )
    return offer
