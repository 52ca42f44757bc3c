"""Ranks killed with SIGKILL: the run fails once, says whose, and `retry` goes on where it was."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Generator

import pytest

import counts
from kill import victims
from kill.arena import Arena, Life, Story
from kill.stories import Tally, keep_controller, pause, play
from kill.verdicts import check, check_nothing_left, check_rows, steps_lost
from windlass.cli.intents import retry_run
from windlass.state.phases import Outcome, RunPhase

AT_ONCE = 4
MOMENTS = ("training", "saving", "training", "starting", "training", "ending", "again")
STATUS_ALONE = 1
"""Of a rank that fails because the other was killed."""


@pytest.mark.soak
def test_a_killed_rank_fails_its_run_once_and_retry_goes_on(
    arena: Arena, record_property: Callable[[str, object], None]
) -> None:
    tally = Tally(wanted=counts.KILLS)
    began = time.monotonic()

    def tell(chance: random.Random) -> Story:
        return story(arena, chance, tally)

    play(tell, tally, name="ranks", at_once=AT_ONCE, beside=keep_controller(arena))
    tally.record(record_property)
    record_property("seconds", round(time.monotonic() - began, 1))


def story(arena: Arena, chance: random.Random, tally: Tally) -> Story:
    """One run whose ranks are killed up to three times, each time retried by the user."""
    moments = [MOMENTS[tally.runs % len(MOMENTS)], *chance.sample(MOMENTS, chance.randint(0, 2))]
    way = chance.choice(("hang", "hang", "hang", "fail", "fail", "deaf"))
    life = arena.submit(without_peer=way)
    outcomes: list[Outcome] = []
    for moment in moments:
        ranks = chance.choice(({0}, {1}, {0}, {1}, {0, 1}))
        yield from until(life, chance, moment)
        at = yield from kill_ranks(life, ranks, tally)
        yield from life.wait_for_end()
        if life.run.phase is RunPhase.SUCCEEDED:
            break  # It had ended at that very moment, or enough were killed.
        outcomes.append(Outcome.USER_ERROR)
        judge_failure(life, ranks, outcomes)
        tally.count(moment)
        tally.latencies_s.append((life.attempts[-1].ended_at or at) - at)
        retry(life, chance)
    yield from life.wait_for_end()
    check(life, outcomes=[*outcomes, Outcome.SUCCEEDED], restarts=0)
    tally.restarts += len(outcomes)
    tally.steps_lost += steps_lost(life)


def kill_ranks(life: Life, ranks: set[int], tally: Tally) -> Generator[None, None, float]:
    """Kill these ranks of the newest attempt as soon as they are there; the time of it."""
    while not life.has_ended and not tally.is_enough:
        found = [v for v in victims.gang(life.claim()) if v.role == victims.RANK]
        hit = [victim for victim in found if victim.rank in ranks]
        at = time.time()
        if len(hit) == len(ranks) and any([victims.kill(victim) for victim in hit]):
            return at
        yield
    return time.time()


def until(life: Life, chance: random.Random, moment: str) -> Story:
    """Until it is the moment in the newest attempt; or until the run has ended."""
    if moment in ("starting", "again"):
        yield from pause(chance.uniform(0.0, 0.2) if moment == "again" else 0.0)
        return
    what = "saving" if moment == "saving" else "step"
    first = min(life.steps - 10, 1 + max((line["step"] for line in life.diary()), default=0))
    step = life.steps if moment == "ending" else chance.randrange(first, life.steps - 5)
    while not life.has_ended and not life.said(what, attempt=_newest(life), step=step):
        yield


def _newest(life: Life) -> int:
    """The attempt that runs or comes next: after a retry the old one is over."""
    run = life.run
    return run.attempt + 1 if run.phase is RunPhase.QUEUED else run.attempt


def judge_failure(life: Life, ranks: set[int], outcomes: list[Outcome]) -> None:
    """It failed as the fault of a rank that was killed, or of one that was left alone by it."""
    run, attempt = life.run, life.attempts[-1]
    story = life.describe()
    assert run.phase is RunPhase.FAILED, story
    check_rows(life, outcomes=outcomes, restarts=0)
    check_nothing_left(life)
    rank = attempt.failed_rank
    assert rank is not None and attempt.failed_node == rank, story
    if attempt.exit_status == STATUS_ALONE:
        assert rank not in ranks, story
        assert run.reason == f"rank {rank} on node {rank} exited with status 1", story
    else:
        assert rank in ranks and attempt.exit_status == -9, story
        assert run.code == attempt.code == "killed-by-sigkill", story
        assert run.reason.startswith(f"rank {rank} on node {rank} was killed by SIGKILL"), story
    events = life.home.store().list_events(life.id)
    codes = [event.code for event in events if event.attempt == attempt.number]
    assert (codes.count(attempt.code), codes.count("failed")) == (1, 1), story


def retry(life: Life, chance: random.Random) -> None:
    """As a user would: by the command, or by what it calls."""
    if chance.random() < 0.3:
        env = {**os.environ, "WINDLASS_HOME": str(life.home.path)}
        command = [sys.executable, "-m", "windlass", "retry", "--detach", life.id]
        subprocess.run(command, env=env, check=True, capture_output=True, timeout=60)
    else:
        retry_run(life.home, life.run)
