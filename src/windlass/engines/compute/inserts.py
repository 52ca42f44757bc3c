"""What is asked of Compute Engine for a claim, call by call.

Must not send anything. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windlass.catalog.model import Offer
from windlass.engines.base import ClaimRequest
from windlass.engines.compute.naming import (
    claim_name,
    description,
    instance_name,
    resize_name,
)
from windlass.engines.labels import request_id

POLICIES = "resourcePolicies"
TEMPLATES = "instanceTemplates"
GROUPS = "instanceGroupManagers"
RESIZES = "resizeRequests"
BULK = "instances/bulkInsert"


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """One ask: what is made, and where. The next one is sent when this is done."""

    scope: str
    """`zones/Z` or `regions/R`."""
    collection: str
    body: Mapping[str, Any]
    request_id: str


def policy_insert(claim: ClaimRequest, offer: Offer, body: Mapping[str, Any]) -> Insert:
    """The placement policy."""
    return _insert(claim, f"regions/{offer.region}", POLICIES, body)


def bulk_insert(claim: ClaimRequest, offer: Offer, properties: Mapping[str, Any]) -> Insert:
    """All machines of a gang or none, now."""
    names = [instance_name(claim.id, node) for node in range(claim.nodes)]
    body = {
        "count": str(len(names)),
        "minCount": str(len(names)),
        "perInstanceProperties": {name: {"name": name} for name in names},
        "instanceProperties": dict(properties),
    }
    return _insert(claim, f"zones/{offer.zone}", BULK, body)


def queue_inserts(
    claim: ClaimRequest, offer: Offer, properties: Mapping[str, Any], *, policy: str
) -> Sequence[Insert]:
    """All machines of a gang or none, as soon as there is room: a group of none that is to grow
    by all at once. `policy` places them close together."""
    name, region, zone = claim_name(claim.id), f"regions/{offer.region}", f"zones/{offer.zone}"
    described = description(claim, offer.zone)
    group: dict[str, Any] = {
        "name": name,
        "description": described,
        "baseInstanceName": name,
        "instanceTemplate": f"{region}/{TEMPLATES}/{name}",
        "targetSize": 0,
        # Only the controller restarts.
        "instanceLifecyclePolicy": {"defaultActionOnFailure": "DO_NOTHING"},
    }
    if policy:
        group["resourcePolicies"] = {"workloadPolicy": f"{region}/{POLICIES}/{policy}"}
    template = {"name": name, "description": described, "properties": dict(properties)}
    names = [instance_name(claim.id, node) for node in range(claim.nodes)]
    resize = {
        "name": resize_name(claim.id),
        "description": described,
        "instances": [{"name": one} for one in names],
        "requestedRunDuration": properties["scheduling"]["maxRunDuration"],
    }
    return [
        _insert(claim, region, TEMPLATES, template),
        _insert(claim, zone, GROUPS, group),
        _insert(claim, zone, f"{GROUPS}/{name}/{RESIZES}", resize),
    ]


def _insert(claim: ClaimRequest, scope: str, collection: str, body: Mapping[str, Any]) -> Insert:
    return Insert(
        scope=scope,
        collection=collection,
        body=body,
        request_id=request_id(claim.id, f"{claim.folder}/{collection}"),
    )
