"""The laptop is gone for good while runs are on rented machines: every one of them ends by itself.

Time passes forty times as fast in the cloud; what machines really do takes as long as ever.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import counts
from kill.arena import Life
from kill.cloud import Cloud
from patience import wait_until
from rehearsals import PROGRAM, real_machines
from windlass.controller.progress import checkpoint_steps
from windlass.policy.meter import HOUR_S, TICK_S

pytestmark = pytest.mark.usefixtures("real_machines")
__all__ = ["real_machines"]
ROUNDS = max(1, counts.KILLS // 20)
SPEED = 40.0
QUICK_S = 1.2
"""In which a cloud is up where nothing else runs. Where it takes longer, so does all the rest, and
runs get more time."""
SLOWEST = 8.0
SLACK_S = 6.0
"""Of real time: until programs on a machine have noticed the end, asked for it and were heard."""
SPARE_S = 20.0
"""So long after a claim's end other workers wait for the first one."""
STEPS = 10**6
DEAF = """
import signal, time
from windlass.runtime import Checkpointer, progress
signal.signal(signal.SIGTERM, signal.SIG_IGN)
checkpoints = Checkpointer()
step = 0
while True:
    step += 1
    time.sleep(0.2)
    progress(step)
    if step == 1:
        checkpoints.save(step, {"step": step})
"""
FULL = {
    # What is asked for there waits in Google's queues, for ever.
    "faults": [
        {"at": "0s", "stockout": "v5e", "zone": "us-west4", "for": "9h"},
        {"at": "0s", "stockout": "a3-highgpu-1g", "zone": "us-central1-a", "for": "9h"},
    ]
}
L4 = {"machine": "g2-standard-4"}


class Sped(NamedTuple):
    """A cloud whose time flies, and how much longer everything takes than on a quiet machine."""

    cloud: Cloud
    slow: float

    @property
    def slack_s(self) -> float:
        """How late an end may be, by the cloud's time."""
        return SPEED * SLACK_S * self.slow

    @property
    def budget_usd(self) -> float:
        """Lasts for as long as the runs' time to live, about."""
        return round(6.0 * self.slow, 2)

    def train(
        self,
        engine: str,
        buy: str,
        resources: Mapping[str, Any],
        *,
        regions: Collection[str] = ("us-central*",),
        minutes: float = 12.0,
    ) -> Life:
        """A run that hears nothing."""
        return self.cloud.submit_program(
            DEAF,
            steps=STEPS,
            where={"engines": [engine], "buy": [buy], "regions": list(regions)},
            resources=resources,
            limits={"ttl": f"{minutes * self.slow * 60:.0f}s"},
        )

    def train_for_budget(self) -> Life:
        """A run that hears, and saves when it is told."""
        return self.cloud.submit_program(
            PROGRAM.format(steps=STEPS),
            steps=STEPS,
            where={"engines": ["compute"], "buy": ["on-demand"], "regions": ["us-central1"]},
            resources={"nodes": 1, "machine": "a2-highgpu-8g"},
            limits={"budget": f"{self.budget_usd} USD", "ttl": "24h"},
            checkpoint={"every": "1s"},
        )


@pytest.fixture
def sped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sped]:
    """See Sped."""
    home, began = Path(os.environ["WINDLASS_HOME"]), time.monotonic()
    built = Cloud(tmp_path, home, patch=monkeypatch, speed=SPEED, scenario=FULL)
    took_s = time.monotonic() - began
    try:
        yield Sped(built, min(max(took_s / QUICK_S, 1.0), SLOWEST))
    finally:
        built.close()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_nothing_that_costs_outlives_its_time_when_the_laptop_is_gone(
    sped: Sped, seed: int, record_property: Callable[[str, object], None]
) -> None:
    cloud = sped.cloud
    training = {
        "slice": sped.train("tpu", "spot", {"accelerators": "v4-16"}, minutes=10),
        "spot": sped.train("compute", "spot", {"nodes": 2, **L4}),
        "flex-start": sped.train("compute", "flex-start", {"machine": "a2-highgpu-1g"}),
        "training": sped.train("vertex", "spot", L4),
    }
    budgeted = sped.train_for_budget()
    waiting = {
        "queued": sped.train("tpu", "spot", {"accelerators": "v5e-4"}, regions=["us-west4"]),
        "resize": sped.train("compute", "flex-start", {"machine": "a3-highgpu-1g"}),
    }
    for life in (*training.values(), budgeted):
        wait_until(partial(_has_saved, cloud, life), patience_s=90.0)
    wait_until(lambda: all(_is_asked(life) for life in waiting.values()), patience_s=30.0)
    sudden = [sped.train("compute", "spot", L4), sped.train("vertex", "spot", L4)]
    time.sleep(random.Random(seed).uniform(0.0, 2.0))
    cloud.end_user()  # Whatever it was about to do for those two, it did not.
    _kill_first_worker(cloud, training["slice"])

    seen = _watch_until_nothing_runs(cloud)

    for name, life in training.items():
        late_s = _late_s(seen, life)
        record_property(f"real s after its end: {name}", round(late_s / SPEED, 1))
        if name == "slice":
            assert late_s > 0, "its first worker was not dead"
            late_s -= SPARE_S
        assert late_s < sped.slack_s, f"{name} was late by {late_s:.0f} s"
    for life in sudden:
        assert _late_s(seen, life) < sped.slack_s, life.describe()
    for life in waiting.values():
        assert life.id not in seen, "it never had a machine"
    _check_budget(sped, budgeted, record_property)
    _check_reaped(cloud, {training["flex-start"].id, *(life.id for life in waiting.values())})


def _has_saved(cloud: Cloud, life: Life) -> bool:
    return bool(checkpoint_steps(cloud.home.folder(life.id)))


def _is_asked(life: Life) -> bool:
    return any(claim.handle for claim in life.home.store().list_claims(life.id))


def _kill_first_worker(cloud: Cloud, life: Life) -> None:
    """SIGKILL to all that runs on the first host of its slice, which stays up all the same."""
    hosts = cloud.machines(life)
    assert len(hosts) == 2
    is_first = """grep -q '"node": 0[,}]' /var/lib/windlass/node.json"""
    for host in hosts:
        cloud.inside(host, f"{is_first} && (sleep 0.1; kill -9 -1) >/dev/null 2>&1 &")


def _watch_until_nothing_runs(cloud: Cloud) -> dict[str, float]:
    """When a machine of each run was last seen to run, by the cloud's time."""
    seen: dict[str, float] = {}
    deadline = time.monotonic() + 120.0
    while True:
        at = cloud.clock.now()
        running = [one for one in cloud.machines() if one["state"] != "off"]
        if not running:
            return seen
        assert time.monotonic() < deadline, f"they still run: {running}"
        seen.update({str(one["labels"].get("windlass-run")): at for one in running})
        time.sleep(0.1)


def _late_s(seen: Mapping[str, float], life: Life) -> float:
    """How long after its end a run had a machine; 0 when it never had one."""
    expires_at = life.run.expires_at
    assert expires_at is not None
    return max(0.0, seen.get(life.id, 0.0) - expires_at)


def _check_budget(sped: Sped, life: Life, record_property: Callable[[str, object], None]) -> None:
    """Spent to its end, and within a tick."""
    cloud, budget_usd = sped.cloud, sped.budget_usd
    [claim] = life.home.store().list_claims(life.id)
    usd = cloud.usd_of(life)
    record_property(f"USD of a budget of {budget_usd:g} that nobody watched", round(usd, 2))
    assert budget_usd < usd <= budget_usd + claim.usd_per_h * TICK_S / HOUR_S
    wait_until(lambda: not cloud.machines(), patience_s=30.0)


def _check_reaped(cloud: Cloud, runs: Collection[str]) -> None:
    """What Google does not delete costs nothing, is found, and goes."""
    found = _reap()["holdings"]
    assert {one["kind"] for one in found} == {"queued", "group", "template", "placement"}
    assert {one["verdict"] for one in found} <= {"expired", "live"}
    assert runs <= {one["run"] for one in found if one["verdict"] == "expired"}
    assert sum(one["usd_per_day"] for one in found) == 0.0
    # By the store the budgeted run lives: its time is not over, and nobody has seen its end.
    live = [one["name"] for one in found if one["verdict"] == "live"]
    assert all(one["refused"] is None for one in _reap("--apply", "--yes")["holdings"])
    assert [one["name"] for one in _reap()["holdings"]] == live


def _reap(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "windlass", "reap", "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document
