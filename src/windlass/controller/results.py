"""What the answer to a submit means for a claim: the second, small write of a step.

Must not call engines. Pure: a Change out of the rows and the answer.
"""

from __future__ import annotations

from dataclasses import replace

from windlass.controller.backoff import submit_delay_s
from windlass.errors import Retry, WindlassError
from windlass.state.model import Change, Claim, Event, RunState
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome


def taken(state: RunState, claim: Claim, handle: str) -> Change:
    """The engine has it."""
    submitted = replace(claim, phase=ClaimPhase.SUBMITTED, handle=handle, error="", retry_at=0.0)
    return Change(run=state.run, claims=(submitted,))


def refused(state: RunState, claim: Claim, error: WindlassError, *, now: float) -> Change:
    """The engine has not taken it; whether to ask again is in the error's `retry`."""
    if error.retry in (Retry.LATER, Retry.AFTER_OBSERVE):
        return _ask_again(state, claim, error, now=now)
    # What is asked for ahead must not disturb the gang that works.
    is_spare = claim.attempt > state.run.attempt
    if claim.offer and (is_spare or error.retry is Retry.ELSEWHERE):
        # The next decision blocks the offer and takes the next one.
        told = replace(claim, refused=error.code, error=error.message)
        return Change(run=state.run, claims=(told,))
    return _reject(state, claim, error, now=now)


def _ask_again(state: RunState, claim: Claim, error: WindlassError, *, now: float) -> Change:
    tries = claim.tries + 1
    waiting = replace(claim, tries=tries, retry_at=now + submit_delay_s(tries), error=error.message)
    if claim.attempt > state.run.attempt:
        return Change(run=state.run, claims=(waiting,))
    run = replace(state.run, code=error.code, reason=error.message)
    # The first refusal is news; the ones that follow only repeat it.
    events = (_event(state, error, now=now),) if claim.error != error.message else ()
    return Change(run=run, claims=(waiting,), events=events)


def _reject(state: RunState, claim: Claim, error: WindlassError, *, now: float) -> Change:
    assert state.attempt is not None
    attempt = replace(
        state.attempt,
        phase=AttemptPhase.ENDING,
        outcome=Outcome.REJECTED,
        code=error.code,
        reason=error.message,
        ended_at=now,
    )
    run = replace(state.run, outcome=Outcome.REJECTED, code=error.code, reason=error.message)
    return Change(
        run=run,
        attempts=(attempt,),
        claims=(replace(claim, error=error.message),),
        events=(_event(state, error, now=now),),
    )


def _event(state: RunState, error: WindlassError, *, now: float) -> Event:
    return Event(
        run=state.run.id,
        attempt=state.run.attempt,
        at=now,
        code=error.code,
        message=error.message,
        details={"remedy": error.remedy},
    )
