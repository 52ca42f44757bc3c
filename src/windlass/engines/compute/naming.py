"""Names of what the engine makes: how a claim's machines are found again.

Must not look anything up. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from windlass.engines.labels import CLAIM_LABEL, NAME_MAX, fitted


def instance_name(claim: str, node: int) -> str:
    """The name of one node's instance. The claim's id is in it, shortened where it must be."""
    tail = f"-{node}"
    return fitted(f"w-{claim}", NAME_MAX - len(tail)) + tail


def claim_of(instance: Mapping[str, object]) -> str:
    """The claim that an instance is of, in full: labels are shortened, metadata is not."""
    metadata = instance.get("metadata")
    items = metadata.get("items", ()) if isinstance(metadata, dict) else ()
    for item in items:
        if item.get("key") == CLAIM_LABEL:
            return str(item.get("value", ""))
    return ""
