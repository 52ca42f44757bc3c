"""Reaping: everything of ours is found and priced; what somebody wants is left alone."""

from __future__ import annotations

import uuid

import pytest

from builders import make_run
from doors import CATALOG, COMPUTE, PROJECT, ZONE, House
from houses import make_bucket, session_of
from windlass.engines.descriptions import described
from windlass.governance.holdings import Holding, survey
from windlass.governance.prices import Prices
from windlass.governance.reaping import Judged, Reaper, Verdict, Wish, judge, reapable
from windlass.state.phases import Outcome, RunPhase
from windlass.twin.settings import GOOGLE_LIKE

TPU = "tpu.googleapis.com"
VERTEX = "us-central1-aiplatform.googleapis.com"
REGION = f"/compute/v1/projects/{PROJECT}/regions/us-central1"
SLICES = "/v2/projects/twin-project/locations/us-west4-a"


def labels(run: str, **more: str) -> dict[str, str]:
    return {"windlass": "true", "windlass-run": run, "windlass-claim": f"{run}-1-0", **more}


class Bench:
    """A project in which much was left behind."""

    def __init__(self, folder) -> None:
        self.house = House(folder=folder, delays=GOOGLE_LIKE)
        self.session = session_of(self.house)

    def vm(self, name: str, **pairs: str) -> None:
        status, answer = self.house.insert_vm(
            name,
            machineType="g2-standard-4",
            labels=pairs,
            scheduling={"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"},
        )
        assert status == 200, answer
        self.house.pass_time(60)

    def disk(self, name: str, **pairs: str) -> None:
        kind = "zones/us-central1-a/diskTypes/pd-balanced"
        body = {"name": name, "sizeGb": "100", "type": kind, "labels": pairs}
        self.house.good("POST", COMPUTE, f"{ZONE}/disks?requestId={uuid.uuid4()}", body)

    def address(self, name: str, **pairs: str) -> None:
        self.house.good("POST", COMPUTE, f"{REGION}/addresses", {"name": name, "labels": pairs})

    def placement(self, name: str, **pairs: str) -> None:
        body = {
            "name": name,
            "description": described(pairs),
            "groupPlacementPolicy": {"collocation": "COLLOCATED"},
        }
        self.house.good("POST", COMPUTE, f"{REGION}/resourcePolicies", body)

    def queued(self, name: str, **pairs: str) -> None:
        node = {
            "acceleratorType": "v5litepod-4",
            "runtimeVersion": "v2-alpha-tpuv5-lite",
            "labels": pairs,
        }
        spec = {"parent": SLICES.removeprefix("/v2/"), "nodeId": f"{name}-0", "node": node}
        body = {"tpu": {"nodeSpec": [spec]}, "spot": {}}
        path = f"{SLICES}/queuedResources?queuedResourceId={name}"
        self.house.good("POST", TPU, path, body)
        self.house.pass_time(120)

    def training(self, name: str, **pairs: str) -> None:
        pool = {
            "machineSpec": {
                "machineType": "g2-standard-4",
                "acceleratorType": "NVIDIA_L4",
                "acceleratorCount": 1,
            },
            "replicaCount": "1",
            "containerSpec": {"imageUri": "python:3.12-slim", "command": ["sleep", "9999"]},
        }
        body = {"displayName": name, "labels": pairs, "jobSpec": {"workerPoolSpecs": [pool]}}
        path = f"/v1/projects/{PROJECT}/locations/us-central1/customJobs"
        self.house.good("POST", VERTEX, path, body)

    def look(self, *runs) -> list[Judged]:
        found = survey(self.session, PROJECT, regions=["us-central1", "europe-west4"])
        assert found.unseen == ()
        now = self.house.clock.now()
        return judge(found.holdings, runs, prices=Prices(CATALOG), now=now)

    def reap(self, judged, **wish) -> dict[str, str]:
        reaper = Reaper(self.session, PROJECT, pause=self.house.pass_time)
        doomed = reapable(judged, Wish(**wish))
        return {
            one.holding.name: error.message if error else "deleted"
            for one, error in reaper.reap(doomed)
        }


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(tmp_path)


LIVE = make_run("live", phase=RunPhase.RUNNING)
OVER = make_run("over", phase=RunPhase.SUCCEEDED, outcome=Outcome.SUCCEEDED, ended_at=2000.0)


def leave_everything(bench: Bench) -> None:
    pairs = labels("over")
    bench.vm("vm-over", **pairs)
    bench.disk("disk-over", **pairs)
    bench.address("address-over", **pairs)
    bench.placement("placement-over", **{"windlass-run": "over"})
    bench.queued("queued-over", **pairs)
    bench.training("training-over", **pairs)


def test_everything_of_ours_is_found_and_nothing_else(bench):
    make_bucket(bench.house, "ours-runs", labels={"windlass": "true"})
    make_bucket(bench.house, "somebody-elses")
    bench.vm("vm-of-others")
    bench.disk("disk-of-others", team="vision")
    leave_everything(bench)
    assert {one.holding.kind for one in bench.look(OVER)} == {
        "instance",
        "disk",
        "address",
        "placement",
        "queued",
        "slice",
        "training",
        "bucket",
    }
    assert not [one for one in bench.look(OVER) if "other" in one.holding.name]


def test_everything_left_behind_is_reaped_and_a_second_look_finds_nothing(bench):
    leave_everything(bench)
    judged = bench.look(OVER)
    assert {one.verdict for one in judged} == {Verdict.ORPHAN}
    said = bench.reap(judged)
    assert set(said.values()) == {"deleted"}, said
    bench.house.pass_time(300)
    assert bench.look(OVER) == []


def test_a_live_run_a_kept_thing_and_a_stranger_stay(bench):
    bench.vm("vm-live", **labels("live"))
    bench.vm("vm-kept", **labels("over"), keep="true")
    bench.vm("vm-strange", **labels("of-a-colleague"))
    judged = bench.look(LIVE, OVER)
    verdicts = {one.holding.name: one.verdict for one in judged}
    assert verdicts == {
        "vm-live": Verdict.LIVE,
        "vm-kept": Verdict.KEPT,
        "vm-strange": Verdict.STRANGER,
    }
    assert bench.reap(judged) == {}
    assert bench.reap(judged, strangers=True) == {"vm-strange": "deleted"}


def test_what_has_expired_goes_even_when_its_run_lives(bench):
    past = str(int(bench.house.clock.now()) - 10)
    bench.vm("vm-live", **labels("live"), **{"windlass-expires": past})
    judged = bench.look(LIVE)
    assert [one.verdict for one in judged] == [Verdict.EXPIRED]
    assert bench.reap(judged) == {"vm-live": "deleted"}


def test_young_things_are_left_when_asked_so(bench):
    bench.vm("vm-over", **labels("over"))
    judged = bench.look(OVER)
    assert bench.reap(judged, older_than_s=3600.0) == {}
    bench.house.pass_time(3600)
    assert bench.reap(bench.look(OVER), older_than_s=3600.0) == {"vm-over": "deleted"}


def test_a_bucket_with_something_in_it_is_not_deleted(bench):
    past = str(int(bench.house.clock.now()) - 10)
    make_bucket(bench.house, "ours-old", labels={"windlass": "true", "windlass-expires": past})
    path = "/upload/storage/v1/b/ours-old/o?uploadType=media&name=a"
    assert bench.house.send("POST", "storage.googleapis.com", path, b"x").status == 200
    said = bench.reap(bench.look())
    assert said == {"ours-old": "the bucket ours-old is not empty"}


def test_orphans_come_first_and_of_them_the_dearest(bench):
    bench.disk("disk-over", **labels("over"))
    bench.vm("vm-live", **labels("live"))
    bench.vm("vm-over", **labels("over"))
    names = [one.holding.name for one in bench.look(LIVE, OVER)]
    assert names == ["vm-over", "disk-over", "vm-live"]


def offer_usd(zone: str, label: str, buy: str) -> float:
    offer = CATALOG.offer(f"{zone}/{label}/{buy}")
    assert offer is not None
    return offer.usd_per_h * 24


def holding(kind: str, place: str, **raw) -> Holding:
    return Holding(kind=kind, name="x", place=place, collection="", raw=raw)


PRICED = {
    "a spot machine": (
        holding(
            "instance",
            "us-central1-a",
            machineType="zones/us-central1-a/machineTypes/g2-standard-4",
            scheduling={"provisioningModel": "SPOT"},
        ),
        offer_usd("us-central1-a", "g2-standard-4", "spot"),
    ),
    "n1 with two GPUs": (
        holding(
            "instance",
            "us-central1-a",
            machineType="n1-standard-8",
            guestAccelerators=[{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 2}],
        ),
        offer_usd("us-central1-a", "n1-standard-8+T4:2", "on-demand"),
    ),
    "a machine that is off": (
        holding("instance", "us-central1-a", machineType="g2-standard-4", status="TERMINATED"),
        0.0,
    ),
    "a type that nobody sells": (
        holding("instance", "us-central1-a", machineType="z9-mega-1"),
        None,
    ),
    "a NAT": (holding("router", "us-central1", nats=[{"name": "n"}]), 24 * 0.0448),
    "a router alone": (holding("router", "us-central1"), 0.0),
    "a network": (holding("network", "global"), 0.0),
    "a bucket": (holding("bucket", "us-central1"), None),
}


@pytest.mark.parametrize(("one", "usd"), PRICED.values(), ids=PRICED)
def test_a_day_costs_what_the_catalog_says(one, usd):
    assert Prices(CATALOG).usd_per_day(one) == (None if usd is None else pytest.approx(usd))
