"""What came of a rehearsal: what was predicted beside what it took, and every interruption.

Must not ask anybody (evidence.py does). Pure. All times are the rehearsal's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windlass.controller.progress import Record
from windlass.controller.report import Report, finished_at
from windlass.rehearsal.times import Times, times_of
from windlass.state.model import Attempt, Claim, Event, Run
from windlass.state.phases import Outcome

REFUSALS = frozenset({"out-of-stock", "quota-exceeded", "place-unfit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What the planner said before anything was rented."""

    usd_p50: float
    usd_p90: float
    p50_s: float
    p90_s: float
    is_of_work: bool
    """Whether it is of the work to be done, not the price of all of `ttl` or of an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was found after the run had ended."""

    run: Run
    attempts: Sequence[Attempt]
    claims: Sequence[Claim]
    events: Sequence[Event]
    records: Sequence[Record]
    """With times of the rehearsal's clock."""
    notices: Sequence[float]
    """When machines were told that they will be taken away, by the cloud itself."""
    passed_on: Sequence[tuple[int, float]]
    """Attempts, and when one of their agents had written a notice into the run's folder."""
    usd: float
    """The cloud's bill."""
    left: Sequence[str]
    """What was still there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """One attempt that ended before the work was done."""

    attempt: int
    outcome: Outcome
    place: str
    """The offer that it ran on."""
    next_place: str
    noticed_at: float | None
    """None: it came without a notice, or the cloud says nothing of one."""
    detect_s: float | None
    """From the notice until an agent had passed it on."""
    again_s: float | None
    """From the notice, or else from the end, until the next step was done."""
    saved_step: int | None
    """The newest checkpoint when it ended, and what the next one went on from."""
    resumed_step: int | None
    steps_lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All of it."""

    run: Run
    forecast: Forecast
    report: Report
    usd: float
    finish_s: float
    """From submit until its work was over."""
    times: Times
    """Where that went."""
    refusals: Sequence[Event]
    """Offers that could not be had."""
    interruptions: Sequence[Interruption]
    left: Sequence[str]


def tell(evidence: Evidence, *, forecast: Forecast, report: Report) -> Story:
    """The story that the evidence shows."""
    run = evidence.run
    finish = finished_at(run, evidence.attempts)
    lost = {loss.attempt: loss.steps for loss in report.losses}
    return Story(
        run=run,
        forecast=forecast,
        report=report,
        usd=evidence.usd,
        finish_s=finish - run.created_at if finish is not None else 0.0,
        times=times_of(run, evidence.attempts, evidence.claims, evidence.records),
        refusals=[event for event in evidence.events if event.code in REFUSALS],
        interruptions=[
            _interruption(evidence, attempt, outcome, steps_lost=lost.get(attempt.number, 0))
            for attempt in evidence.attempts
            if (outcome := attempt.outcome) is not None and outcome is not Outcome.SUCCEEDED
        ],
        left=evidence.left,
    )


def _interruption(
    evidence: Evidence, attempt: Attempt, outcome: Outcome, *, steps_lost: int
) -> Interruption:
    number, end = attempt.number, attempt.ended_at or attempt.created_at
    noticed = [at for at in evidence.notices if attempt.created_at <= at <= end]
    passed = [at for of, at in evidence.passed_on if of == number]
    noticed_at = min(noticed, default=min(passed, default=None))
    later = [record for record in evidence.records if record.attempt > number]
    again = next((one.time for one in later if not one.event and one.time is not None), None)
    own = [record for record in evidence.records if record.attempt == number]
    return Interruption(
        attempt=number,
        outcome=outcome,
        place=_place(evidence, number),
        next_place=_place(evidence, number + 1),
        noticed_at=noticed_at,
        detect_s=min(passed) - min(noticed) if noticed and passed else None,
        again_s=None if again is None else again - (noticed_at if noticed_at is not None else end),
        saved_step=next((one.step for one in reversed(own) if one.event == "saved"), None),
        resumed_step=next((one.step for one in later if one.event == "restored"), None),
        steps_lost=steps_lost,
    )


def _place(evidence: Evidence, number: int) -> str:
    """The offer that the attempt got, or else the last one that it asked for."""
    winner = next((one.winner for one in evidence.attempts if one.number == number), "")
    asked = [claim for claim in evidence.claims if claim.attempt == number]
    won = [claim for claim in asked if claim.id == winner]
    return (won or asked)[-1].offer if asked else ""
