"""An ask for a custom training, complete: what `windlass render` prints and `submit` sends.

Must not ask anything of Google. Pure: equal claims give equal requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.catalog.model import Buy, Offer
from windlass.catalog.query import Catalog
from windlass.engines.base import ClaimRequest
from windlass.engines.bootstrap import node_order, startup_script
from windlass.engines.labels import labels
from windlass.engines.lifetime import lifetime, waits_s
from windlass.engines.marks import claim_folder
from windlass.engines.options import read_options
from windlass.engines.vertex.images import image_for
from windlass.engines.vertex.options import VertexOptions
from windlass.engines.vertex.replica import manner
from windlass.engines.vertex.sold import STRATEGIES, accelerator_name, unsold
from windlass.errors import EngineRejected

FOLDER_VARIABLE = "WINDLASS_CLAIM_FOLDER"
HYPERDISK_FAMILIES = ("a3-ultra", "a4", "c4", "n4")
SHORTEST_RUN_S = 60
EARLY_S = 20
"""So long before its end a replica tells its ranks, which can save: a budget has half a minute to
spare by then, and all of it must be enough."""
NOTICE_S = 45
"""What ranks have, with a little more for their agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexRequest:
    """One custom training."""

    claim: str
    folder: str
    attempt: int
    region: str
    body: Mapping[str, Any]


def render(
    claim: ClaimRequest,
    *,
    catalog: Catalog,
    defaults: Mapping[str, Any],
    agent_url: str,
    project: str,
) -> VertexRequest:
    """The request for a claim. Times count from the claim's own, never from a clock: a request
    that is rendered again must be the same."""
    offer = offer_of(claim, catalog)
    options = read_options(VertexOptions, "vertex", claim.options, defaults=defaults)
    spec: dict[str, Any] = {
        "workerPoolSpecs": _pools(claim, offer, options, agent_url=agent_url, project=project),
        "scheduling": _scheduling(claim, offer),
    }
    if options.service_account:
        spec["serviceAccount"] = options.service_account
    if options.network:
        spec["network"] = options.network
    if options.network_attachment:
        spec["pscInterfaceConfig"] = {"networkAttachment": options.network_attachment}
    body: dict[str, Any] = {"displayName": claim.id, "labels": labels(claim), "jobSpec": spec}
    if options.kms_key:
        body["encryptionSpec"] = {"kmsKeyName": options.kms_key}
    return VertexRequest(
        claim=claim.id,
        folder=claim.folder,
        attempt=claim.attempt,
        region=offer.region,
        body=body,
    )


def offer_of(claim: ClaimRequest, catalog: Catalog) -> Offer:
    """What the claim wants to rent. Vertex AI chooses the zone in the offer's region itself."""
    offer = catalog.offer(claim.offer) if claim.offer else None
    if offer is None:
        raise EngineRejected(
            f"{claim.id} names nothing to rent ({claim.offer or 'nothing'})",
            remedy="Plan the run again: `windlass plan FILE` lists what can be rented.",
        )
    if why := unsold(offer):
        raise EngineRejected(
            why, remedy="Allow another accelerator or way to buy, or another engine with `--on`."
        )
    if offer.slice is not None and claim.nodes != offer.hosts:
        raise EngineRejected(
            f"Vertex AI trains on one slice, and {claim.nodes} nodes are no {offer.label}",
            remedy="Set `resources.nodes` to 1, or run it with `--on tpu`.",
        )
    return offer


def _pools(
    claim: ClaimRequest, offer: Offer, options: VertexOptions, *, agent_url: str, project: str
) -> list[dict[str, Any]]:
    """The first pool is the replica with whose end everything ends; the others are in a second
    one. A slice is one replica, however many hosts it has."""
    disk = "hyperdisk-balanced" if offer.machine.name.startswith(HYPERDISK_FAMILIES) else "pd-ssd"
    pool = {
        "machineSpec": _machine(claim, offer, project=project),
        "diskSpec": {"bootDiskType": disk, "bootDiskSizeGb": options.disk_gb},
        "containerSpec": {
            "imageUri": options.image or claim.image or image_for(offer),
            "command": ["bash", "-c", _script(claim, offer, agent_url, project=project)],
            "env": [
                {
                    "name": FOLDER_VARIABLE,
                    "value": claim_folder(claim.folder, claim.attempt, claim.id),
                }
            ],
        },
    }
    pools = [{**pool, "replicaCount": "1"}]
    if offer.slice is None and claim.nodes > 1:
        pools.append({**pool, "replicaCount": str(claim.nodes - 1)})
    return pools


def _machine(claim: ClaimRequest, offer: Offer, *, project: str) -> dict[str, Any]:
    machine: dict[str, Any] = {"machineType": offer.machine.name}
    if offer.slice is not None:
        machine["tpuTopology"] = offer.slice.topology
    elif offer.chip is not None:
        machine |= {
            "acceleratorType": accelerator_name(offer),
            "acceleratorCount": offer.machine.chips,
        }
    reservation = claim.buy.partition("/")[2]
    if reservation:
        path = f"projects/{project}/zones/{offer.zone}/reservations/{reservation}"
        machine["reservationAffinity"] = {
            "reservationAffinityType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": [path],
        }
    return machine


def _scheduling(claim: ClaimRequest, offer: Offer) -> dict[str, Any]:
    """Only the controller restarts: Vertex AI does it neither for a worker nor for all."""
    scheduling: dict[str, Any] = {
        # Should its replicas not end by themselves, as they do when their time is over.
        "timeout": f"{_told_after_s(claim) + NOTICE_S}s",
        "strategy": STRATEGIES[offer.buy],
        "restartJobOnWorkerRestart": False,
        "disableRetries": True,
    }
    if offer.buy is Buy.FLEX_START:
        scheduling["maxWaitDuration"] = f"{waits_s(claim, shortest_s=SHORTEST_RUN_S)}s"
    return scheduling


def _script(claim: ClaimRequest, offer: Offer, agent_url: str, *, project: str) -> str:
    order = node_order(claim, project=project, node_from="")
    order |= {"nodes": claim.nodes, "has_tpu": offer.slice is not None}
    life = lifetime(claim, shortest_s=SHORTEST_RUN_S)
    early = life._replace(lasts_s=_told_after_s(claim))
    return startup_script(order, agent_url=agent_url, manner=manner(early))


def _told_after_s(claim: ClaimRequest) -> int:
    """How long after they came replicas are told to end."""
    return max(lifetime(claim, shortest_s=SHORTEST_RUN_S).lasts_s - EARLY_S, 0)
