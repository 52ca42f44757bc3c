"""Names and labels of what the engine makes: how a claim's machines are found again.

Must not look anything up. Pure.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping

from windlass.engines.base import ClaimRequest, Handle

NAME_MAX = 63
OURS = "windlass"
CLAIM_LABEL = "windlass-claim"
NODE_LABEL = "windlass-node"
RUN_LABEL = "windlass-run"
EXPIRY_LABEL = "windlass-expires"
_SPACE = uuid.UUID("6f1d2a56-7b0e-4d7c-9f0a-3d0f5a1f7c11")


def instance_name(claim: str, node: int) -> str:
    """The name of one node's instance. The claim's id is in it, shortened where it must be."""
    tail = f"-{node}"
    return _fitted(f"w-{claim}", NAME_MAX - len(tail)) + tail


def label_value(text: str) -> str:
    """A text as a label's value."""
    return _fitted("".join(c if c.isalnum() or c in "-_" else "-" for c in text.lower()), NAME_MAX)


def labels(claim: ClaimRequest) -> dict[str, str]:
    """What every object of a claim carries."""
    own = {
        OURS: "true",
        CLAIM_LABEL: label_value(claim.id),
        RUN_LABEL: label_value(claim.run),
    }
    if claim.expires_at is not None:
        own[EXPIRY_LABEL] = str(int(claim.expires_at))
    given = {label_value(key): label_value(value) for key, value in claim.labels.items()}
    return {**given, **own}


def request_id(claim: str, folder: str) -> str:
    """The same for the same claim, whoever asks: Google does nothing twice for one id. Claims of
    different homes may have one name, but not one folder."""
    return str(uuid.uuid5(_SPACE, f"{folder}/{claim}"))


def handle_of(zone: str, claim: str) -> Handle:
    """The engine's name for a claim: where it is, and which."""
    return Handle(f"{zone}/{claim}")


def split_handle(handle: Handle) -> tuple[str, str]:
    """Zone and claim of a handle."""
    zone, _, claim = handle.partition("/")
    return zone, claim


def claim_of(instance: Mapping[str, object]) -> str:
    """The claim that an instance is of, in full: labels are shortened, metadata is not."""
    metadata = instance.get("metadata")
    items = metadata.get("items", ()) if isinstance(metadata, dict) else ()
    for item in items:
        if item.get("key") == CLAIM_LABEL:
            return str(item.get("value", ""))
    return ""


def _fitted(text: str, length: int) -> str:
    if len(text) <= length:
        return text.rstrip("-")
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: length - 9].rstrip('-')}-{mark}"
