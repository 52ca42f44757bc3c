"""The vertex engine over the twin: what is asked once is never asked twice."""

from __future__ import annotations

import pytest

from renters import CATALOG, Renter
from windlass.engines.base import Handle, Seen
from windlass.engines.vertex.engine import VertexEngine
from windlass.errors import EngineAmbiguous, QuotaExceeded
from windlass.google.logging import Logging
from windlass.google.vertex import Vertex

PROJECT = "twin-project"


@pytest.fixture
def renter(tmp_path):
    def make(session, marks):
        return VertexEngine(
            Vertex(session, PROJECT),
            logs=Logging(session, PROJECT),
            catalog=CATALOG,
            marks=marks,
            agent_url=lambda: "gs://runs/agent.pyz",
            defaults={},
        )

    return Renter(make, tmp_path, name="vertex", offer="us-central1-a/g2-standard-4/spot")


def test_an_answer_that_is_lost_is_found_by_the_next_submit(renter):
    claim = renter.claim()
    renter.lost = {"POST"}
    with pytest.raises(EngineAmbiguous):
        renter.submit(claim)
    handle = renter.submit(claim)
    assert renter.asked.count("POST") == 1
    assert [owned.handle for owned in renter.engine.owned()] == [handle]
    assert renter.look(handle).seen is Seen.RUNNING


def test_of_two_that_were_made_for_a_claim_the_later_is_cancelled(renter):
    claim = renter.claim()
    renter.submit(claim)
    mark = "attempts/1/r-1-0/vertex.json"
    folder = renter.folder("gs://runs/r")
    request = renter.engine.render(claim)
    renter.house.clock.at += 1.0
    twice = Vertex(renter.session, PROJECT).create(request.region, request.body)
    folder.delete(mark)
    renter.submit(claim)
    path = f"/v1/{twice['name']}"
    shown = renter.house.send("GET", "us-central1-aiplatform.googleapis.com", path)
    assert b"CANCEL" in shown.content


def test_a_late_submit_of_what_is_gone_starts_nothing(renter):
    claim = renter.claim()
    handle = renter.submit(claim)
    renter.engine.cancel(handle)
    assert renter.look(handle).seen is Seen.GONE
    assert renter.submit(claim) == handle
    assert renter.engine.owned() == []


def test_what_cannot_be_looked_at_is_unknown_and_not_gone(renter):
    handle = renter.submit(renter.claim())
    renter.is_cut = True
    assert renter.look(handle).seen is Seen.UNKNOWN


def test_claims_of_a_region_are_looked_at_together(renter):
    handles = [renter.submit(renter.claim(f"r{number}-1-0")) for number in range(5)]
    renter.asked.clear()
    seen = renter.engine.observe(handles)
    assert {observation.seen for observation in seen.values()} == {Seen.RUNNING}
    assert renter.asked == ["GET"]


def test_what_is_over_quota_is_refused_at_once(renter):
    metric = "custom_model_training_preemptible_nvidia_l4_gpus"
    renter.house.twin.quotas.set_limit("us-central1", metric, 0)
    with pytest.raises(QuotaExceeded):
        renter.submit(renter.claim())


def test_cancelling_at_once_tells_agents_so(renter):
    handle = renter.submit(renter.claim())
    renter.engine.cancel(handle, now=True)
    assert renter.folder("gs://runs/r/attempts/1/r-1-0").read("hurry.json") == b"{}"


def test_what_vertex_ai_says_of_a_claim_can_be_read(renter):
    handle = renter.submit(renter.claim())
    assert any("running" in line for line in renter.engine.early_lines(handle, most=9))
    assert renter.engine.early_lines(Handle("us-central1/none-1-0"), most=9) == ()


def test_the_inventory_counts_what_is_ours(renter):
    renter.submit(renter.claim())
    assert renter.engine.inventory() == {"project": PROJECT, "custom trainings of ours": "1"}
