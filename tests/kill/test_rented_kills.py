"""Runs on rented machines while everything is killed that can be: controllers, agents, machines,
and the cloud itself. Each run ends once and whole, and nothing is left behind."""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import counts
from kill import victims
from kill.arena import Life, Story
from kill.cloud import Cloud
from kill.stories import Tally, pause, play
from kill.verdicts import check, steps_lost
from patience import wait_until
from rehearsals import real_machines
from windlass.errors import TwinFailed
from windlass.state.phases import Outcome, RunPhase

pytestmark = pytest.mark.usefixtures("real_machines")
__all__ = ["real_machines"]
KILLS = counts.KILLS // 2
AT_ONCE = 2 if KILLS < 10 else 3
STEPS = 150
ORDER = ("controller", "agent", "cloud", "machine", "controller", "preemption", "cloud")
"""Who is killed next, so that a small count has them all."""
SLICE: dict[str, Any] = {
    "resources": {"accelerators": "v4-16"},
    "where": {"engines": ["tpu"], "regions": ["us-central2"], "buy": ["spot"]},
}
"""Two hosts; every fourth run is on one."""
HARMFUL = frozenset({"agent", "machine", "preemption"})


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    """A cloud in which nothing goes wrong by itself."""
    built = Cloud(tmp_path, Path(os.environ["WINDLASS_HOME"]), patch=monkeypatch)
    try:
        yield built
    finally:
        built.close()


@pytest.mark.soak
def test_runs_on_rented_machines_survive_every_kill(
    cloud: Cloud, record_property: Callable[[str, object], None]
) -> None:
    tally, kinds = Tally(wanted=KILLS), itertools.cycle(ORDER)
    began = time.monotonic()

    def tell(chance: random.Random) -> Story:
        return story(cloud, chance, tally, kinds)

    play(tell, tally, name="rented", at_once=AT_ONCE, beside=keep_controller(cloud))
    wait_until(lambda: not cloud.left(), patience_s=60.0)
    tally.record(record_property)
    record_property("seconds", round(time.monotonic() - began, 1))


def story(cloud: Cloud, chance: random.Random, tally: Tally, kinds: Iterator[str]) -> Story:
    """One run that is struck up to three times."""
    way = chance.choice(("fail", "hang", "deaf"))
    keys = SLICE if tally.runs % 4 == 0 else {}
    life = cloud.submit(without_peer=way, steps=STEPS, **keys)
    struck: list[int] = []
    for _ in range(chance.randint(1, 3)):
        yield from until(life, chance)
        yield from strike(cloud, life, chance, tally=tally, struck=struck, kind=next(kinds))
    yield from life.wait_for_end()
    judge(life, struck, tally)


def until(life: Life, chance: random.Random) -> Story:
    """Until a step of the newest attempt was done, or for a while, or not at all."""
    if chance.random() < 0.5:
        yield from pause(chance.choice((0.0, chance.uniform(0.0, 8.0))))
        return
    step = chance.randrange(1, life.steps - 10)
    while not life.has_ended and not life.said("step", attempt=life.run.attempt, step=step):
        yield


def strike(
    cloud: Cloud,
    life: Life,
    chance: random.Random,
    *,
    tally: Tally,
    struck: list[int],
    kind: str,
) -> Story:
    """Kill something, unless there is no such thing before the run ends."""
    while not life.has_ended and not tally.is_enough:
        attempt = life.run.attempt
        if STRIKES[kind](cloud, life, chance):
            tally.count(kind)
            if kind in HARMFUL:
                struck.append(attempt)
            return
        yield


def _kill_controller(cloud: Cloud, life: Life, chance: random.Random) -> bool:
    found = victims.controllers(cloud.home.path)
    return any([victims.kill(controller) for controller in found])


def _kill_cloud(cloud: Cloud, life: Life, chance: random.Random) -> bool:
    """The whole cloud is away for a moment; its machines go on."""
    cloud.kill_twin()
    time.sleep(chance.uniform(0.0, 0.5))
    cloud.start_twin()
    return True


def _kill_agent(cloud: Cloud, life: Life, chance: random.Random) -> bool:
    """SIGKILL to an agent, to what it is kept by, or to both, in one machine of the gang."""
    machines = _machines(cloud, life)
    if life.run.phase is not RunPhase.RUNNING or len(machines) < 2:
        return False
    who = chance.choice(("-o", "-n", ""))
    done = cloud.inside(chance.choice(machines), f"pkill -9 {who} -f agent.pyz")
    return done == 0


def _fail_machine(cloud: Cloud, life: Life, chance: random.Random) -> bool:
    """Its host dies: no warning."""
    return _befall(cloud, life, chance, "fail")


def _preempt(cloud: Cloud, life: Life, chance: random.Random) -> bool:
    return _befall(cloud, life, chance, "preempt")


def _befall(cloud: Cloud, life: Life, chance: random.Random, what: str) -> bool:
    machines = _machines(cloud, life)
    if not machines:
        return False
    try:
        cloud.stage.ask("POST", "/twin/v1/faults", {what: chance.choice(machines)["name"]})
    except TwinFailed:
        return False  # It does not run any more.
    return True


def _machines(cloud: Cloud, life: Life) -> list[dict[str, Any]]:
    return [one for one in cloud.machines(life) if one["state"] == "running"]


STRIKES: dict[str, Callable[[Cloud, Life, random.Random], bool]] = {
    "controller": _kill_controller,
    "cloud": _kill_cloud,
    "agent": _kill_agent,
    "machine": _fail_machine,
    "preemption": _preempt,
}


def keep_controller(cloud: Cloud) -> Story:
    """Start the controller again whenever it is dead; never ends by itself."""
    while True:
        if not cloud.home.is_controller_alive():
            cloud.home.wake()
        yield from pause(0.3)


def judge(life: Life, struck: list[int], tally: Tally) -> None:
    """Only attempts whose machines were struck were lost; the last one ended well."""
    lost = [one for one in life.attempts if one.outcome is not Outcome.SUCCEEDED]
    assert {one.number for one in lost} <= set(struck), life.describe()
    outcomes = [one.outcome for one in life.attempts]
    assert set(outcomes[:-1]) <= {Outcome.LOST, Outcome.PREEMPTED}, life.describe()
    check(life, outcomes=outcomes, restarts=len(lost))
    tally.restarts += len(lost)
    tally.steps_lost += steps_lost(life)
