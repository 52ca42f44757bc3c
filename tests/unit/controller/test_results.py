"""What the answer to a submit means for the rows."""

from __future__ import annotations

import pytest

from builders import make_attempt, make_claim, make_run
from windlass.controller.backoff import submit_delay_s
from windlass.controller.results import refused, taken
from windlass.errors import (
    EngineAmbiguous,
    EngineRejected,
    EngineTransient,
    MachineTooSmall,
    OutOfStock,
    PermissionMissing,
)
from windlass.state.model import RunState
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase

NOW = 5000.0
CLAIM = make_claim(tries=2, error="before", retry_at=9.0)
STATE = RunState(
    run=make_run(phase=RunPhase.STARTING, attempt=1), attempt=make_attempt(), claims=(CLAIM,)
)


def test_a_taken_claim_has_its_handle_and_no_error_any_more():
    change = taken(STATE, CLAIM, "h")
    (claim,) = change.claims
    assert (claim.phase, claim.handle) == (ClaimPhase.SUBMITTED, "h")
    assert (claim.error, claim.retry_at) == ("", 0.0)
    assert change.run == STATE.run
    assert (change.attempts, change.events) == ((), ())


@pytest.mark.parametrize("error", [EngineTransient("not now"), EngineAmbiguous("not now")])
def test_what_may_work_later_is_asked_for_again(error):
    change = refused(STATE, CLAIM, error, now=NOW)
    (claim,) = change.claims
    assert (claim.phase, claim.tries) == (ClaimPhase.ASKED, 3)
    assert claim.retry_at == NOW + submit_delay_s(3)
    assert (change.run.code, change.run.reason) == (error.code, "not now")
    assert change.run.outcome is None
    assert [event.code for event in change.events] == [error.code]


def test_the_same_refusal_is_told_once():
    again = make_claim(error="not now")
    assert refused(STATE, again, EngineTransient("not now"), now=NOW).events == ()


@pytest.mark.parametrize(
    "error",
    [
        EngineRejected("never", remedy="do"),
        MachineTooSmall("never", remedy="do"),
        PermissionMissing("never", remedy="do"),
    ],
)
def test_what_can_never_work_ends_the_attempt_and_decides_the_run(error):
    change = refused(STATE, CLAIM, error, now=NOW)
    (attempt,) = change.attempts
    assert (attempt.phase, attempt.outcome) == (AttemptPhase.ENDING, Outcome.REJECTED)
    assert (attempt.code, attempt.reason, attempt.ended_at) == (error.code, "never", NOW)
    assert (change.run.outcome, change.run.code) == (Outcome.REJECTED, error.code)
    (event,) = change.events
    assert (event.message, event.details) == ("never", {"remedy": "do"})


def test_what_may_be_had_elsewhere_is_noted_with_the_claim():
    rented = make_claim(offer="z/m/spot")
    change = refused(STATE, rented, OutOfStock("none left"), now=NOW)
    (claim,) = change.claims
    assert (claim.refused, claim.error, claim.phase) == ("out-of-stock", "none left", rented.phase)
    assert (change.run, change.attempts, change.events) == (STATE.run, (), ())


SPARE = make_claim(id="r-2-0", attempt=2, offer="z/m/on-demand", buy="on-demand")


@pytest.mark.parametrize("error", [OutOfStock("none"), PermissionMissing("never", remedy="do")])
def test_what_is_asked_for_ahead_may_be_refused_and_the_run_goes_on(error):
    change = refused(STATE, SPARE, error, now=NOW)
    (claim,) = change.claims
    assert (claim.refused, claim.error) == (error.code, error.message)
    assert (change.run, change.attempts, change.events) == (STATE.run, (), ())


def test_an_engine_that_does_not_answer_about_it_changes_nothing_but_the_claim():
    change = refused(STATE, SPARE, EngineTransient("not now"), now=NOW)
    (claim,) = change.claims
    assert (claim.phase, claim.tries, claim.error) == (ClaimPhase.ASKED, 1, "not now")
    assert (change.run, change.events) == (STATE.run, ())
