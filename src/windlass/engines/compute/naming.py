"""Names of what the engine makes: how a claim's machines are found again.

Must not look anything up. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from windlass.engines.base import ClaimRequest
from windlass.engines.descriptions import described, pairs_of
from windlass.engines.labels import CLAIM_LABEL, NAME_MAX, NODES_KEY, fitted, labels

MARK = "w-"
"""What the name of everything begins with."""
RESIZE_TAIL = "-all"
WHOLE = "windlass-claim-id"
"""In descriptions: the claim in full, which labels may have to shorten."""
ZONE = "windlass-zone"
"""In descriptions: where the claim's machines are to be."""


def instance_name(claim: str, node: int) -> str:
    """The name of one node's instance. The claim's id is in it, shortened where it must be."""
    tail = f"-{node}"
    return fitted(f"{MARK}{claim}", NAME_MAX - len(tail)) + tail


def claim_name(claim: str) -> str:
    """The name of what a claim has one of: its placement policy, template and group."""
    return fitted(f"{MARK}{claim}", NAME_MAX)


def resize_name(claim: str) -> str:
    """The name of the request that fills a claim's group."""
    return fitted(f"{MARK}{claim}", NAME_MAX - len(RESIZE_TAIL)) + RESIZE_TAIL


def description(claim: ClaimRequest, zone: str) -> str:
    """What stands for labels on what has none."""
    return described({**labels(claim), WHOLE: claim.id, ZONE: zone})


def claim_of(instance: Mapping[str, object]) -> str:
    """The claim that an instance is of, in full: labels are shortened, metadata is not."""
    return _told(instance, CLAIM_LABEL)


def node_count(instance: Mapping[str, object]) -> int:
    """How many nodes the claim of an instance has; 0 when it does not say."""
    told = _told(instance, NODES_KEY)
    return int(told) if told.isdecimal() else 0


def _told(instance: Mapping[str, object], key: str) -> str:
    metadata = instance.get("metadata")
    items = metadata.get("items", ()) if isinstance(metadata, dict) else ()
    return next((str(item.get("value", "")) for item in items if item.get("key") == key), "")


def described_claim(resource: Mapping[str, object]) -> tuple[str, str]:
    """Zone and claim of something with a description; both empty for what is not of ours."""
    pairs = pairs_of(str(resource.get("description", "")))
    return pairs.get(ZONE, ""), pairs.get(WHOLE, "")
