"""Attempts on rented machines: the next offer after a refusal, races, waits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from offered import ON_DEMAND, A, B, C
from views import NOW, SILENT, ViewOf
from windlass.controller.decide import decide
from windlass.controller.effects import Cancel, Submit
from windlass.controller.offers import BLOCK_FIRST_S, Market, market_of, market_text
from windlass.controller.starting import CLAIMS_MAX
from windlass.controller.view import Measured
from windlass.engines.base import Observation, Seen
from windlass.policy.budget import GRACE_S, loser_usd
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase

STOCKOUT, QUOTA = "out-of-stock", "quota-exceeded"
PENDING = Observation(seen=Seen.PENDING, reason="it is being made")


def blocked(*gangs, code=STOCKOUT):
    market = Market()
    for gang in gangs:
        market = market.refused(gang, code, NOW - 1)
    return market_text(market)


def decided(made):
    return decide(made.view(), NOW)


def asked(decision):
    """Offers of the claims that are new."""
    return [effect.claim.offer for effect in decision.effects if isinstance(effect, Submit)]


def codes(decision):
    return [event.code for event in decision.change.events]


def starting(*gangs, **wishes):
    made = ViewOf().starting().rented(*gangs, **wishes).racing(*gangs[: wishes.get("race", 1)])
    return made.seen(observation=PENDING, up_for_s=0.0)


def test_the_first_attempt_asks_for_the_best_offer():
    decision = decided(ViewOf().rented(A, B))
    assert asked(decision) == [A.offer]
    [claim] = decision.change.claims
    assert (claim.buy, claim.nodes, claim.usd_per_h) == ("spot", 2, 36.0)
    assert claim.expires_at is None
    assert decision.change.run.reason == f"attempt 1 is starting in {A.offer}"


@pytest.mark.parametrize(
    ("lost", "more"), [(0, ""), (1, ": 1 step is done again"), (6, ": 6 steps are done again")]
)
def test_the_next_attempt_says_what_it_goes_on_from(lost, more):
    measured = Measured(saved_step=20, steps_lost=lost)
    decision = decided(ViewOf().over().rented(B, measured=measured))
    reason = f"attempt 2 is starting in {B.offer}, from the checkpoint of step 20{more}"
    assert decision.change.run.reason == reason


@pytest.mark.parametrize("is_late", [False, True], ids=["at once", "when it had tried"])
def test_a_refused_claim_is_replaced_by_the_next_offer_at_once_and_uncounted(is_late):
    made = starting(A, B)
    if is_late:
        made.seen(observation=Observation(seen=Seen.GONE, refused=STOCKOUT, reason="none left"))
    else:
        made.claim(phase=ClaimPhase.ASKED, refused=STOCKOUT, error="none left", handle="")
    decision = decided(made)
    assert asked(decision) == [B.offer]
    refused, new = decision.change.claims
    assert (refused.refused, refused.phase) == (STOCKOUT, ClaimPhase.CANCELLING)
    assert new.id == "r-1-1"
    run = decision.change.run
    assert (run.phase, run.restarts, run.attempt) == (RunPhase.STARTING, 0, 1)
    assert market_of(run.market).block_of(A, NOW).code == STOCKOUT
    assert codes(decision) == [STOCKOUT]
    assert decision.change.events[0].message == "none left"


def test_when_everything_is_out_of_stock_the_run_waits_in_the_queue():
    made = starting(A, B).claim(refused=STOCKOUT).run(market=blocked(B))
    decision = decided(made)
    run, [attempt] = decision.change.run, decision.change.attempts
    assert (run.phase, run.code, run.restarts) == (RunPhase.QUEUED, STOCKOUT, 0)
    assert (attempt.phase, attempt.outcome) == (AttemptPhase.ENDING, Outcome.REFUSED)
    assert "none of 2 offers is to be had now (2 out-of-stock)" in run.reason
    assert "tried again at" in run.reason
    assert run.next_attempt_at == NOW + 59.0


def test_a_run_that_waits_tries_again_when_the_block_is_over():
    made = ViewOf().over().rented(A).run(market=blocked(A), next_attempt_at=NOW - 1.0)
    decision = decided(made)
    assert decision.wake_at == NOW + 59.0
    assert decision.change.run.next_attempt_at == NOW + 59.0
    assert decision.change.attempts == ()
    assert asked(decide(made.view(), NOW + 59.0)) == [A.offer]


def test_a_run_without_quota_anywhere_ends():
    made = starting(A, B).claim(refused=QUOTA, error="no quota for spot-gpus in us-east1")
    decision = decided(made)
    run = decision.change.run
    assert (run.phase, run.outcome, run.code) == (RunPhase.STOPPING, Outcome.REJECTED, QUOTA)


def test_a_refusal_where_nothing_is_rented_ends_the_run():
    made = ViewOf().starting()
    made.seen(observation=Observation(seen=Seen.GONE, refused=STOCKOUT, reason="none left"))
    run = decided(made).change.run
    assert (run.outcome, run.reason) == (Outcome.REJECTED, "none left")


def test_after_a_preemption_another_zone_is_asked_first():
    made = ViewOf().running().rented(A, B).gone()
    ended = decided(made).change
    assert ended.attempts[0].outcome is Outcome.LOST
    after = ViewOf().over().rented(A, B).run(market=ended.run.market)
    assert asked(decided(after)) == [B.offer]
    alone = ViewOf().over().rented(A).run(market=ended.run.market)
    assert asked(decided(alone)) == [A.offer]


# ---- races -----------------------------------------------------------------------------------


def test_a_race_asks_for_different_offers_at_once():
    decision = decided(ViewOf().rented(A, B, C, race=2))
    assert asked(decision) == [A.offer, B.offer]
    assert [claim.id for claim in decision.change.claims] == ["r-1-0", "r-1-1"]


def test_a_race_with_fewer_offers_than_it_may_have_asks_for_those():
    assert asked(decided(ViewOf().rented(A, race=3))) == [A.offer]


def test_the_place_of_a_refused_racer_is_taken_by_the_next_offer():
    made = starting(A, B, C, race=2).one(0, {"refused": STOCKOUT})
    decision = decided(made)
    assert asked(decision) == [C.offer]
    assert decision.change.run.phase is RunPhase.STARTING


def test_losers_are_cancelled_at_once_and_their_cost_is_the_races():
    made = starting(A, B, race=2).winner("r-1-1")
    decision = decided(made)
    [loser] = [claim for claim in decision.change.claims if claim.id == "r-1-0"]
    assert (loser.is_extra, loser.phase) == (True, ClaimPhase.CANCELLING)
    assert Cancel(claim="r-1-0", handle="h", now=True) in decision.effects
    assert codes(decision) == ["race-lost"]


def test_a_racer_that_never_reports_leaves_the_race_to_the_others():
    late = {"observation": Observation(seen=Seen.RUNNING), "up_for_s": 101.0, "nodes": (SILENT,)}
    decision = decided(starting(A, B, race=2).one(0, **late))
    assert decision.change.attempts == ()
    assert [claim.phase for claim in decision.change.claims] == [ClaimPhase.CANCELLING]
    assert "fell-out" in codes(decision)
    # Nobody is left to win it.
    alone = starting(A, B, race=2).one(0, **late).one(1, {"refused": STOCKOUT})
    assert decided(alone).change.attempts[0].outcome is Outcome.LOST


def test_a_racer_that_fell_out_stays_known_until_the_fence_is_taken():
    made = starting(A, B, race=2).one(0, {"phase": ClaimPhase.CANCELLING}, gone_for_s=999.0)
    made.one(0, observation=Observation(seen=Seen.GONE)).run(market=blocked(A))
    change = decided(made).change
    assert change is None or change.claims == ()
    [fell_out, _] = decided(made.winner("r-1-1")).change.claims
    assert fell_out.phase is ClaimPhase.GONE


def test_races_are_capped_by_what_losers_may_cost():
    dear = [replace_price(gang, 240.0) for gang in (A, B, C)]
    assert loser_usd(240.0) == 20.0
    decision = decided(ViewOf().rented(*dear, race=3))
    assert asked(decision) == [A.offer]
    assert "race-capped" in codes(decision)
    again = ViewOf().rented(*dear, race=3).run(market=decision.change.run.market)
    assert "race-capped" not in codes(decided(again))
    assert len(asked(decided(ViewOf().rented(*dear, race=3, budget_usd=500.0)))) == 2


def test_what_races_have_cost_leaves_less_for_the_next():
    made = ViewOf().rented(A, B, race=2).run(race_usd=8.0)
    assert asked(decided(made)) == [A.offer]


def replace_price(gang, usd_per_h):
    return gang._replace(usd_per_h=usd_per_h)


def test_an_attempt_that_has_asked_too_often_gives_way_to_the_next():
    many = starting(A, B).racing(*[A] * CLAIMS_MAX)
    for index in range(CLAIMS_MAX):
        many.one(index, {"refused": STOCKOUT, "phase": ClaimPhase.CANCELLING})
    decision = decided(many)
    assert decision.change.attempts[0].outcome is Outcome.REFUSED
    assert decision.change.run.next_attempt_at == NOW


# ---- money and time --------------------------------------------------------------------------


def test_machines_end_by_themselves_with_the_budget_or_the_time_to_live():
    [claim] = decided(ViewOf().rented(A, budget_usd=36.0)).change.claims
    assert claim.expires_at == NOW + 3600.0 + GRACE_S
    made = ViewOf().rented(A, budget_usd=36.0).run(expires_at=NOW + 60.0)
    assert decided(made).change.claims[0].expires_at == NOW + 60.0
    raced = decided(ViewOf().rented(A, B, race=2, budget_usd=100.0)).change.claims
    assert {one.expires_at for one in raced} == {NOW + 9700.0 + GRACE_S}


def test_what_waits_in_a_queue_ends_with_the_budget_too():
    queued = A._replace(buy="flex-start")
    [claim] = decided(ViewOf().rented(queued, budget_usd=36.0)).change.claims
    assert claim.expires_at == NOW + 3600.0 + GRACE_S


def test_too_little_of_the_budget_for_another_start_ends_the_run():
    made = ViewOf().over().rented(A, budget_usd=36.0).run(spent_usd=35.5)
    run = decided(made).change.run
    assert (run.outcome, run.code) == (Outcome.STOPPED, "budget")


@pytest.mark.parametrize(
    ("code", "outcome", "next_at"),
    [("quota-exceeded", Outcome.STOPPED, 0.0), ("out-of-stock", None, NOW + BLOCK_FIRST_S)],
)
def test_what_the_budget_is_too_small_for_is_not_waited_for(code, outcome, next_at):
    dear = B._replace(usd_per_h=3600.0)
    market = market_text(Market().refused(A, code, NOW))
    made = ViewOf().over().rented(A, dear, budget_usd=36.0).run(market=market)
    run = decided(made).change.run
    assert (run.outcome, run.next_attempt_at) == (outcome, next_at)
    assert run.code == ("budget" if outcome else code)
    assert "1 too dear" in run.reason


def test_a_claim_that_nobody_asked_for_in_time_is_not_asked_for_any_more():
    made = ViewOf().starting(claim=ClaimPhase.ASKED).rented(A, B)
    made.claim(expires_at=NOW - 1.0)
    decision = decided(made)
    assert decision.change.claims[0].phase is ClaimPhase.CANCELLING
    assert [effect.claim.id for effect in decision.effects] == ["r-1-1"]


def test_with_a_budget_nothing_more_is_asked_for_while_machines_may_be_uncounted():
    made = ViewOf().starting(claim=ClaimPhase.ASKED).rented(A, B, budget_usd=36.0)
    made.claim(expires_at=NOW - 1.0)
    assert asked(decided(made)) == []
    made.claim(phase=ClaimPhase.CANCELLING).seen(observation=Observation(seen=Seen.UNKNOWN))
    assert asked(decided(made)) == []
    assert asked(decided(made.gone())) == [A.offer]


def test_the_buying_policy_waits_when_spot_may_come_back():
    gangs = (A, B, C, ON_DEMAND)
    wishes = {"deadline_s": 30 * 3600.0}
    assert asked(decided(ViewOf().rented(*gangs, **wishes))) == [A.offer]
    made = ViewOf().rented(*gangs, **wishes).run(market=blocked(A, B, C))
    run = decided(made).change.run
    assert (run.phase, run.code) == (RunPhase.QUEUED, "waiting-to-buy")
    assert run.reason.startswith("the outage may end soon; tried again at")


def test_the_buying_policy_buys_on_demand_when_time_is_short():
    made = ViewOf().rented(A, B, C, ON_DEMAND, deadline_s=10.2 * 3600.0)
    decision = decided(made)
    assert asked(decision) == [ON_DEMAND.offer]
    assert market_of(decision.change.run.market).asked == 1


def test_without_a_deadline_the_plan_decides():
    made = ViewOf().rented(A, ON_DEMAND).run(market=blocked(A))
    assert asked(decided(made)) == [ON_DEMAND.offer]


def test_claims_of_a_rented_run_are_known_by_their_offer_alone():
    made = starting(A, B)
    gone = replace(made.view().claims[0].claim, offer="elsewhere/big/spot", refused=STOCKOUT)
    made.claim(offer=gone.offer, refused=STOCKOUT)
    assert asked(decided(made)) == [A.offer]


def test_a_claim_that_was_given_up_unanswered_keeps_a_tick_of_the_budget():
    """It is known to be gone, and may come up all the same: a submit can hang for long."""
    made = starting(A, B, budget_usd=50.0).one(
        0,
        {"phase": ClaimPhase.CANCELLING, "handle": ""},
        handle="",
        observation=Observation(seen=Seen.GONE),
        gone_for_s=60.0,
    )
    decision = decided(made)
    new = next(claim for claim in decision.change.claims if claim.id == "r-1-1")
    tick_usd = A.usd_per_h * 60.0 / 3600.0
    left_s = (50.0 - tick_usd) / B.usd_per_h * 3600.0
    assert new.expires_at == pytest.approx(NOW + left_s + GRACE_S)
