"""Where the time of a run went, until its work was over: every second is in one of four sums.

Must not ask anybody. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from windlass.controller.progress import Record
from windlass.controller.report import finished_at
from windlass.state.model import Attempt, Claim, Run


class Times(NamedTuple):
    """Seconds, over all attempts."""

    finding_s: float = 0.0
    """Until there were machines: asking, being refused, waiting."""
    starting_s: float = 0.0
    """From the first machine to the first step: booting, setup, imports, compiling."""
    training_s: float = 0.0
    """From the first step to the last that an attempt did, whatever came of them."""
    ending_s: float = 0.0
    """Saving and leaving, and until the next attempt began."""


def times_of(
    run: Run, attempts: Sequence[Attempt], claims: Sequence[Claim], records: Sequence[Record]
) -> Times:
    """Where the time went; nothing while the run goes on, or when nothing was tried."""
    finish = finished_at(run, attempts)
    if finish is None or not attempts:
        return Times()
    begins = [run.created_at, *(attempt.created_at for attempt in attempts[1:])]
    ends = [*begins[1:], finish]
    sums = Times()
    for attempt, begin, end in zip(attempts, begins, ends, strict=True):
        held = [one.held_from for one in claims if one.id == attempt.winner]
        came_at = next((at for at in held if at is not None), None)
        own = [one for one in records if one.attempt == attempt.number and not one.event]
        steps = [one.time for one in own if one.time is not None]
        marks = _in_order(begin, came_at, steps, attempt.ended_at, end)
        spans = (after - before for before, after in zip(marks, marks[1:], strict=False))
        sums = Times(*(total + span for total, span in zip(sums, spans, strict=True)))
    return sums


def _in_order(
    begin: float,
    came_at: float | None,
    steps: Sequence[float],
    ended_at: float | None,
    end: float,
) -> list[float]:
    """The five moments between which the sums lie. Machines and ranks have clocks of their own."""
    over_at = ended_at if ended_at is not None else end
    came = over_at if came_at is None else came_at
    marks = [begin, came, min(steps, default=over_at), max(steps, default=over_at), end]
    for index in range(1, len(marks)):
        marks[index] = min(max(marks[index], marks[index - 1]), end)
    return marks
