"""The tpu engine over the twin: what is asked once is never asked twice."""

from __future__ import annotations

import pytest

from renters import CATALOG, Renter
from windlass.engines.base import Handle, Seen
from windlass.engines.tpu.engine import TpuEngine
from windlass.errors import EngineTransient, QuotaExceeded
from windlass.google.tpu import Tpu

PROJECT = "twin-project"
URL = f"/v2/projects/{PROJECT}/locations/us-central1-a/queuedResources"


@pytest.fixture
def renter(tmp_path):
    def make(session, marks):
        return TpuEngine(
            Tpu(session, PROJECT),
            catalog=CATALOG,
            marks=marks,
            agent_url=lambda: "gs://runs/agent.pyz",
            defaults={},
        )

    return Renter(make, tmp_path, name="tpu", offer="us-central1-a/v5e-4/spot")


def test_an_answer_that_is_lost_is_asked_for_again_and_nothing_is_made_twice(renter):
    renter.lost = {"POST"}
    handle = renter.submit(renter.claim())
    assert renter.asked.count("POST") == 2
    assert [owned.handle for owned in renter.engine.owned()] == [handle]
    assert renter.look(handle).seen is Seen.RUNNING


def test_a_crash_after_the_ask_is_mended_by_the_next_submit(renter):
    claim = renter.claim()
    handle = renter.submit(claim)
    renter.folder("gs://runs/r").delete("attempts/1/r-1-0/tpu.json")
    assert renter.submit(claim) == handle
    assert len(renter.engine.owned()) == 1


def test_a_late_submit_of_what_is_gone_starts_nothing(renter):
    claim = renter.claim()
    handle = renter.submit(claim)
    renter.engine.cancel(handle)
    assert renter.look(handle).seen is Seen.GONE
    assert renter.submit(claim) == handle
    assert renter.engine.owned() == []


def test_a_name_that_somebody_else_has_is_tried_again_later(renter):
    body = {
        "tpu": {
            "nodeSpec": [
                {
                    "parent": f"projects/{PROJECT}/locations/us-central1-a",
                    "nodeId": "other",
                    "node": {"acceleratorType": "v5litepod-4", "runtimeVersion": "tpu-vm-base"},
                }
            ]
        }
    }
    path = f"{URL}?queuedResourceId=w-r-1-0"
    assert renter.house.send("POST", "tpu.googleapis.com", path, body).status == 200
    with pytest.raises(EngineTransient):
        renter.submit(renter.claim())
    assert renter.engine.owned() == []


def test_what_cannot_be_looked_at_is_unknown_and_not_gone(renter):
    handle = renter.submit(renter.claim())
    renter.is_cut = True
    observation = renter.look(handle)
    assert observation.seen is Seen.UNKNOWN
    assert "the network is down" in observation.reason


def test_zones_are_looked_at_once_each(renter):
    handles = [renter.submit(renter.claim(f"r{number}-1-0")) for number in range(5)]
    renter.asked.clear()
    seen = renter.engine.observe(handles)
    assert {observation.seen for observation in seen.values()} == {Seen.RUNNING}
    assert renter.asked == ["GET", "GET"]


def test_a_request_over_quota_is_refused_for_good_and_left_to_be_reaped(renter):
    metric = CATALOG.offer("us-central1-a/v5e-4/spot").quota_metric
    renter.house.twin.quotas.set_limit("us-central1-a", metric, 0)
    handle = renter.submit(renter.claim())
    observation = renter.look(handle)
    assert (observation.seen, observation.refused) == (Seen.GONE, QuotaExceeded.code)
    assert [owned.handle for owned in renter.engine.owned()] == [handle]
    renter.engine.cancel(handle)
    assert renter.engine.owned() == []


def test_cancelling_at_once_tells_agents_so(renter):
    handle = renter.submit(renter.claim())
    renter.engine.cancel(handle, now=True)
    assert renter.folder("gs://runs/r/attempts/1/r-1-0").read("hurry.json") == b"{}"


def test_the_inventory_counts_what_is_ours(renter):
    renter.submit(renter.claim())
    assert renter.engine.inventory() == {"project": PROJECT, "queued resources of ours": "1"}


def test_how_slices_are_is_what_is_known_before_agents_are_up(renter):
    handle = renter.submit(renter.claim())
    lines = renter.engine.early_lines(handle, most=9)
    assert lines == ["w-r-1-0: ACTIVE", "w-r-1-0-0: READY, HEALTHY"]
    assert renter.engine.early_lines(Handle("us-central1-a/none-1-0"), most=9) == []
