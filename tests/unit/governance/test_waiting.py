"""Operations are followed to their end, and their errors are ours."""

from __future__ import annotations

import pytest

from doors import PROJECT, House
from houses import session_of
from windlass.errors import EngineTransient, OutOfStock
from windlass.google.compute import Compute
from windlass.governance.waiting import LONGEST_S, Waiting
from windlass.twin.settings import GOOGLE_LIKE


def test_time_passes_until_it_is_done():
    house, paused = House(delays=GOOGLE_LIKE), []
    compute = Compute(session_of(house), PROJECT)
    _, operation = house.insert_vm("vm-1")

    def pause(seconds: float) -> None:
        paused.append(seconds)
        house.pass_time(seconds)

    Waiting(compute, pause).until_done("zones/us-central1-a", operation, what="making vm-1")
    assert paused == sorted(paused)
    assert compute.get("zones/us-central1-a", "instances", "vm-1")["status"] == "RUNNING"


def test_what_never_ends_is_given_up():
    house, paused = House(delays=GOOGLE_LIKE), []
    _, operation = house.insert_vm("vm-1")
    waiting = Waiting(Compute(session_of(house), PROJECT), paused.append)
    with pytest.raises(EngineTransient, match="has not done it"):
        waiting.until_done("zones/us-central1-a", operation, what="making vm-1")
    assert LONGEST_S <= sum(paused) < LONGEST_S + 10


def test_an_operation_that_failed_is_an_error_of_ours():
    error = {"errors": [{"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "no"}]}
    waiting = Waiting(Compute(session_of(House()), PROJECT), lambda seconds: None)
    with pytest.raises(OutOfStock):
        waiting.until_done("global", {"status": "DONE", "error": error}, what="making it")
