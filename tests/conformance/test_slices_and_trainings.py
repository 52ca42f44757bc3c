"""Slices and custom trainings on the twin, really run: who is which node, and who ends what."""

from __future__ import annotations

import json

import pytest

from conformance.engines import BENCHES
from conformance.google_bench import session_twin, stop_twin
from windlass.agent import layout
from windlass.catalog.load import load_catalog
from windlass.engines.base import Seen
from windlass.twin.server import control
from windlass.twin.server.owner import ask

TOLD = "echo $WINDLASS_NODE of $WINDLASS_NODES"


@pytest.fixture(scope="module", autouse=True)
def twin():
    yield session_twin()
    stop_twin()


@pytest.fixture
def slices(tmp_path):
    bench = BENCHES["tpu"](tmp_path)
    yield bench
    bench.close()


@pytest.fixture
def trainings(tmp_path):
    bench = BENCHES["vertex"](tmp_path)
    yield bench
    bench.close()


def fault(**what):
    home = session_twin().home
    return ask(home, control.running_or_refuse(home), "faults", what)


def heartbeats(bench, claim_id: str, nodes: int):
    folder = bench.folder(claim_id.rsplit("-", 2)[0])
    found = [folder.read(layout.heartbeat(1, claim_id, node)) for node in range(nodes)]
    return [json.loads(beat) for beat in found if beat is not None]


def test_hosts_of_a_slice_are_nodes_in_order(slices):
    claim = slices.claim("hosts-1-0", TOLD, nodes=2, offer="us-central2-b/v4-16/spot")
    handle = slices.submit(claim)
    slices.wait(handle, Seen.GONE)
    assert slices.output("hosts-1-0", node=0) == "0 of 2\n"
    assert slices.output("hosts-1-0", node=1) == "1 of 2\n"
    assert [beat["host"][-3:] for beat in heartbeats(slices, "hosts-1-0", 2)] == ["w-0", "w-1"]


def test_ranks_of_several_slices_know_theirs(slices):
    command = f"{TOLD}, slice $MEGASCALE_SLICE_ID of $MEGASCALE_NUM_SLICES, $PJRT_DEVICE"
    claim = slices.claim("several-1-0", command, nodes=4, offer="us-central2-b/v4-16/spot")
    slices.wait(slices.submit(claim), Seen.GONE)
    assert slices.output("several-1-0", node=0) == "0 of 4, slice 0 of 2, TPU\n"
    assert slices.output("several-1-0", node=3) == "3 of 4, slice 1 of 2, TPU\n"


def test_a_worker_deletes_its_queued_resource_when_the_claims_time_is_over(slices):
    now = slices.world.clock.now()
    claim = slices.claim("late-1-0", "sleep 100", made_at=now - 57, expires_at=now + 3)
    handle = slices.submit(claim)
    slices.wait(handle, Seen.RUNNING)
    slices.wait(handle, Seen.GONE)
    assert slices.world.clock.now() > now + 3
    assert slices.engine.owned() == []


def test_slices_that_are_taken_back_are_told_and_deleted_by_their_first_worker(slices):
    command = "trap 'echo told; exit 75' TERM; echo up; while :; do sleep 0.05; done"
    claim = slices.claim("taken-1-0", command)
    handle = slices.submit(claim)
    slices.until(lambda: "up" in slices.output("taken-1-0"))
    fault(preempt="w-taken-1-0-0")
    slices.wait(handle, Seen.GONE)
    assert "told" in slices.output("taken-1-0")
    assert slices.exit("taken-1-0")["outcome"] == "preempted"


def test_what_waits_for_slices_is_pending_and_can_be_cancelled(slices):
    fault(stockout="v5litepod-4", zone="us-east1-c", **{"for": "5m"})
    claim = slices.claim("waits-1-0", "true", offer="us-east1-c/v5e-4/spot")
    handle = slices.submit(claim)
    assert slices.look(handle).seen is Seen.PENDING
    assert "queue" in slices.look(handle).reason
    slices.engine.cancel(handle)
    slices.wait(handle, Seen.GONE)


def test_replicas_are_nodes_in_order_and_reach_each_other(trainings):
    command = f"{TOLD}; getent hosts $MASTER_ADDR >/dev/null"
    handle = trainings.submit(trainings.claim("pair-1-0", command, nodes=2))
    trainings.wait(handle, Seen.GONE)
    assert trainings.output("pair-1-0", node=0) == "0 of 2\n"
    assert trainings.output("pair-1-0", node=1) == "1 of 2\n"
    assert trainings.exit("pair-1-0", node=1)["outcome"] == "succeeded"


def test_hosts_of_a_slice_on_vertex_ai_are_nodes_in_order(trainings):
    claim = trainings.claim("slice-1-0", TOLD, nodes=4, offer="us-central1-a/v5e-16/on-demand")
    trainings.wait(trainings.submit(claim), Seen.GONE)
    assert [trainings.output("slice-1-0", node=node) for node in (0, 3)] == ["0 of 4\n", "3 of 4\n"]


def test_a_training_ends_itself_when_the_claims_time_is_over(trainings):
    now = trainings.world.clock.now()
    claim = trainings.claim("late-1-0", "sleep 100", made_at=now - 57, expires_at=now + 3)
    handle = trainings.submit(claim)
    trainings.wait(handle, Seen.RUNNING)
    trainings.wait(handle, Seen.GONE)
    assert trainings.exit("late-1-0")["outcome"] == "preempted"


def test_a_preempted_training_is_gone_and_was_told(trainings):
    command = "trap 'echo told; exit 75' TERM; echo up; while :; do sleep 0.05; done"
    handle = trainings.submit(trainings.claim("taken-1-0", command))
    trainings.until(lambda: "up" in trainings.output("taken-1-0"))
    fault(preempt="windlass-claim=taken-1-0")
    observation = trainings.wait(handle, Seen.GONE)
    assert observation.refused == ""
    assert "told" in trainings.output("taken-1-0")


def test_a_training_without_stock_is_refused_and_says_why(trainings):
    zones = [zone for zone in load_catalog().zones if zone.startswith("us-west4-")]
    for zone in zones:
        fault(stockout="g2-standard-4", zone=zone, **{"for": "5m"})
    offer = "us-west4-a/g2-standard-4/spot"
    handle = trainings.submit(trainings.claim("none-1-0", "true", offer=offer))
    observation = trainings.wait(handle, Seen.GONE)
    assert observation.refused == "out-of-stock"
    assert "insufficient" in observation.reason
    lines = trainings.engine.early_lines(handle, most=9)
    assert any("insufficient" in line for line in lines)
