"""What states of machines and of resize requests mean."""

from __future__ import annotations

import pytest

from windlass.engines.base import Seen
from windlass.engines.compute.sight import of_machines, of_queue


def machine(node: int, status: str, *, of: int = 0) -> dict:
    told = {"items": [{"key": "windlass-nodes", "value": str(of)}]}
    return {"name": f"w-r-1-0-{node}", "status": status, "metadata": told}


def errors(code: str, message: str = "") -> dict:
    return {"error": {"errors": [{"code": code, "message": message}]}}


@pytest.mark.parametrize(
    ("statuses", "seen", "missing"),
    [
        (["STAGING", "PROVISIONING"], Seen.PENDING, ()),
        (["PENDING"], Seen.PENDING, ()),
        (["RUNNING", "STAGING"], Seen.RUNNING, ()),
        (["RUNNING", "STOPPING"], Seen.RUNNING, (1,)),
        (["TERMINATED", "RUNNING"], Seen.RUNNING, (0,)),
    ],
)
def test_machines_that_are_not_up_are_missed(statuses, seen, missing):
    found = of_machines([machine(node, status) for node, status in enumerate(statuses)])
    assert (found.seen, found.missing) == (seen, missing)


def test_a_machine_that_is_not_there_is_missed():
    assert of_machines([machine(2, "RUNNING"), machine(0, "RUNNING")]).missing == (1,)


def test_the_last_one_is_missed_too():
    assert of_machines([machine(0, "RUNNING", of=2)]).missing == (1,)


def test_one_that_has_yet_to_come_is_not_missed():
    coming = [machine(0, "RUNNING", of=3), machine(1, "STAGING", of=3)]
    assert of_machines(coming).missing == ()


@pytest.mark.parametrize(
    ("resize", "seen", "refused"),
    [
        (None, Seen.PENDING, ""),
        ({"state": "CREATING"}, Seen.PENDING, ""),
        ({"state": "ACCEPTED"}, Seen.PENDING, ""),
        ({"state": "SUCCEEDED"}, Seen.GONE, ""),
        ({"state": "CANCELLED"}, Seen.GONE, ""),
        (
            {"state": "FAILED", "status": errors("ZONE_RESOURCE_POOL_EXHAUSTED")},
            Seen.GONE,
            "out-of-stock",
        ),
        ({"state": "FAILED", "status": errors("QUOTA_EXCEEDED")}, Seen.GONE, "quota-exceeded"),
        ({"state": "FAILED", "status": errors("OTHER", "no")}, Seen.GONE, ""),
    ],
)
def test_a_claim_without_machines_waits_was_refused_or_is_over(resize, seen, refused):
    found = of_queue(resize)
    assert (found.seen, found.refused) == (seen, refused)


def test_why_it_waits_is_in_googles_words():
    status = {"lastAttempt": errors("ZONE_RESOURCE_POOL_EXHAUSTED", "not enough of them")}
    assert of_queue({"state": "ACCEPTED", "status": status}).reason == "not enough of them"
