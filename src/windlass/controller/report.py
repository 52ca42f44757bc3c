"""What a run has got done and what it cost: steps, work lost to restarts, goodput, dollars.

Must not read anything (progress.py does) nor decide anything. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windlass.controller.progress import Record
from windlass.policy.totals import usd_since
from windlass.state.model import Attempt, Charge, Run
from windlass.state.phases import Outcome

_RETRIED_BY_HAND = frozenset({Outcome.USER_ERROR, Outcome.STOPPED, Outcome.REJECTED})
"""The controller starts nothing again after these: the wait before the next was the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Steps that an attempt had done and the next one had to do again."""

    attempt: int
    steps: int
    seconds: float | None = None
    """What doing them took; None when no step was timed."""
    outcome: Outcome | None = None
    """How the attempt ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What machines have cost so far."""

    usd: float
    usd_per_h: float
    """Of those that are held now."""
    race_usd: float
    """What claims cost that lost a race."""
    charges: int
    """How many claims had machines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run has got done so far."""

    steps: int | None
    """The last step that counts; None when nothing was reported."""
    steps_total: int | None
    step_s: float | None
    """Median seconds of a step."""
    restarts: int
    losses: tuple[Loss, ...]
    saved_step: int | None
    """The newest checkpoint that was reported."""
    metrics: Mapping[str, float | str]
    wall_s: float | None
    """Seconds since ranks first started, until its work was over, waits for a person left out."""
    useful_s: float | None
    goodput: float | None
    """The part of the wall time that went into steps that count."""
    cost: Cost | None = None
    """None where nothing was rented."""

    @property
    def seconds_lost(self) -> float | None:
        """What steps took that were done in vain; None when none was timed."""
        times = [loss.seconds for loss in self.losses if loss.seconds is not None]
        return sum(times) if times else None

    @property
    def steps_lost(self) -> int:
        """Steps done in vain."""
        return sum(loss.steps for loss in self.losses)


def make_report(
    run: Run,
    attempts: Sequence[Attempt],
    records: Sequence[Record],
    *,
    now: float,
    steps_total: int | None,
    charges: Sequence[Charge] = (),
) -> Report:
    """What the records of a run amount to."""
    chapters = _chapters(records)
    cuts = [
        _restored_step(chapters[number + 1]) if number + 1 < len(chapters) else None
        for number in range(len(chapters))
    ]
    step_s = _median_step_s(chapters)
    wall_s = _wall_s(run, attempts, now)
    useful_s = _useful_s(chapters, cuts, step_s)
    last = _last_step(chapters[-1]) if chapters else None
    saved = [record.step for record in records if record.event == "saved"]
    return Report(
        steps=last,
        steps_total=steps_total,
        step_s=step_s,
        restarts=run.restarts,
        losses=_losses(chapters, cuts, step_s, {one.number: one.outcome for one in attempts}),
        saved_step=saved[-1] if saved else None,
        metrics=_last_metrics(records),
        wall_s=wall_s,
        useful_s=useful_s,
        goodput=min(1.0, useful_s / wall_s) if useful_s is not None and wall_s else None,
        cost=cost_of(charges, now=now),
    )


def finished_at(run: Run, attempts: Sequence[Attempt]) -> float | None:
    """When its work was over; None while it goes on. A run has ended only when its machines are
    known to be gone, which is later, and which nobody waits for."""
    if run.ended_at is None:
        return None
    last = attempts[-1].ended_at if attempts else None
    return last if last is not None else run.ended_at


def cost_of(charges: Sequence[Charge], *, now: float) -> Cost | None:
    """What these charges come to; None when there are none."""
    if not charges:
        return None
    usds = [(charge, usd_since(charge, now=now)) for charge in charges]
    return Cost(
        usd=sum(usd for _, usd in usds),
        usd_per_h=sum(charge.usd_per_h for charge in charges if charge.until_at is None),
        race_usd=sum(usd for charge, usd in usds if charge.is_extra),
        charges=len(charges),
    )


def step_s_of(records: Sequence[Record]) -> float | None:
    """Median seconds of a step; None when fewer than two were reported in one attempt."""
    return _median_step_s(_chapters(records))


def _chapters(records: Sequence[Record]) -> list[list[Record]]:
    """The records of each attempt that reported a step, in order."""
    chapters: dict[int, list[Record]] = {}
    for record in records:
        chapters.setdefault(record.attempt, []).append(record)
    return [chapters[number] for number in sorted(chapters) if _steps(chapters[number])]


def _steps(chapter: Sequence[Record]) -> list[Record]:
    return [record for record in chapter if not record.event]


def _last_step(chapter: Sequence[Record]) -> int:
    return _steps(chapter)[-1].step


def _restored_step(chapter: Sequence[Record]) -> int:
    """The step the attempt went on from; without word of it, one report before its first."""
    for record in chapter:
        if record.event == "restored":
            return record.step
        if not record.event:
            break
    steps = [record.step for record in _steps(chapter)[:2]]
    stride = max(1, steps[1] - steps[0]) if len(steps) > 1 else 1
    return steps[0] - stride


def _losses(
    chapters: Sequence[Sequence[Record]],
    cuts: Sequence[int | None],
    step_s: float | None,
    outcomes: Mapping[int, Outcome | None],
) -> tuple[Loss, ...]:
    """Progress when an attempt ended less that from which the next one went on."""
    losses = []
    for chapter, cut in zip(chapters, cuts, strict=True):
        if cut is None or _last_step(chapter) <= cut:
            continue
        attempt, steps = chapter[0].attempt, _last_step(chapter) - cut
        seconds = None if step_s is None else steps * step_s
        outcome = outcomes.get(attempt)
        losses.append(Loss(attempt=attempt, steps=steps, seconds=seconds, outcome=outcome))
    return tuple(losses)


def _spans(chapter: Sequence[Record]) -> list[tuple[int, int, float]]:
    """(first step left out, last step, seconds) between two reports of the same attempt."""
    steps = [record for record in _steps(chapter) if record.time is not None]
    return [
        (before.step, after.step, (after.time or 0.0) - (before.time or 0.0))
        for before, after in zip(steps, steps[1:], strict=False)
        if after.step > before.step
    ]


def _median_step_s(chapters: Sequence[Sequence[Record]]) -> float | None:
    each = [
        seconds / (after - before)
        for chapter in chapters
        for before, after, seconds in _spans(chapter)
    ]
    return _median(each) if each else None


def _median(values: Sequence[float]) -> float:
    """By hand: importing `statistics` costs more than the whole report."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return (ordered[middle] + ordered[-middle - 1]) / 2


def _useful_s(
    chapters: Sequence[Sequence[Record]], cuts: Sequence[int | None], step_s: float | None
) -> float | None:
    """Seconds that went into steps no later attempt did again.

    The first report of an attempt has nothing before it to measure from: its steps count as
    median ones, so that compiling and loading are not taken for work.
    """
    if step_s is None:
        return None
    useful_s = 0.0
    for chapter, cut in zip(chapters, cuts, strict=True):
        first = _steps(chapter)[0].step
        end = _last_step(chapter) if cut is None else cut
        useful_s += max(0, min(first, end) - _restored_step(chapter)) * step_s
        for before, after, seconds in _spans(chapter):
            kept = max(0, min(after, end) - before)
            useful_s += seconds * kept / (after - before)
    return useful_s


def _wall_s(run: Run, attempts: Sequence[Attempt], now: float) -> float | None:
    if run.started_at is None:
        return None
    end = finished_at(run, attempts)
    wall_s = (end if end is not None else now) - run.started_at
    for before, after in zip(attempts, attempts[1:], strict=False):
        if before.outcome in _RETRIED_BY_HAND and before.ended_at is not None:
            wall_s -= max(0.0, after.created_at - before.ended_at)
    return max(0.0, wall_s)


def _last_metrics(records: Sequence[Record]) -> Mapping[str, float | str]:
    for record in reversed(records):
        if not record.event and record.metrics:
            return record.metrics
    return {}
