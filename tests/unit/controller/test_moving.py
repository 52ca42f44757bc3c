"""Spot machines that work are left for on-demand ones in time, and only once those are there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from offered import ON_DEMAND, A, B, make_gang
from views import BEATING, NOW, SILENT, ViewOf, ended, left
from windlass.controller.decide import decide
from windlass.controller.effects import Cancel, Open, Submit
from windlass.controller.moving import FRESH_S, REVIEW_S, SPARES_MAX
from windlass.controller.offers import Market, Moving, market_of, market_text
from windlass.controller.step import applied
from windlass.controller.view import Measured
from windlass.engines.base import Observation, Seen
from windlass.policy.budget import GRACE_S, loser_usd
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase

WORK_S = A.work_s
HALF = Measured(done_share=0.5)
LATE, EARLY = 0.5 * WORK_S + 2000.0, 0.5 * WORK_S + 4000.0
"""Time left: the policy keeps some 2,800 s of it for on-demand that has to be waited for."""
MOVING = market_text(Market(moving=Moving(1, "because")))
OTHER = make_gang("us-east1-b", "on-demand", usd_per_h=110.0)


def running(*gangs, time_s=LATE, measured=HALF, **wishes):
    """Half of the work is done, on spot, with so much time left."""
    gangs = gangs or (A, ON_DEMAND)
    wishes = {"deadline_s": WORK_S, **wishes}
    made = ViewOf().running(winner="r-1-0").rented(*gangs, measured=measured, **wishes)
    return made.run(created_at=NOW + time_s - WORK_S)


def moving(*gangs, **more):
    """The same, with on-demand machines that wait beside."""
    return running(*gangs, **more).run(market=MOVING, code="moving").spare(ON_DEMAND)


def decided(made):
    return decide(made.view(), NOW)


def submitted(decision):
    return [effect.claim for effect in decision.effects if isinstance(effect, Submit)]


def cancelled(decision):
    return [effect.claim for effect in decision.effects if isinstance(effect, Cancel)]


def codes(decision):
    return [event.code for event in decision.change.events] if decision.change else []


def test_on_demand_is_asked_for_beside_spot_that_must_be_left():
    decision = decided(running())
    [claim] = submitted(decision)
    assert (claim.id, claim.attempt, claim.offer) == ("r-2-0", 2, ON_DEMAND.offer)
    [held] = decision.change.attempts
    assert (held.number, held.phase) == (2, AttemptPhase.HELD)
    run = decision.change.run
    assert (run.phase, run.attempt, run.code) == (RunPhase.RUNNING, 1, "moving")
    assert market_of(run.market).asked == 1
    [event] = [one for one in decision.change.events if one.code == "moving"]
    assert "50% is done, 5.00 h of work are left in 5.56 h" in event.message
    assert "72.00 USD an hour more" in event.message
    assert cancelled(decision) == []


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(running(time_s=EARLY), id="there is time"),
        pytest.param(running(time_s=0.5 * WORK_S), id="too late: only this spot can make it"),
        pytest.param(running(A, B), id="nothing but spot is allowed"),
        pytest.param(running(deadline_s=None), id="no deadline"),
        pytest.param(running(measured=Measured()), id="nobody knows how far it is"),
        pytest.param(running(measured=Measured(done_share=1.0)), id="all is done"),
        pytest.param(running(ON_DEMAND, A), id="it is on demand"),
        pytest.param(running(budget_usd=100.0), id="the budget is too small for two gangs"),
        pytest.param(running(budget_usd=1e4).run(spent_usd=9990.0), id="or nearly used up"),
    ],
)
def test_spot_that_works_is_kept_otherwise(made):
    decision = decided(made)
    assert "moving" not in codes(decision)
    assert submitted(decision) == []


def test_what_is_known_to_be_refused_is_not_asked_for():
    market = Market().refused(ON_DEMAND, "out-of-stock", NOW - 1.0)
    made = running(A, ON_DEMAND, OTHER).run(market=market_text(market))
    [claim] = submitted(decided(made))
    assert claim.offer == OTHER.offer
    market = market.refused(OTHER, "quota-exceeded", NOW - 1.0)
    assert submitted(decided(running(A, ON_DEMAND, OTHER).run(market=market_text(market)))) == []


def test_machines_that_did_not_come_are_not_asked_for_again_at_once():
    market = Market().taken_away(ON_DEMAND, NOW - 1.0)
    assert submitted(decided(running().run(market=market_text(market)))) == []


def test_a_refusal_leads_to_the_next_offer_and_leaves_the_gang_alone():
    made = moving(A, ON_DEMAND, OTHER)
    refused = {"phase": ClaimPhase.ASKED, "handle": "", "refused": "out-of-stock", "error": "none"}
    made.one(1, refused, handle="", observation=Observation(seen=Seen.UNKNOWN), nodes=(SILENT,))
    decision = decided(made)
    [claim] = submitted(decision)
    assert (claim.id, claim.offer) == ("r-2-1", OTHER.offer)
    assert codes(decision) == ["out-of-stock"]
    run = decision.change.run
    assert (run.phase, run.outcome, run.restarts) == (RunPhase.RUNNING, None, 0)
    assert not any(attempt.number == 1 for attempt in decision.change.attempts)


def test_one_attempt_does_not_ask_ahead_for_ever():
    made = running().run(market=MOVING)
    for index in range(SPARES_MAX):
        made.spare(ON_DEMAND, index, phase=ClaimPhase.GONE)
    view = made.view()
    view = replace(view, claims=view.claims[:1])
    assert [one for one in decide(view, NOW).effects if isinstance(one, Submit)] == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"observation": Observation(seen=Seen.PENDING)}, id="they wait in a queue"),
        pytest.param({"nodes": (BEATING, SILENT)}, id="one is not there yet"),
        pytest.param(
            {"nodes": (BEATING, replace(BEATING, beat_age_s=FRESH_S))}, id="one is silent"
        ),
        pytest.param(
            {"observation": Observation(seen=Seen.RUNNING, missing=(1,))}, id="one is missed"
        ),
    ],
)
def test_the_gang_goes_on_until_all_of_the_new_machines_are_there(changes):
    decision = decided(moving().one(1, up_for_s=0.0, **changes))
    assert (cancelled(decision), submitted(decision)) == ([], [])
    assert "moved" not in codes(decision)


def test_then_it_is_told_to_leave_and_that_is_no_restart():
    decision = decided(moving())
    [attempt] = decision.change.attempts
    assert (attempt.number, attempt.phase) == (1, AttemptPhase.ENDING)
    assert (attempt.outcome, attempt.code) == (Outcome.MOVED, "moved")
    assert attempt.reason == f"left for on-demand in {ON_DEMAND.offer}: because"
    run = decision.change.run
    assert (run.phase, run.code, run.restarts) == (RunPhase.QUEUED, "moving", 0)
    [cancel] = [effect for effect in decision.effects if isinstance(effect, Cancel)]
    assert (cancel.claim, cancel.now) == ("r-1-0", False)
    assert not any(isinstance(effect, Open) for effect in decision.effects)


def test_the_next_attempt_takes_over_the_machines_and_opens_itself_to_them():
    made = ViewOf().over(outcome=Outcome.MOVED).rented(A, ON_DEMAND, deadline_s=WORK_S)
    held = moving().view().claims[1]
    view = replace(made.run(market=MOVING).winner("r-1-0").view(), claims=(held,))
    view = replace(view, state=replace(view.state, claims=(held.claim,)))
    decision = decide(view, NOW)
    [attempt] = decision.change.attempts
    assert (attempt.number, attempt.phase) == (2, AttemptPhase.STARTING)
    assert decision.change.run.reason == f"attempt 2 is starting in {ON_DEMAND.offer}"
    assert decision.effects == (Open(attempt=2, claims=("r-2-0",)),)
    # Whoever wrote this died before it was said; the next one says it.
    again = replace(view, state=applied(view.state, decision.change), winner=None)
    assert Open(attempt=2, claims=("r-2-0",)) in decide(again, NOW).effects
    assert decide(replace(again, winner="r-2-0"), NOW).effects == ()


def test_a_racer_is_not_set_against_the_machines_that_are_there():
    made = ViewOf().over(outcome=Outcome.MOVED).rented(A, ON_DEMAND, deadline_s=WORK_S, race=3)
    held = moving().view().claims[1]
    view = replace(made.run(market=MOVING).winner("r-1-0").view(), claims=(held,))
    view = replace(view, state=replace(view.state, claims=(held.claim,)))
    then = replace(view, state=applied(view.state, decide(view, NOW).change), winner=None)
    assert submitted(decide(then, NOW)) == []


def test_a_gang_that_is_lost_meanwhile_counts_as_lost_and_the_machines_are_kept():
    made = moving().one(0, gone_for_s=60.0, observation=Observation(seen=Seen.GONE))
    decision = decided(made)
    [attempt] = decision.change.attempts
    assert (attempt.number, attempt.outcome) == (1, Outcome.LOST)
    assert decision.change.run.restarts == 1
    assert "r-2-0" not in cancelled(decision)


@pytest.mark.parametrize(
    ("nodes", "end", "phase", "outcome"),
    [
        pytest.param((left(), left()), None, RunPhase.STOPPING, Outcome.SUCCEEDED, id="done"),
        pytest.param(
            (left("user-error", status=1), left("gang-ended")),
            ended(),
            RunPhase.STOPPING,
            Outcome.USER_ERROR,
            id="failed by itself",
        ),
        pytest.param(
            (left("preempted", status=75, had_notice=True), left("preempted", status=75)),
            ended(75, outcome="preempted"),
            RunPhase.QUEUED,
            Outcome.MOVED,
            id="saved and left",
        ),
    ],
)
def test_ranks_that_ended_before_they_were_told_decide(nodes, end, phase, outcome):
    made = ViewOf().ending(outcome=Outcome.MOVED, code="moved", winner="r-1-0")
    made.rented(A, ON_DEMAND, deadline_s=WORK_S, measured=HALF).winner("r-1-0")
    made.seen(nodes=nodes, end=end).run(market=MOVING).spare(ON_DEMAND)
    decision = decided(made)
    [attempt] = decision.change.attempts
    assert (attempt.phase, attempt.outcome) == (AttemptPhase.ENDED, outcome)
    run = decision.change.run
    assert run.phase is phase
    is_over = outcome is not Outcome.MOVED
    assert (run.outcome is outcome) is is_over
    assert ("r-2-0" in cancelled(decision)) is is_over


def test_it_is_called_off_where_it_cannot_help_any_more():
    decision = decided(moving(time_s=0.5 * WORK_S))
    assert codes(decision) == ["move-called-off"]
    assert cancelled(decision) == ["r-2-0"]
    claim = next(one for one in decision.change.claims if one.id == "r-2-0")
    assert claim.is_extra
    run = decision.change.run
    assert (run.phase, run.code) == (RunPhase.RUNNING, "running")
    market = market_of(run.market)
    assert market.moving.again_at == NOW + REVIEW_S
    # And not begun again before a while has passed.
    kept = running().run(market=run.market)
    assert submitted(decide(kept.view(), NOW + 1.0)) == []
    assert len(submitted(decide(kept.view(), NOW + REVIEW_S))) == 1


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"nodes": (SILENT, SILENT), "up_for_s": 1e4}, id="they never reported"),
        pytest.param({"nodes": (left("given-up"), BEATING)}, id="they waited for too long"),
        pytest.param(
            {"observation": Observation(seen=Seen.GONE), "gone_for_s": 60.0}, id="they are gone"
        ),
    ],
)
def test_machines_that_fall_out_are_given_back_and_the_gang_goes_on(changes):
    decision = decided(moving().one(1, **changes))
    assert "fell-out" in codes(decision)
    claim = next(one for one in decision.change.claims if one.id == "r-2-0")
    assert claim.phase in (ClaimPhase.CANCELLING, ClaimPhase.GONE)
    assert decision.change.run.phase is RunPhase.RUNNING
    assert decision.change.run.restarts == 0


def test_the_end_of_the_run_is_the_end_of_what_was_asked_for_ahead():
    made = moving().one(0, nodes=(left(), left()))
    decision = decided(made)
    assert decision.change.run.outcome is Outcome.SUCCEEDED
    assert "r-2-0" in cancelled(decision)


def test_of_a_budget_what_a_move_costs_is_kept_while_on_spot():
    kept_usd = loser_usd(ON_DEMAND.usd_per_h)
    budget_usd = 1000.0
    made = running(time_s=EARLY, budget_usd=budget_usd)
    made.run(spent_usd=budget_usd - kept_usd - 0.1)
    change = decided(made).change
    assert change.run.code == "budget"
    assert f"{kept_usd:.2f} of them kept for a move to on-demand" in change.run.reason
    first = ViewOf().rented(A, ON_DEMAND, deadline_s=3 * WORK_S, budget_usd=budget_usd)
    [claim] = submitted(decided(first.run(created_at=NOW)))
    assert claim.offer == A.offer
    left_s = (budget_usd - kept_usd) / A.usd_per_h * 3600.0
    assert claim.expires_at == pytest.approx(NOW + left_s + GRACE_S)
    # Once the move has begun, it is what that is for.
    made = moving(budget_usd=budget_usd).run(spent_usd=budget_usd - kept_usd - 0.1)
    made.claim(held_from=NOW - 60.0)
    assert decided(made).change.run.code != "budget"


def test_machines_asked_for_ahead_leave_aside_what_the_gang_costs_until_it_has_left():
    made = running(budget_usd=1000.0).claim(held_from=NOW - 3600.0)
    [claim] = submitted(decided(made))
    left_usd = 1000.0 - A.usd_per_h - loser_usd(A.usd_per_h)
    left_s = left_usd / ON_DEMAND.usd_per_h * 3600.0
    assert claim.expires_at == pytest.approx(NOW + left_s + GRACE_S)
