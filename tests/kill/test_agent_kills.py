"""Agents and keepers of real runs killed with SIGKILL: the runs go on and end as if nothing was."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

import counts
from kill import victims
from kill.arena import Arena, Life, Story
from kill.stories import Tally, keep_controller, pause, play
from kill.verdicts import check, steps_lost
from windlass.state.phases import Outcome

AT_ONCE = 4

# Who is killed together, on one node. With the keeper or the agent alone, the other cleans up.
TARGETS = {
    "agent": {victims.AGENT},
    "keeper": {victims.KEEPER},
    "both": {victims.KEEPER, victims.AGENT},
    "node": {victims.KEEPER, victims.AGENT, victims.RANK, victims.OTHER},
}
MOMENTS = ("training", "training", "starting", "saving", "ending", "again", "training")
"""The first kill of run i comes at the i-th of these, so that a small count has them all."""


class Kill(NamedTuple):
    """That a node was killed, in which attempt, and when."""

    attempt: int
    at: float


@pytest.mark.soak
def test_runs_survive_the_loss_of_any_agent(
    arena: Arena, record_property: Callable[[str, object], None]
) -> None:
    tally = Tally(wanted=counts.KILLS)
    began = time.monotonic()

    def tell(chance: random.Random) -> Story:
        return story(arena, chance, tally)

    play(tell, tally, name="agents", at_once=AT_ONCE, beside=keep_controller(arena))
    tally.record(record_property)
    record_property("seconds", round(time.monotonic() - began, 1))


def story(arena: Arena, chance: random.Random, tally: Tally) -> Story:
    """One run that loses nodes up to three times."""
    first = MOMENTS[tally.runs % len(MOMENTS)]
    way = chance.choice(("fail", "fail", "hang", "hang", "deaf"))
    life = arena.submit(without_peer=way)
    kills: list[Kill] = []
    for moment in (first, *chance.sample(MOMENTS, chance.randint(0, 2))):
        yield from strike(arena, life, chance, tally=tally, kills=kills, moment=moment)
    yield from life.wait_for_end()
    judge(life, kills, tally)


def strike(
    arena: Arena, life: Life, chance: random.Random, *, tally: Tally, kills: list[Kill], moment: str
) -> Story:
    """Kill a node at this moment of the newest attempt, unless the run ends before."""
    target, node = chance.choice(sorted(TARGETS)), chance.randrange(2)
    has_controller_too = chance.random() < 0.25
    yield from until(life, chance, moment)
    while not life.has_ended and not tally.is_enough:
        attempt = life.run.attempt
        found = [v for v in victims.gang(life.claim()) if v.node == node]
        hit = [victim for victim in found if victim.role in TARGETS[target]]
        if {victim.role for victim in hit} >= TARGETS[target] & {victims.KEEPER, victims.AGENT}:
            at = time.time()
            if any([victims.kill(victim) for victim in hit]):
                kills.append(Kill(attempt, at))
                tally.count(moment)
                if has_controller_too:
                    for controller in victims.controllers(arena.home.path):
                        victims.kill(controller)
                return
        yield


def until(life: Life, chance: random.Random, moment: str) -> Story:
    """Until it is the moment, in the newest attempt; or until the run has ended."""
    if moment == "starting":
        number = life.run.attempt
        while not life.has_ended and (life.run.attempt == number and number > 0):
            yield  # The attempt that was there has to end before there is a new one.
        yield from pause(chance.uniform(0.0, 0.4))
    elif moment == "again":
        yield from pause(chance.uniform(0.0, 0.3))
    else:
        what = "saving" if moment == "saving" else "step"
        step = life.steps if moment == "ending" else chance.randrange(1, life.steps - 10)
        while not life.has_ended and not life.said(what, attempt=life.run.attempt, step=step):
            yield
        if moment == "ending":
            yield from pause(chance.uniform(0.0, 0.1))


def judge(life: Life, kills: list[Kill], tally: Tally) -> None:
    """Only attempts that were struck were lost; the last one ended well."""
    attempts = life.attempts
    lost = [attempt.number for attempt in attempts if attempt.outcome is Outcome.LOST]
    assert set(lost) <= {kill.attempt for kill in kills}, life.describe()
    check(life, outcomes=[Outcome.LOST] * len(lost) + [Outcome.SUCCEEDED], restarts=len(lost))
    tally.restarts += len(lost)
    tally.steps_lost += steps_lost(life)
    for number in lost:
        ended_at = attempts[number - 1].ended_at
        assert ended_at is not None
        tally.latencies_s.append(ended_at - min(k.at for k in kills if k.attempt == number))
