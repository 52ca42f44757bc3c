"""What the states of queued resources and slices mean for a claim."""

from __future__ import annotations

import pytest

from windlass.engines.base import Observation, Seen
from windlass.engines.tpu.sight import PATIENCE_S, claim_of, condition, folder_of, name_of, seen


def queued(state: str, *, slices: int = 1, hosts: int = 2, **data):
    metadata = {
        "windlass-claim": "r-1-0",
        "windlass-nodes": str(slices * hosts),
        "windlass-folder": "gs://b/r/attempts/1/r-1-0",
    }
    node = {"labels": {"windlass": "true"}, "metadata": metadata}
    specs = [{"nodeId": f"w-r-1-0-{number}", "node": node} for number in range(slices)]
    return {
        "name": "projects/p/locations/z/queuedResources/w-r-1-0",
        "state": {"state": state, **data},
        "tpu": {"nodeSpec": specs},
    }


def node(state: str, number: int = 0):
    return {"name": f"projects/p/locations/z/nodes/w-r-1-0-{number}", "state": state}


WAITS = "it is in Cloud TPU's queue: there are no such slices free"
CASES = {
    "nothing": (None, [], Observation(seen=Seen.GONE)),
    "in the queue": (
        queued("WAITING_FOR_RESOURCES"),
        [],
        Observation(seen=Seen.PENDING, reason=WAITS, patience_s=PATIENCE_S),
    ),
    "in the queue, in an older word": (
        queued("ACCEPTED"),
        [],
        Observation(seen=Seen.PENDING, reason="it is in Cloud TPU's queue", patience_s=PATIENCE_S),
    ),
    "being made": (
        queued("PROVISIONING"),
        [node("CREATING")],
        Observation(seen=Seen.PENDING, reason="its slices are being made"),
    ),
    "up": (queued("ACTIVE"), [node("READY")], Observation(seen=Seen.RUNNING)),
    "a slice is under repair": (
        queued("ACTIVE", slices=2),
        [node("READY", 0), node("REPAIRING", 1)],
        Observation(seen=Seen.RUNNING, missing=(2, 3)),
    ),
    "a slice is gone": (
        queued("ACTIVE", slices=2),
        [node("READY", 1)],
        Observation(seen=Seen.RUNNING, missing=(0, 1)),
    ),
    "being preempted": (
        queued("SUSPENDING"),
        [node("READY")],
        Observation(seen=Seen.RUNNING, reason="Google is taking its slices back"),
    ),
    "preempted": (
        queued("SUSPENDED"),
        [node("PREEMPTED")],
        Observation(seen=Seen.RUNNING, missing=(0, 1), reason="Google has taken its slices back"),
    ),
    "being deleted": (
        queued("DELETING"),
        [node("DELETING")],
        Observation(seen=Seen.RUNNING, reason="its slices are being deleted"),
    ),
    "slices that outlive their request": (
        None,
        [node("DELETING")],
        Observation(seen=Seen.RUNNING, reason="its slices are being deleted"),
    ),
    "over quota": (
        queued("FAILED", failedData={"error": {"code": 8, "message": "Quota 'X' exhausted."}}),
        [],
        Observation(seen=Seen.GONE, reason="Quota 'X' exhausted.", refused="quota-exceeded"),
    ),
    "out of stock": (
        queued("FAILED", failedData={"error": {"code": 8, "message": "no more capacity"}}),
        [],
        Observation(seen=Seen.GONE, reason="no more capacity", refused="out-of-stock"),
    ),
    "failed otherwise": (
        queued("FAILED", failedData={"error": {"code": 13, "message": "internal"}}),
        [],
        Observation(seen=Seen.GONE, reason="internal"),
    ),
    "failed, and a slice is left": (
        queued("FAILED"),
        [node("READY")],
        Observation(seen=Seen.RUNNING, missing=(0, 1), reason="it is FAILED"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_claim_is_seen_by_its_queued_resource_and_its_slices(case):
    given, nodes, expected = CASES[case]
    assert seen(given, nodes) == expected


def test_slices_are_paid_for_since_they_are_there():
    given = {**node("READY"), "createTime": "2026-01-01T00:00:01.5Z"}
    assert seen(queued("ACTIVE"), [given]).up_at == 1767225601.5


def test_a_claim_is_found_in_the_nodes_that_are_asked_for():
    assert claim_of(queued("ACTIVE")) == "r-1-0"
    assert folder_of(queued("ACTIVE")) == "gs://b/r/attempts/1/r-1-0"
    assert name_of(queued("ACTIVE")) == "w-r-1-0"


def test_other_peoples_queued_resources_are_of_no_claim():
    assert claim_of({"name": "x", "tpu": {"nodeSpec": [{"node": {"labels": {}}}]}}) == ""
    assert claim_of({"name": "x"}) == ""


def test_a_slice_tells_what_it_suffers_from():
    node = {
        "name": "projects/p/locations/z/nodes/w-r-1-0-0",
        "state": "READY",
        "health": "UNHEALTHY_TENSORFLOW",
        "healthDescription": "no heartbeat",
        "symptoms": [{"symptomType": "LOW_MEMORY", "details": "2 GiB left", "workerId": "3"}],
    }
    failed = {"name": "q", "state": {"state": "FAILED", "failedData": {"error": {"message": "no"}}}}
    assert condition(failed, [node]) == [
        "q: FAILED: no",
        "w-r-1-0-0: READY, UNHEALTHY_TENSORFLOW, no heartbeat",
        "w-r-1-0-0 worker 3: LOW_MEMORY 2 GiB left",
    ]
