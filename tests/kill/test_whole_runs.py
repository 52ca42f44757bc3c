"""Runs on slices and on Vertex AI, from `windlass run` to nothing left, really carried out."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from counts import REHEARSALS
from rehearsals import real_machines
from whole_runs import STEPS, Cloud, cloud
from windlass.engines.rented import NOTICE_S

pytestmark = pytest.mark.usefixtures("real_machines")
__all__ = ["real_machines"]
only_in_soak = pytest.mark.skipif(REHEARSALS == 1, reason="a longer check: `make soak` does it")

SOON_S = 12.0


def told(google: Cloud, wanted: str) -> str:
    """What `windlass explain` says, as soon as that is in it."""
    run = next(one["id"] for one in google.said if one["type"] == "run")
    deadline = time.monotonic() + SOON_S
    while wanted not in (said := google.typed("explain", run)):
        assert time.monotonic() < deadline, said
    return said


def assert_it_went_on(google: Cloud, summary: dict[str, Any]) -> None:
    """After one preemption, from the checkpoint that was saved when the notice came."""
    assert summary["phase"] == "succeeded" and summary["restarts"] == 1
    assert summary["report"]["steps"] == STEPS and summary["report"]["steps_lost"] == 0
    assert summary["report"]["cost"]["usd"] > 0
    (preempted,) = google.events("preempted")
    assert f"was taken away with {NOTICE_S:.0f} s of notice" in preempted["message"]
    assert "from the checkpoint of step" in google.events("starting")[1]["message"]


def test_a_slice_that_is_taken_back_is_asked_for_again_and_goes_on(tmp_path: Path) -> None:
    """Four hosts, on spot."""
    with cloud(tmp_path) as google:
        summary = google.run(
            preempt_at=10,
            resources={"accelerators": "v5e-16"},
            where={"engines": ["tpu"], "buy": ["spot"]},
        )
        assert_it_went_on(google, summary)
        given = google.environments()
        assert sorted(given) == [(attempt, rank) for attempt in (1, 2) for rank in range(4)]
        for env in given.values():
            assert (env["WINDLASS_NODES"], env["PJRT_DEVICE"]) == ("4", "TPU")
            assert not any(name.startswith("MEGASCALE_") for name in env)
        google.await_nothing()


def test_spot_replicas_that_are_taken_back_are_asked_for_again_and_go_on(tmp_path: Path) -> None:
    """A custom training of two replicas."""
    with cloud(tmp_path) as google:
        summary = google.run(
            preempt_at=10,
            resources={"accelerators": "L4", "nodes": 2},
            where={"engines": ["vertex"], "regions": ["us-central1", "us-east1"], "buy": ["spot"]},
        )
        assert_it_went_on(google, summary)
        given = google.environments()
        assert sorted(given) == [(1, 0), (1, 1), (2, 0), (2, 1)]
        assert len({env["CLOUD_ML_JOB_ID"] for env in given.values()}) == 2, "Vertex restarts none"
        google.await_nothing()


@only_in_soak
@pytest.mark.soak
def test_slices_that_work_together_are_taken_back_together_and_go_on(tmp_path: Path) -> None:
    with cloud(tmp_path) as google:
        summary = google.run(
            preempt_at=10,
            resources={"accelerators": "v5e-16", "nodes": 2},
            where={"engines": ["tpu"], "buy": ["spot"]},
        )
        assert_it_went_on(google, summary)
        given = google.environments()
        assert sorted(given) == [(attempt, rank) for attempt in (1, 2) for rank in range(8)]
        for (_, rank), env in given.items():
            assert (env["MEGASCALE_NUM_SLICES"], env["MEGASCALE_SLICE_ID"]) == ("2", str(rank // 4))
            assert (env["WINDLASS_NODES"], env["PJRT_DEVICE"]) == ("8", "TPU")
        coordinators = {env["MEGASCALE_COORDINATOR_ADDRESS"] for env in given.values()}
        assert len(coordinators) == 2, "one for each attempt"
        google.await_nothing()


MEETING = """
import os, sys, types, urllib.request
os.environ["JAX_PLATFORMS"] = "cpu"
def get(url, headers, timeout):
    answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout)
    return types.SimpleNamespace(text=answer.read().decode(), status_code=answer.status)
sys.modules["requests"] = types.SimpleNamespace(get=get)  # All that JAX needs of it.
from jax._src.clusters import cloud_tpu_cluster
cloud_tpu_cluster.running_in_cloud_tpu_vm = True  # It goes by libtpu, which is not here.
import jax
os.environ.pop("TPU_SKIP_MDS_QUERY", None)  # Set by it, for the same reason.
jax.distributed.initialize()
print(f"joined {jax.process_index()} of {jax.process_count()}, {os.environ['WINDLASS_RANK']}")
"""


@only_in_soak
@pytest.mark.soak
@pytest.mark.parametrize("launch", ["jax", "plain"])
def test_jax_finds_the_gang_of_two_slices_by_itself(tmp_path: Path, launch: str) -> None:
    """By what Cloud TPU says of slices and hosts; with `launch: jax` ours names the coordinator."""
    pytest.importorskip("jax")
    with cloud(tmp_path) as google:
        google.run(
            program=MEETING,
            launch=launch,
            resources={"accelerators": "v5e-16", "nodes": 2},
            where={"engines": ["tpu"], "buy": ["spot"]},
        )
        said = [one["text"] for one in google.said if one["type"] == "log"]
        joined = sorted(text for text in said if text.startswith("joined"))
        assert joined == [f"joined {rank} of 8, {rank}" for rank in range(8)]
        google.await_nothing()


SLOWER = {
    "one host": ({"accelerators": "v5e-8"}, {"engines": ["gcp"], "buy": ["on-demand"]}, 1),
    "flex-start slice": (
        {"accelerators": "v6e-1", "nodes": 2},
        {"engines": ["tpu"], "buy": ["flex-start"]},
        2,
    ),
    "flex-start replicas": (
        {"accelerators": "A100-80", "nodes": 2},
        {"engines": ["vertex"], "buy": ["flex-start"]},
        2,
    ),
}


@only_in_soak
@pytest.mark.soak
@pytest.mark.parametrize(("resources", "where", "ranks"), SLOWER.values(), ids=SLOWER)
def test_other_ways_to_rent_run_to_their_end(
    tmp_path: Path, resources: dict[str, object], where: dict[str, object], ranks: int
) -> None:
    with cloud(tmp_path) as google:
        summary = google.run(resources=resources, where=where)
        assert (summary["phase"], summary["report"]["steps"]) == ("succeeded", STEPS)
        assert len(google.environments()) == ranks
        google.await_nothing()


@only_in_soak
@pytest.mark.soak
def test_a_queue_that_does_not_move_keeps_no_slice_waiting(tmp_path: Path) -> None:
    """The first zone is closed to spot: the run works in the next one, and leaves the queue."""
    full, free = "us-central1-a/v5e-16/spot", "europe-west4-a/v5e-16/spot"
    capacity = [{"zone": "us-central1-a", "what": "v5e", "model": "spot", "room": 0}]
    regions = ["us-central1", "europe-west4"]
    wanted = {"starting": "the next offer is asked for beside it after", "queueing": f"it {free}"}
    explained: dict[str, str] = {}
    with cloud(tmp_path, capacity=capacity, delays={"tpu": "15s"}) as google:

        def ask(said: dict[str, Any]) -> None:
            if said["type"] == "event" and said["code"] in wanted:
                explained[said["code"]] = told(google, wanted[said["code"]])

        summary = google.run(
            watch=ask,
            resources={"accelerators": "v5e-16"},
            where={"engines": ["tpu"], "buy": ["spot"], "regions": regions},
        )
        assert (summary["phase"], summary["restarts"]) == ("succeeded", 0)
        place = rf"It is in Cloud TPU's queue: .* \({full} since [0-9:]+ UTC\)"
        assert re.search(place, explained["starting"])
        assert re.search(rf"{place}; beside it {free} since [0-9:]+ UTC\.", explained["queueing"])
        assert "-1-0: WAITING_FOR_RESOURCES" in explained["queueing"]
        assert free in google.events("running")[0]["message"]
        assert google.events("race-lost")[0]["details"] == {"offer": full}
        google.await_nothing()
