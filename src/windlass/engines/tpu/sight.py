"""What the states of a queued resource and its slices mean for a claim.

Must not ask anything of Google. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from windlass.engines.base import Observation, Seen
from windlass.engines.labels import CLAIM_LABEL, NODES_KEY, OURS
from windlass.engines.tpu.request import FOLDER_KEY
from windlass.errors import OutOfStock, QuotaExceeded

WAITING = {
    "CREATING": "Cloud TPU is taking the request",
    "ACCEPTED": "it is in Cloud TPU's queue",
    "WAITING_FOR_RESOURCES": "it is in Cloud TPU's queue: there are no such slices free",
    "PROVISIONING": "its slices are being made",
}
GOING = {
    "SUSPENDING": "Google is taking its slices back",
    "DELETING": "its slices are being deleted",
}
"""Agents may still be saving: nothing is missing until it is gone."""
UP = frozenset({"READY", "CREATING", "STARTING", "DELETING"})

STARVED = frozenset({"ACCEPTED", "WAITING_FOR_RESOURCES"})
"""In the queue: the second is Cloud TPU's newer word for the first."""
PATIENCE_S = 60.0
"""So long a queue is given: what is free is granted within seconds."""
EXHAUSTED = 8
"""google.rpc.Code for what there is not enough of."""

Document = Mapping[str, Any]


def seen(queued: Document | None, nodes: Iterable[Document]) -> Observation:
    """What has become of a claim, by its queued resource and those of its slices that are left."""
    found = list(nodes)
    if queued is None:
        reason = "its slices are being deleted" if found else ""
        return Observation(seen=Seen.RUNNING if found else Seen.GONE, reason=reason)
    state = str((queued.get("state") or {}).get("state", ""))
    if state in WAITING:
        patience_s = PATIENCE_S if state in STARVED else None
        return Observation(seen=Seen.PENDING, reason=WAITING[state], patience_s=patience_s)
    if state in GOING:
        return Observation(seen=Seen.RUNNING, reason=GOING[state])
    if state == "FAILED" and not found:
        return _failed(queued)
    everyone = tuple(range(node_count(queued)))
    if state == "ACTIVE":
        return _active(queued, found, everyone)
    reason = "Google has taken its slices back" if state == "SUSPENDED" else f"it is {state}"
    return Observation(seen=Seen.RUNNING, missing=everyone, reason=reason)


def condition(queued: Document | None, nodes: Iterable[Document]) -> list[str]:
    """How a queued resource and its slices are, in Cloud TPU's own words."""
    lines = []
    if queued is not None:
        state = queued.get("state") or {}
        said = ((state.get("failedData") or {}).get("error") or {}).get("message", "")
        lines.append(": ".join(filter(None, (name_of(queued), str(state.get("state", "")), said))))
    for node in nodes:
        how = (node.get("state", ""), node.get("health", ""), node.get("healthDescription", ""))
        lines.append(f"{name_of(node)}: {', '.join(str(one) for one in how if one)}")
        for symptom in node.get("symptoms") or ():
            words = (symptom.get("symptomType", ""), symptom.get("details", ""))
            said = " ".join(str(one) for one in words if one)
            lines.append(f"{name_of(node)} worker {symptom.get('workerId', '?')}: {said}")
    return lines


def claim_of(queued: Document) -> str:
    """The claim that a queued resource is of, in full; empty when it is not ours."""
    return claim_of_node(_first_node(queued))


def claim_of_node(node: Document) -> str:
    """The claim that a slice is of, in full; empty when it is not ours."""
    if (node.get("labels") or {}).get(OURS) != "true":
        return ""
    return str((node.get("metadata") or {}).get(CLAIM_LABEL, ""))


def node_count(queued: Document) -> int:
    """How many hosts its slices have together."""
    return int((_first_node(queued).get("metadata") or {}).get(NODES_KEY, 0))


def folder_of(queued: Document) -> str:
    """The URL of its claim's folder."""
    return str((_first_node(queued).get("metadata") or {}).get(FOLDER_KEY, ""))


def name_of(document: Document) -> str:
    """The last word of a name of Google's."""
    return str(document.get("name", "")).rpartition("/")[2]


def _active(queued: Document, nodes: list[Document], everyone: tuple[int, ...]) -> Observation:
    """Each slice that is not up takes its hosts with it."""
    slices = _slice_count(queued)
    up = {_slice_number(one) for one in nodes if one.get("state") in UP}
    hosts = len(everyone) // max(slices, 1)
    missing = tuple(node for node in everyone if node // max(hosts, 1) not in up)
    return Observation(seen=Seen.RUNNING, missing=missing, up_at=_up_at(nodes))


def _up_at(nodes: Iterable[Document]) -> float | None:
    """Cloud TPU does not say since when slices are paid for: not for longer than they are there."""
    made = [str(one["createTime"]) for one in nodes if "createTime" in one]
    return datetime.fromisoformat(min(made)).timestamp() if made else None


def _failed(queued: Document) -> Observation:
    """It never had a machine, or has none any more."""
    error = ((queued.get("state") or {}).get("failedData") or {}).get("error") or {}
    message = str(error.get("message", "")) or "Cloud TPU could not make it"
    refused = OutOfStock.code if error.get("code") == EXHAUSTED else ""
    if "quota" in message.lower():
        refused = QuotaExceeded.code
    return Observation(seen=Seen.GONE, reason=message, refused=refused)


def _slice_count(queued: Document) -> int:
    count = 0
    for spec in (queued.get("tpu") or {}).get("nodeSpec") or []:
        several = spec.get("multisliceParams") or spec.get("multiNodeParams") or {}
        count += int(several.get("nodeCount", 1))
    return count


def _slice_number(node: Document) -> int:
    number = name_of(node).rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _first_node(queued: Document) -> Document:
    specs: list[Document] = (queued.get("tpu") or {}).get("nodeSpec") or [{}]
    return specs[0].get("node") or {}
