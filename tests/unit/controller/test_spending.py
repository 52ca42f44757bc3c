"""What a run's machines cost, and the end that a budget makes."""

from __future__ import annotations

import pytest

from builders import make_charge
from offered import A
from views import BEATING, NOW, SILENT, ViewOf
from windlass.controller.decide import decide
from windlass.controller.effects import Cancel
from windlass.controller.offers import market_of
from windlass.controller.view import Measured
from windlass.engines.base import Observation, Seen
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase

HELD = {"held_from": NOW - 3600.0}
CHARGE = {"offer": A.offer, "usd_per_h": 36.0}


def running(**wishes):
    return ViewOf().running().rented(A, **wishes)


def change_of(made):
    return decide(made.view(), NOW).change


@pytest.mark.parametrize(
    ("up_at", "expected"),
    [
        pytest.param(NOW - 5.0, NOW - 5.0, id="the engine says since when"),
        pytest.param(None, 1000.0, id="else from the moment they were asked for"),
    ],
)
def test_machines_are_paid_for_from_when_they_are_there(up_at, expected):
    made = running(team="nlp", env="dev")
    made.seen(observation=Observation(seen=Seen.RUNNING, up_at=up_at))
    change = change_of(made)
    assert change.claims[0].held_from == expected
    assert change.charges == (make_charge(from_at=expected, team="nlp", env="dev", **CHARGE),)


def test_a_claim_in_a_queue_costs_nothing():
    made = ViewOf().starting().rented(A)
    made.seen(observation=Observation(seen=Seen.PENDING), up_for_s=0.0)
    assert change_of(made).charges == ()


def test_machines_that_came_while_nobody_looked_are_seen_by_their_heartbeats():
    made = ViewOf().starting().rented(A).gone(seconds=1.0).nodes(BEATING, SILENT)
    [charge] = change_of(made).charges
    assert charge.from_at == 1000.0


def test_what_was_taken_and_is_gone_by_itself_had_machines():
    made = ViewOf().starting().rented(A).gone().claim(expires_at=1000.0 + 3600.0)
    [held, ended] = change_of(made).charges
    assert (held.from_at, ended.until_at) == (1000.0, 4600.0)


def test_what_was_refused_or_cancelled_before_it_came_had_none():
    refused = Observation(seen=Seen.GONE, refused="out-of-stock")
    assert change_of(ViewOf().starting().rented(A).gone().seen(observation=refused)).charges == ()
    assert change_of(ViewOf().ending().rented(A).winner("").gone()).charges == ()


def test_what_was_held_is_added_up_when_it_is_gone():
    made = running().claim(**HELD).run(spent_usd=1.0).gone(seconds=60.0)
    change = change_of(made)
    assert change.claims[0].held_until == NOW - 60.0
    assert change.run.spent_usd == pytest.approx(1.0 + 36.0 * 3540 / 3600)
    assert change.charges == (make_charge(from_at=NOW - 3600.0, until_at=NOW - 60.0, **CHARGE),)


def test_machines_end_by_themselves_when_nobody_looks_for_long():
    made = running().claim(created_at=NOW - 3700, expires_at=NOW - 2700, **HELD).gone()
    assert change_of(made).claims[0].held_until == NOW - 2600.0


def test_an_engine_may_know_when_they_ended():
    made = running().claim(**HELD).gone(seconds=60.0)
    made.seen(observation=Observation(seen=Seen.GONE, down_at=NOW - 1800.0))
    assert change_of(made).claims[0].held_until == NOW - 1800.0


def test_what_a_loser_cost_is_the_races():
    made = running().claim(is_extra=True, **HELD).gone(seconds=60.0)
    run = change_of(made).run
    assert run.race_usd == run.spent_usd == pytest.approx(35.4)


def test_the_user_is_warned_once_at_four_fifths_of_the_budget():
    made = running(budget_usd=45.0).claim(**HELD)
    change = change_of(made)
    [event] = change.events
    assert event.code == "budget-warning"
    assert event.message == "36.00 of 45.00 USD (limits.budget) are spent"
    assert market_of(change.run.market).is_warned
    assert change_of(made.run(market=change.run.market)) is None


def test_a_run_is_looked_at_again_when_its_budget_may_matter():
    made = running(budget_usd=50.0).claim(**HELD)
    assert decide(made.view(), NOW).wake_at == pytest.approx(NOW + 400.0)


@pytest.mark.parametrize(
    ("save_s", "budget_usd", "is_stopped"),
    [
        pytest.param(100.0, 37.0, True, id="what is left is one save"),
        pytest.param(99.0, 37.0, False, id="a little more is left"),
        pytest.param(None, 36.3, True, id="a save nobody has measured is short"),
        pytest.param(None, 36.31, False, id="and so is the time before it"),
    ],
)
def test_a_budget_stops_the_run_in_time_for_a_save(save_s, budget_usd, is_stopped):
    made = running(budget_usd=budget_usd, measured=Measured(save_s=save_s)).claim(**HELD)
    decision = decide(made.view(), NOW)
    run = decision.change.run
    assert (run.outcome is Outcome.STOPPED) is is_stopped
    if is_stopped:
        assert (run.phase, run.code) == (RunPhase.STOPPING, "budget")
        assert run.reason.startswith("its budget is used up: 36.00 of")
        assert decision.change.attempts[0].phase is AttemptPhase.ENDING
        assert decision.effects == (Cancel(claim="r-1-0", handle="h", now=False),)
        assert decision.change.claims[0].phase is ClaimPhase.CANCELLING
