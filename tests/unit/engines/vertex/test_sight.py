"""What the states of custom trainings mean for a claim."""

from __future__ import annotations

import pytest

from windlass.engines.base import Observation, Seen
from windlass.engines.vertex.sight import PATIENCE_S, folder_of, is_live, seen


def training(state: str, *, at: str = "2026-01-01T00:00:00Z", **fields):
    return {"state": f"JOB_STATE_{state}", "createTime": at, **fields}


def failed(code: int, message: str, **fields):
    return training("FAILED", error={"code": code, "message": message}, **fields)


STOCKOUT = "Resources are insufficient in region: us-central1."
CASES = {
    "nothing": ([], Observation(seen=Seen.GONE)),
    "queued": (
        [training("QUEUED")],
        Observation(seen=Seen.PENDING, reason="it is in Vertex AI's queue", patience_s=PATIENCE_S),
    ),
    "pending": (
        [training("PENDING")],
        Observation(
            seen=Seen.PENDING, reason="Vertex AI is looking for its machines", patience_s=PATIENCE_S
        ),
    ),
    "running": ([training("RUNNING")], Observation(seen=Seen.RUNNING)),
    "being cancelled": ([training("CANCELLING")], Observation(seen=Seen.RUNNING)),
    "succeeded": ([training("SUCCEEDED")], Observation(seen=Seen.GONE)),
    "expired": ([training("EXPIRED")], Observation(seen=Seen.GONE)),
    "one of two lives": (
        [training("CANCELLED", at="2026-01-01T00:00:09Z"), training("RUNNING")],
        Observation(seen=Seen.RUNNING),
    ),
    "out of stock": (
        [failed(8, STOCKOUT)],
        Observation(seen=Seen.GONE, reason=STOCKOUT, refused="out-of-stock"),
    ),
    "over quota": (
        [failed(8, "The quota limit was exceeded")],
        Observation(
            seen=Seen.GONE, reason="The quota limit was exceeded", refused="quota-exceeded"
        ),
    ),
    "preempted": (
        [failed(8, STOCKOUT, startTime="2026-01-01T00:01:00Z")],
        Observation(seen=Seen.GONE, reason=STOCKOUT),
    ),
    "the container failed": (
        [failed(3, "exited with 1", startTime="2026-01-01T00:01:00Z")],
        Observation(seen=Seen.GONE, reason="exited with 1"),
    ),
    "it says when it ended": (
        [
            training("CANCELLED", endTime="1970-01-01T00:02:00Z"),
            training("SUCCEEDED", endTime="1970-01-01T00:01:00Z"),
        ],
        Observation(seen=Seen.GONE, down_at=120.0),
    ),
    "the last word is that of the newest": (
        [failed(3, "new", at="2026-01-02T00:00:00Z"), failed(3, "old")],
        Observation(seen=Seen.GONE, reason="new"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_claim_is_seen_by_its_trainings(case):
    given, expected = CASES[case]
    assert seen(given) == expected


def test_a_training_is_paid_for_since_it_started():
    given = training("RUNNING", startTime="2026-01-01T00:00:01Z")
    assert seen([given]).up_at == 1767225601.0


def test_a_training_lives_until_it_is_over():
    assert is_live(training("CANCELLING"))
    assert not is_live(training("CANCELLED"))


def test_a_training_that_tells_no_folder_has_none():
    assert folder_of(training("RUNNING")) == ""
