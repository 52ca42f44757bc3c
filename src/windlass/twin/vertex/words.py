"""What Vertex AI says when it refuses, and when a training fails.

Must not decide that something has failed. Words are Google's where people have published them; of
timeouts and preemptions nobody has, so these two are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from windlass.twin.refusals import Refusal

CANCELLED, INVALID, DEADLINE, EXHAUSTED, INTERNAL = 1, 3, 4, 8, 13
"""Codes of google.rpc.Status."""

Status = dict[str, Any]


def found_errors(errors: Sequence[tuple[str, str]]) -> Refusal:
    """All that is wrong with a body: fields, and what is wrong with each."""
    lines = [f"{at}.Field: {field}; Message: {why}" for at, (field, why) in enumerate(errors, 1)]
    detail = {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": field, "description": why} for field, why in errors],
    }
    message = "List of found errors:\t" + "\t".join(lines) + "\t"
    return Refusal(400, message, reason="badRequest", details=[detail])


def not_found(kind: str) -> Refusal:
    """As Google refuses it: without its name."""
    return Refusal(404, f"The {kind} does not exist.")


def over_quota(metrics: Iterable[str]) -> Refusal:
    """At once, by metric."""
    names = ", ".join(f"aiplatform.googleapis.com/{metric}" for metric in metrics)
    return Refusal(429, f"The following quota metrics exceed quota limits: {names}")


def not_in_state(kind: str, name: str, *, state: str, verb: str) -> Refusal:
    """What cannot be done in this state."""
    message = f"The {kind} {name} is in state {state} and cannot be {verb}."
    return Refusal(400, message, status="FAILED_PRECONDITION")


def out_of_stock(region: str, *, has_accelerator: bool) -> Status:
    """No zone of the region has room."""
    instead = " or use a different accelerator" if has_accelerator else ""
    message = (
        f"Resources are insufficient in region: {region}. Please try a different region{instead}."
    )
    return {"code": EXHAUSTED, "message": message}


def exited(replica: str, status: int, *, number: str, training_id: str) -> Status:
    """The program of a replica has failed."""
    query = f'resource.type="ml_job"\nresource.labels.job_id="{training_id}"'
    link = (
        f"https://console.cloud.google.com/logs/viewer?project={number}"
        f"&resource=ml_job%2Fjob_id%2F{training_id}&advancedFilter={quote(query, safe='')}"
    )
    message = (
        f"The replica {replica} exited with a non-zero status of {status}. To find out more about "
        f"why your job exited please check the logs: {link}"
    )
    return {"code": INVALID, "message": message}


def preempted(replica: str, region: str) -> Status:
    """A Spot VM was taken back and there are no more retries: Google calls that a stockout."""
    message = (
        f"Resources are insufficient in region: {region}. STOCKOUT: the Spot VM of the replica "
        f"{replica} was preempted."
    )
    return {"code": EXHAUSTED, "message": message}


def host_failed(replica: str) -> Status:
    """A host died and there are no more retries."""
    message = f"Internal error occurred for the current attempt: the VM of {replica} was lost."
    return {"code": INTERNAL, "message": message}


def timed_out(seconds: float) -> Status:
    """It ran for longer than its timeout."""
    return {"code": DEADLINE, "message": f"The job has exceeded its timeout of {seconds:.0f}s."}
