"""The compute engine over the twin: what is made with machines, what waits, what is left."""

from __future__ import annotations

import json

import pytest

from renters import CATALOG, Renter
from windlass.engines.base import Handle, Seen
from windlass.engines.compute.engine import REPEATABLE_S, ComputeEngine
from windlass.engines.rendering import Renders
from windlass.errors import EngineRejected
from windlass.google.compute import Compute

PROJECT = "twin-project"
ROOT = f"/compute/v1/projects/{PROJECT}"
GANG = "us-central1-a/g2-standard-4/spot"
FLEX = "us-central1-a/a2-highgpu-1g/flex-start"
DENSE = "us-central1-b/a3-ultragpu-8g/flex-start"


@pytest.fixture
def renter(tmp_path):
    def make(session, marks):
        return ComputeEngine(
            Compute(session, PROJECT),
            catalog=CATALOG,
            marks=marks,
            agent_url=lambda: "gs://runs/agent.pyz",
            defaults={},
        )

    return Renter(make, tmp_path, name="compute", offer=GANG)


def names(renter, collection: str) -> list[str]:
    answer = renter.house.send("GET", "compute.googleapis.com", f"{ROOT}/aggregated/{collection}")
    scopes = json.loads(answer.content).get("items", {}).values()
    return sorted(one["name"] for scope in scopes for one in scope.get(collection, ()))


def left(renter) -> list[str]:
    kinds = ("instances", "instanceGroupManagers", "instanceTemplates", "resourcePolicies")
    return [name for kind in kinds for name in names(renter, kind)]


def test_a_gang_is_made_with_its_policy_and_both_are_gone_after_the_second_cancel(renter):
    handle = renter.submit(renter.claim(nodes=2))
    assert left(renter) == ["w-r-1-0-0", "w-r-1-0-1", "w-r-1-0"]
    assert renter.look(handle).seen is Seen.RUNNING
    renter.engine.cancel(handle, now=True)
    assert renter.look(handle).seen is Seen.GONE
    assert [owned.handle for owned in renter.engine.owned()] == [handle]
    renter.engine.cancel(handle)
    assert left(renter) == []
    assert renter.engine.owned() == []


def test_an_answer_that_is_lost_is_asked_for_again_and_nothing_is_made_twice(renter):
    renter.lost = {"POST"}
    renter.submit(renter.claim(nodes=2))
    assert left(renter) == ["w-r-1-0-0", "w-r-1-0-1", "w-r-1-0"]


def test_a_crash_after_the_ask_is_mended_by_the_next_submit(renter):
    claim = renter.claim(nodes=2)
    handle = renter.submit(claim)
    renter.folder("gs://runs/r").delete("attempts/1/r-1-0/compute.json")
    assert renter.submit(claim) == handle
    assert len(names(renter, "instances")) == 2


def test_a_late_submit_of_what_is_gone_starts_nothing(renter):
    claim = renter.claim(nodes=2)
    handle = renter.submit(claim)
    renter.engine.cancel(handle, now=True)
    renter.engine.cancel(handle)
    assert renter.submit(claim) == handle
    assert left(renter) == []


def test_a_submit_that_hung_until_its_policy_was_deleted_starts_nothing(renter):
    engine, request = renter.engine, renter.engine.render(renter.claim(nodes=2))
    policy = request.inserts[0]
    engine._insert(request, policy)
    engine._google.delete(policy.scope, policy.collection, policy.body["name"])
    handle = engine.submit(request)
    assert left(renter) == []
    assert renter.look(handle).seen is Seen.GONE


def half_made(renter):
    """A flex-start claim whose controller died between its group and the request that fills it."""
    request = renter.engine.render(renter.claim(offer=FLEX))
    renter.engine._marks.of(request.folder, request.attempt, request.claim)
    for insert in request.inserts[:-1]:
        renter.engine._insert(request, insert)
    return request


def test_a_group_that_was_never_asked_to_grow_does_not_wait_for_ever(renter):
    request = half_made(renter)
    renter.house.clock.at += REPEATABLE_S + 1
    handle = renter.engine.submit(request)
    assert names(renter, "instanceGroupManagers") == []
    assert renter.look(handle).seen is Seen.GONE


def test_a_group_that_was_asked_to_grow_stays_though_nobody_heard_the_answer(renter):
    request = half_made(renter)
    renter.engine._insert(request, request.inserts[-1])
    renter.house.clock.at += REPEATABLE_S + 1
    handle = renter.engine.submit(request)
    assert len(names(renter, "instanceGroupManagers")) == 1
    assert renter.look(handle).seen is Seen.RUNNING


def test_what_names_something_that_is_not_there_is_refused_for_good(renter):
    image = f"projects/{PROJECT}/global/images/nobody-has-made-it"
    with pytest.raises(EngineRejected, match="nobody-has-made-it"):
        renter.submit(renter.claim(options={"image": image}))


@pytest.mark.parametrize("offer", [FLEX, DENSE], ids=["anywhere", "close together"])
def test_flex_start_is_a_group_whose_machines_are_numbered_and_that_goes_with_them(renter, offer):
    handle = renter.submit(renter.claim(nodes=2, offer=offer, options={"gpudirect": False}))
    assert names(renter, "instances") == ["w-r-1-0-0", "w-r-1-0-1"]
    assert renter.look(handle).seen is Seen.RUNNING
    assert [owned.handle for owned in renter.engine.owned()] == [handle]
    for _ in range(3):
        renter.engine.cancel(handle, now=True)
    assert renter.look(handle).seen is Seen.GONE
    assert left(renter) == []


def test_what_cannot_be_looked_at_is_unknown_and_not_gone(renter):
    handle = renter.submit(renter.claim())
    renter.is_cut = True
    assert renter.look(handle).seen is Seen.UNKNOWN


def test_it_can_be_shown_in_other_words(renter):
    engine = renter.engine
    assert isinstance(engine, Renders)
    request = engine.render(renter.claim(nodes=2))
    policy, machines = engine.calls(request)
    assert policy.url.endswith("/resourcePolicies")
    assert machines.method == "POST"
    assert "gcloud compute instances bulk create" in engine.gcloud(request)
    assert 'resource "google_compute_instance" "run"' in engine.terraform(request)


class Printer:
    """Machines that have printed something."""

    def console(self, machine_id, start=0):
        return "".join(f"line {number}\n" for number in range(5000)).encode()[start:]


def test_the_ends_of_consoles_are_what_machines_said_early(renter):
    handle = renter.submit(renter.claim(nodes=2))
    assert renter.engine.early_lines(handle, most=4) == []
    renter.house.twin.compute.routes(Printer())
    assert renter.engine.early_lines(handle, most=4) == [
        f"w-r-1-0-{node}: line {line}" for node in (0, 1) for line in (4998, 4999)
    ]
    assert renter.engine.early_lines(Handle("us-central1-a/none-1-0"), most=4) == []
