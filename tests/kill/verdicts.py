"""What must be true of a run that has ended, whatever was killed on the way.

Must not excuse anything: no patience, no tolerance.
"""

from __future__ import annotations

import itertools
from typing import Any

from kill import victims
from kill.arena import Life
from kill.trainer import SAVE_EVERY
from windlass.controller.progress import read_records
from windlass.runtime import Checkpointer
from windlass.state.model import Event
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase

FINAL = {"succeeded", "failed", "stopped"}
UNANSWERED = {"engine-transient", "engine-ambiguous"}
"""A cloud that was away was asked again; on this machine there is nobody to be away."""


def check(life: Life, *, outcomes: list[Outcome], restarts: int) -> None:
    """The run has ended well, after attempts with these outcomes."""
    try:
        check_rows(life, outcomes=outcomes, restarts=restarts)
        assert life.run.phase is RunPhase.SUCCEEDED
        check_nothing_left(life)
        check_events(life)
        check_diary(life)
        check_sum(life)
        check_progress(life)
    except AssertionError as wrong:
        raise AssertionError(f"{wrong}\n{life.describe()}") from wrong


def check_rows(life: Life, *, outcomes: list[Outcome], restarts: int) -> None:
    """One final outcome; every attempt and claim is closed, and each start is counted once."""
    run, attempts = life.run, life.attempts
    claims = life.home.store().list_claims(life.id)
    numbers = list(range(1, len(outcomes) + 1))
    assert [attempt.outcome for attempt in attempts] == outcomes
    assert [attempt.number for attempt in attempts] == numbers
    assert all(attempt.phase is AttemptPhase.ENDED for attempt in attempts)
    assert (run.attempt, run.restarts) == (numbers[-1], restarts)
    assert run.outcome is outcomes[-1]
    assert [claim.attempt for claim in claims] == numbers
    assert all(claim.phase is ClaimPhase.GONE for claim in claims)


def check_nothing_left(life: Life) -> None:
    """No process, and nothing in the engine's folder that could come alive."""
    for claim in life.home.store().list_claims(life.id):
        left = victims.gang(claim.id)
        assert not left, f"{claim.id} left {left}"
        if claim.engine != "local":
            continue  # What it had in its cloud is asked for there.
        assert not (life.home.path / "local" / "live" / claim.id).exists()
        assert (life.home.path / "local" / "ended" / claim.id).exists()


def check_events(life: Life) -> None:
    """Each attempt starts once, runs at most once, ends once; the last word is the last."""
    events = list(life.home.store().list_events(life.id))
    if life.run.engine != "local":
        events = [event for event in events if event.code not in UNANSWERED]
    assert events[0].code == "submitted"
    assert sorted(event.attempt for event in events) == [event.attempt for event in events]
    for attempt, group in itertools.groupby(events, key=lambda event: event.attempt):
        if attempt > 0:
            _check_attempt_events(list(group))
    assert events[-1].code in FINAL


def _check_attempt_events(events: list[Event]) -> None:
    codes = [event.code for event in events]
    assert codes[0] == "starting", codes
    assert codes.count("starting") == 1 and codes.count("running") <= 1, codes
    if "running" in codes:
        assert codes[1] == "running", codes
    rest = codes[2:] if "running" in codes else codes[1:]
    # How it ended; then, when that ended the run, the run's last word; then a retry, if any.
    assert 1 <= len(rest) <= 3, codes
    assert rest[1:2] in ([], ["succeeded"], ["failed"]) and rest[2:] in ([], ["retried"]), codes


def check_diary(life: Life) -> None:
    """Never two gangs at once, and each went on from the last committed checkpoint."""
    diary = life.diary()
    attempts = [line["attempt"] for line in diary]
    assert attempts == sorted(attempts), "ranks of two attempts lived at the same time"
    done = saved = 0
    for line in diary:
        if line["what"] == "restored":
            assert line["step"] == line["newest"], "not the newest that was committed"
            assert saved <= line["step"] <= max(done, saved), (saved, line, done)
            saved = done = line["step"]
        elif line["what"] == "step":
            assert line["step"] == done + 1, f"{line} after step {done}"
            done = line["step"]
        elif line["what"] == "saved":
            assert line["step"] == done and (done % SAVE_EVERY == 0 or done == life.steps)
            saved = done


def check_sum(life: Life) -> None:
    """The last checkpoint has every step once."""
    found = Checkpointer(f"{life.home.folders.url(life.id)}/checkpoints").restore()
    assert found is not None and found.step == life.steps
    n = life.steps
    assert found.state["count"] == n
    assert found.state["sum"] == n * (n + 1) * (2 * n + 1) // 2 + 7 * n
    counted: list[list[int]] = found.state["counted"]
    begins = [first for _, first, _ in counted]
    ends = [last for _, _, last in counted]
    assert begins == [1, *(last + 1 for last in ends[:-1])] and ends[-1] == n, counted
    attempts = [attempt for attempt, _, _ in counted]
    assert attempts == sorted(set(attempts)), counted


def check_progress(life: Life) -> None:
    """What Windlass was told agrees with what happened."""
    records = read_records(life.home.folder(life.id), life.run.attempt)
    restored = {record.attempt: record.step for record in records if record.event == "restored"}
    real = {line["attempt"]: line["step"] for line in _restored(life) if line["step"] > 0}
    # An agent that was killed at once may not have passed the word on.
    assert restored.items() <= real.items(), (restored, real)
    assert max(record.step for record in records) == life.steps


def _restored(life: Life) -> list[dict[str, Any]]:
    return [line for line in life.diary() if line["what"] == "restored"]


def steps_lost(life: Life) -> list[int]:
    """For each start after the first: the steps that had to be done again."""
    lost, done = [], 0
    for line in life.diary():
        if line["what"] == "restored" and line["attempt"] > 1:
            lost.append(done - line["step"])
        if line["what"] in ("restored", "step"):
            done = line["step"]
    return lost
