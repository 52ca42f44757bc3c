"""The controller killed with SIGKILL at any moment: no run notices, and each ends exactly once."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable

import pytest

import counts
from kill import victims
from kill.arena import PATIENCE_S, Arena, Life, Story
from kill.stories import Tally, keep_controller, pause, play
from kill.verdicts import check
from windlass.state.phases import Outcome, RunPhase

AT_ONCE = 3
MOMENTS = ("submit", "starting", "training", "newborn", "newborn", "ending", "training", "submit")
WAIT_FOR_MOMENT_S = 5.0


@pytest.mark.soak
def test_no_run_is_hurt_when_its_controller_is_killed(
    arena: Arena, record_property: Callable[[str, object], None]
) -> None:
    tally = Tally(wanted=counts.KILLS)
    began = time.monotonic()

    def tell(chance: random.Random) -> Story:
        return story(arena, chance)

    killer = kill_controllers(arena, random.Random("controllers"), tally)
    play(tell, tally, name="controllers", at_once=AT_ONCE, beside=killer)
    tally.record(record_property)
    record_property("seconds", round(time.monotonic() - began, 1))


def story(arena: Arena, chance: random.Random) -> Story:
    """One run, watched or not: whatever happens to controllers, it needs one attempt."""
    if chance.random() < 0.5:
        life, watcher = arena.submit_attached(without_peer="fail")
        yield from life.wait_for_end()
        yield from _wait_for(watcher, life)
    else:
        life = arena.submit(without_peer="fail")
        yield from life.wait_for_end()
    check(life, outcomes=[Outcome.SUCCEEDED], restarts=0)


def _wait_for(watcher: subprocess.Popen[bytes], life: Life) -> Story:
    deadline = time.monotonic() + PATIENCE_S
    while watcher.poll() is None:
        assert time.monotonic() < deadline, f"who watched {life.id} still does"
        yield
    assert watcher.returncode == 0, life.describe()


def kill_controllers(arena: Arena, chance: random.Random, tally: Tally) -> Story:
    """One after the other; each is alive again, by whoever needs it, before the next."""
    while not tally.is_enough:
        moment = MOMENTS[tally.kills % len(MOMENTS)]
        yield from until(arena, chance, moment)
        at = time.monotonic()
        found = victims.controllers(arena.home.path)
        if not any([victims.kill(controller) for controller in found]):
            arena.home.wake()
            yield
            continue
        tally.count(moment)
        while any(victims.is_alive(controller) for controller in found):
            yield
        is_watched = any(life.is_watched and not life.has_ended for life in arena.lives)
        if chance.random() < 0.5 and is_watched:
            yield from wait_for_controller(arena, patience_s=10.0)
            if arena.home.is_controller_alive():
                tally.latencies_s.append(time.monotonic() - at)
        yield from pause(chance.uniform(0.0, 0.1))
        arena.home.wake()
        if moment != "newborn":
            yield from wait_for_controller(arena, patience_s=10.0)
    yield from keep_controller(arena)


def wait_for_controller(arena: Arena, *, patience_s: float) -> Story:
    """Until there is one; or not, when whoever would have started it has left."""
    deadline = time.monotonic() + patience_s
    while not arena.home.is_controller_alive() and time.monotonic() < deadline:
        yield


def until(arena: Arena, chance: random.Random, moment: str) -> Story:
    """Until it is the moment in any run; not for ever, since there may be no such run."""
    deadline = time.monotonic() + WAIT_FOR_MOMENT_S
    known = len(arena.lives)

    def is_it() -> bool:
        if moment == "submit":
            return len(arena.lives) > known
        live = [life for life in arena.lives if not life.has_ended]
        if moment == "starting":
            return any(life.run.phase is RunPhase.STARTING for life in live)
        return any(life.said("saved", attempt=1, step=life.steps) for life in live)

    if moment == "newborn":
        while not victims.controllers(arena.home.path) and time.monotonic() < deadline:
            yield
        yield from pause(chance.uniform(0.0, 0.15))
        return
    if moment == "training":
        yield from pause(chance.uniform(0.1, 0.6))
        return
    while not is_it() and time.monotonic() < deadline:
        yield
    yield from pause(chance.choice((0.0, chance.uniform(0.0, 0.2))))
