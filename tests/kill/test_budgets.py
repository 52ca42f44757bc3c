"""A budget really spent, ten times as fast as at Google: warned, saved, stopped in time, and gone
on with from what was saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kill.arena import Life
from kill.cloud import Cloud
from patience import wait_until
from rehearsals import PROGRAM, real_machines
from windlass.controller.progress import Record, read_records
from windlass.policy.meter import HOUR_S, TICK_S
from windlass.state.phases import Outcome, RunPhase

pytestmark = pytest.mark.usefixtures("real_machines")
__all__ = ["real_machines"]
SPEED = 10.0
BUDGET_USD = 5.0
STEPS = 10**6
CHECKPOINT = {"every": "1s", "to": "gs://rehearsal-runs/kept"}


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    """A cloud whose time, and whose bill, run ten times as fast."""
    home = Path(os.environ["WINDLASS_HOME"])
    built = Cloud(tmp_path, home, patch=monkeypatch, speed=SPEED)
    try:
        yield built
    finally:
        built.close()


def test_a_budget_is_warned_of_saved_at_and_kept(
    cloud: Cloud, record_property: Callable[[str, object], None]
) -> None:
    life = _train(cloud, budget=f"{BUDGET_USD} USD")
    wait_until(lambda: life.run.phase is RunPhase.STOPPING, patience_s=90.0)
    wait_until(lambda: not cloud.machines(), patience_s=30.0)

    usd = cloud.usd_of(life)
    [claim] = life.home.store().list_claims(life.id)
    saves = [one for one in _records(life) if one.event == "saved"]
    longest_s = max(float(one.metrics["seconds"]) for one in saves) * SPEED
    record_property("USD of a budget of 5", round(usd, 3))
    record_property("s of the cloud's time, longest save", round(longest_s, 2))
    save_usd, tick_usd = (claim.usd_per_h * s / HOUR_S for s in (longest_s, TICK_S))
    assert BUDGET_USD - save_usd <= usd <= BUDGET_USD + tick_usd
    assert _records(life)[-1].event == "saved", "the notice was not saved at"

    codes = [event.code for event in life.home.store().list_events(life.id)]
    assert codes == ["submitted", "starting", "running", "budget-warning", "budget"]
    again = _train(cloud, budget="50 USD")
    wait_until(lambda: any(one.event == "restored" for one in _records(again)), patience_s=60.0)
    assert next(one for one in _records(again) if one.event).step == saves[-1].step
    wait_until(lambda: life.has_ended, patience_s=60.0)
    assert (life.run.outcome, life.run.code) == (Outcome.STOPPED, "budget")


def _train(cloud: Cloud, *, budget: str) -> Life:
    return cloud.submit_program(
        PROGRAM.format(steps=STEPS),
        steps=STEPS,
        where={"engines": ["compute"], "buy": ["on-demand"], "regions": ["us-central1"]},
        resources={"nodes": 2, "machine": "a2-megagpu-16g"},
        limits={"budget": budget, "ttl": "2h"},
        checkpoint=CHECKPOINT,
    )


def _records(life: Life) -> list[Record]:
    return read_records(life.home.folder(life.id), life.run.attempt)
