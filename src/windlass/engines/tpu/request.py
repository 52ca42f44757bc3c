"""An ask for slices, complete: what `windlass render` prints and `submit` sends.

Must not ask anything of Google. Pure: equal claims give equal requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from windlass.catalog.model import Buy, Offer, Slice
from windlass.catalog.query import Catalog
from windlass.engines.base import ClaimRequest
from windlass.engines.bootstrap import node_order, startup_script
from windlass.engines.labels import CLAIM_LABEL, NODES_KEY, fitted, labels, request_id
from windlass.engines.lifetime import WEEK_S, lifetime, waits_s
from windlass.engines.marks import claim_folder
from windlass.engines.networks import PREFIX, subnetwork_of
from windlass.engines.options import read_options
from windlass.engines.tpu.options import TpuOptions
from windlass.engines.tpu.worker import manner
from windlass.errors import EngineRejected
from windlass.google.tpu import ALPHA, STABLE, place, queued_url

NAME_MAX = 58
"""Names of nodes are longer: they end in the number of their slice."""
FOLDER_KEY = "windlass-folder"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
SHORTEST_RUN_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TpuRequest:
    """One queued resource."""

    claim: str
    folder: str
    attempt: int
    zone: str
    version: str
    name: str
    request_id: str
    body: Mapping[str, Any]


def render(
    claim: ClaimRequest,
    *,
    catalog: Catalog,
    defaults: Mapping[str, Any],
    agent_url: str,
    project: str,
) -> TpuRequest:
    """The request for a claim. Times count from the claim's own, never from a clock: a request
    that is rendered again must be the same."""
    offer = offer_of(claim, catalog)
    assert offer.slice is not None
    slices = slices_of(claim, offer)
    options = read_options(TpuOptions, "tpu", claim.options, defaults=defaults)
    if options.network == PREFIX and not options.subnetwork:
        # A network of ours has a subnetwork in each of its regions, and none by itself.
        options = replace(options, subnetwork=subnetwork_of(PREFIX, offer.region))
    name = queued_name(claim.id)
    node = _node(
        claim, offer.slice, options, script=_script(claim, offer, agent_url, project=project)
    )
    version = ALPHA if offer.buy is Buy.FLEX_START else STABLE
    spec: dict[str, Any] = {"parent": place(project, offer.zone), "node": node}
    if slices == 1:
        spec["nodeId"] = f"{name}-0"
    else:
        several = "multiNodeParams" if version == ALPHA else "multisliceParams"
        spec[several] = {"nodeCount": slices, "nodeIdPrefix": name}
    return TpuRequest(
        claim=claim.id,
        folder=claim.folder,
        attempt=claim.attempt,
        zone=offer.zone,
        version=version,
        name=name,
        request_id=request_id(f"{claim.id}@{claim.made_at}", "queued-resource"),
        body={
            "tpu": {"nodeSpec": [spec]},
            # A request that was never granted must not be granted when nobody wants it any more.
            "queueingPolicy": {
                "validUntilDuration": f"{waits_s(claim, shortest_s=SHORTEST_RUN_S)}s"
            },
            **_tier(claim, offer, project=project),
        },
    )


def queued_name(claim: str) -> str:
    """The name of a claim's queued resource."""
    return fitted(f"w-{claim}", NAME_MAX)


def offer_of(claim: ClaimRequest, catalog: Catalog) -> Offer:
    """What the claim wants to rent."""
    offer = catalog.offer(claim.offer) if claim.offer else None
    if offer is None or offer.slice is None:
        raise EngineRejected(
            f"{claim.id} names no TPU slice to rent ({claim.offer or 'nothing'})",
            remedy="Plan the run again: `windlass plan FILE` lists what can be rented.",
        )
    return offer


def slices_of(claim: ClaimRequest, offer: Offer) -> int:
    """How many slices the claim's nodes are."""
    slices, rest = divmod(claim.nodes, offer.hosts)
    if rest or slices < 1:
        raise EngineRejected(
            f"{claim.nodes} nodes are no whole number of {offer.label}, of {offer.hosts} each",
            remedy="Leave `resources.nodes` to the number of slices that you want.",
        )
    return slices


def _script(claim: ClaimRequest, offer: Offer, agent_url: str, *, project: str) -> str:
    order = node_order(claim, project=project, node_from="instance/name")
    order |= {"nodes": claim.nodes, "slice_hosts": offer.hosts}
    url = queued_url(project, offer.zone, queued_name(claim.id))
    return startup_script(
        order,
        agent_url=agent_url,
        manner=manner(url, lifetime(claim, shortest_s=SHORTEST_RUN_S)),
    )


def _node(
    claim: ClaimRequest, slice_: Slice, options: TpuOptions, *, script: str
) -> dict[str, Any]:
    network: dict[str, Any] = {
        "network": options.network,
        "enableExternalIps": options.external_address,
    }
    if options.subnetwork:
        network["subnetwork"] = options.subnetwork
    account: dict[str, Any] = {"scope": [SCOPE]}
    if options.service_account:
        account["email"] = options.service_account
    node: dict[str, Any] = {
        "acceleratorType": slice_.accelerator_type,
        "runtimeVersion": options.runtime_version or slice_.runtime_version,
        "description": f"windlass run {claim.run}, claim {claim.id}",
        "labels": labels(claim),
        "networkConfig": network,
        "serviceAccount": account,
        "metadata": {
            "startup-script": script,
            CLAIM_LABEL: claim.id,
            NODES_KEY: str(claim.nodes),
            FOLDER_KEY: claim_folder(claim.folder, claim.attempt, claim.id),
            "enable-oslogin": "TRUE",
            "block-project-ssh-keys": "TRUE",
        },
    }
    if options.secure_boot:
        node["shieldedInstanceConfig"] = {"enableSecureBoot": True}
    if options.kms_key:
        node["bootDiskConfig"] = {"customerEncryptionKey": {"kmsKeyName": options.kms_key}}
    return node


def _tier(claim: ClaimRequest, offer: Offer, *, project: str) -> dict[str, Any]:
    """How the slices are paid for."""
    reservation = claim.buy.partition("/")[2]
    if reservation:
        return {
            "guaranteed": {},
            "reservationName": f"{place(project, offer.zone)}/reservations/{reservation}",
        }
    if offer.buy is Buy.SPOT:
        return {"spot": {}}
    if offer.buy is Buy.FLEX_START:
        lasts_s = lifetime(claim, shortest_s=SHORTEST_RUN_S).lasts_s
        return {
            "provisioningModel": "FLEX_START",
            "runDuration": {"maxRunDuration": f"{min(lasts_s, WEEK_S)}s"},
        }
    if offer.buy is Buy.ON_DEMAND:
        return {"guaranteed": {}}
    raise EngineRejected(
        f"Cloud TPU sells {offer.label} as {offer.buy.value} only with a reservation",
        remedy="Name it in `where.buy`: `reservation/NAME`.",
    )
