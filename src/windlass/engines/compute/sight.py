"""What the states of a claim's machines, and of what was made with them, mean for the claim.

Must not ask anything of Google. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from windlass.engines.base import Observation, Seen
from windlass.engines.compute.naming import node_count
from windlass.errors import CapacityError
from windlass.google.compute import operation_errors
from windlass.google.refusals import operation_error

COMING = frozenset({"PENDING", "PROVISIONING", "STAGING"})
UP = frozenset({"RUNNING", "REPAIRING"})
ABSENT = ""
QUEUED = frozenset({"CREATING", "ACCEPTED"})

Document = Mapping[str, Any]


def of_machines(instances: Iterable[Document]) -> Observation:
    """A claim that has machines. One that is stopping or off is still there: it is missed, and has
    to be deleted. One that is not there may yet come while others do."""
    machines = list(instances)
    found = {_node(one): str(one.get("status")) for one in machines}
    if all(status in COMING for status in found.values()):
        return Observation(seen=Seen.PENDING, reason="its machines are being made")
    is_coming = any(status in COMING for status in found.values())
    fine = {*COMING, *UP, *([ABSENT] if is_coming else [])}
    nodes = max(max(found) + 1, *map(node_count, machines))
    missing = tuple(node for node in range(nodes) if found.get(node, ABSENT) not in fine)
    return Observation(seen=Seen.RUNNING, missing=missing, up_at=_up_at(machines))


def _up_at(machines: Iterable[Document]) -> float | None:
    """When the first of them began to cost; None when no time is said."""
    starts = (str(one.get("lastStartTimestamp") or "") for one in machines)
    return min((_moment(start) for start in starts if start), default=None)


def _moment(stamp: str) -> float:
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def of_queue(resize: Document | None) -> Observation:
    """A claim without machines whose group is there: it waits, it was refused, or it is over."""
    state = str(resize.get("state")) if resize is not None else "CREATING"
    status = (resize or {}).get("status") or {}
    if state in QUEUED:
        errors = operation_errors(status.get("lastAttempt") or {})
        why = str(errors[0].get("message", "")) if errors else ""
        return Observation(seen=Seen.PENDING, reason=why or "it is in Google's queue")
    return of_refusal(status)


def of_refusal(operation: Document) -> Observation:
    """A claim that has nothing, and what was last said about it."""
    errors = operation_errors(operation)
    if not errors:
        return Observation(seen=Seen.GONE)
    error = operation_error(errors, what="asking for machines")
    refused = error.code if isinstance(error, CapacityError) else ""
    return Observation(seen=Seen.GONE, reason=error.message, refused=refused)


def _node(instance: Document) -> int:
    number = str(instance["name"]).rpartition("-")[2]
    return int(number) if number.isdecimal() else 0
