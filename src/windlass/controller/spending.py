"""Counts what a run's machines cost, and ends the run before its budget is overspent.

Must not know prices: each claim carries that of its offer. Pure.
"""

from __future__ import annotations

from dataclasses import replace

from windlass.controller.buying import may_buy
from windlass.controller.draft import Draft
from windlass.controller.ending import is_gone
from windlass.controller.offers import ON_DEMAND, SPOT
from windlass.controller.stopping import end_run
from windlass.controller.view import ClaimView, View
from windlass.engines.base import Seen
from windlass.policy.budget import judge, loser_usd, race_cap_usd
from windlass.policy.meter import Meter, read_meter, usd_of
from windlass.state.model import Charge, Claim
from windlass.state.phases import ClaimPhase, Outcome


def meter_claims(view: View, draft: Draft) -> None:
    """Note since when machines are paid for, and when that ends."""
    for seen in view.claims:
        claim = draft.claim(seen.claim.id)
        if not claim.usd_per_h or claim.held_until is not None:
            continue
        if claim.held_from is None and _has_machines(view, seen):
            # An engine that does not say since when may have had them from the first moment.
            since = seen.observation.up_at
            _hold(
                view, draft, replace(claim, held_from=claim.created_at if since is None else since)
            )
        if draft.claim(claim.id).held_from is not None and is_gone(view, seen):
            _let_go(view, draft, seen)


def meter_of(draft: Draft) -> Meter:
    """What the run has cost so far."""
    return read_meter(draft.run, draft.open_claims(), now=draft.now)


def move_usd(view: View) -> float | None:
    """What is kept of a budget for a move from spot to on-demand, while which both are paid for;
    None where there can be no move: nothing to decide, or too small a budget."""
    if not may_buy(view):
        return None
    budget_usd = view.wishes.budget_usd
    if budget_usd is None:
        return 0.0
    usd = max(loser_usd(gang.usd_per_h) for gang in view.gangs if gang.kind == ON_DEMAND)
    return usd if usd <= race_cap_usd(budget_usd) else None


def unanswered_usd(draft: Draft) -> float:
    """What is kept for claims that were given up before anybody knew whether they were asked for:
    a submit that hangs in a controller which was replaced may yet bring them up, for a tick."""
    return sum(
        usd_of(claim.usd_per_h, from_at=draft.now, until_at=draft.now)
        for claim in draft.open_claims()
        if claim.phase is ClaimPhase.CANCELLING
        and not (claim.handle or claim.refused)
        and claim.held_from is None
    )


def _kept_usd(view: View, draft: Draft) -> float:
    """What must not be spent yet: nothing once a move has begun, or there is nothing to leave."""
    newest = draft.run.attempt
    buys = {claim.buy for claim in draft.open_claims() if claim.attempt >= newest}
    return (move_usd(view) or 0.0) if buys == {SPOT} else 0.0


def watch_budget(view: View, draft: Draft) -> None:
    """Warn, and stop in time for one save."""
    budget_usd = view.wishes.budget_usd
    if budget_usd is None or draft.run.outcome is not None:
        return
    meter, kept_usd = meter_of(draft), _kept_usd(view, draft)
    verdict = judge(
        budget_usd, meter, save_s=view.measured.save_s, now=draft.now, kept_usd=kept_usd
    )
    if verdict.is_warned and not draft.market.is_warned:
        draft.set_market(replace(draft.market, is_warned=True))
        said = f"{meter.spent_usd:.2f} of {budget_usd:.2f} USD (limits.budget) are spent"
        draft.event("budget-warning", said, usd=round(meter.spent_usd, 4))
    if verdict.is_over:
        end_for_budget(view, draft, kept_usd=kept_usd)
    elif verdict.look_at is not None:
        draft.wake(verdict.look_at)


def end_for_budget(view: View, draft: Draft, *, kept_usd: float) -> None:
    """The rest of the budget is what a save costs, or too little for another start."""
    spent, budget_usd = meter_of(draft).spent_usd, view.wishes.budget_usd or 0.0
    reason = f"its budget is used up: {spent:.2f} of {budget_usd:.2f} USD (limits.budget)"
    if kept_usd:
        reason += f", {kept_usd:.2f} of them kept for a move to on-demand"
    end_run(draft, Outcome.STOPPED, "budget", reason)


def _has_machines(view: View, seen: ClaimView) -> bool:
    """Whether it has, or had while nobody looked: what was taken, not refused, and is gone by
    itself had some."""
    claim, observation = seen.claim, seen.observation
    is_heard = any(node.exit is not None or node.beat_age_s is not None for node in seen.nodes)
    is_refused = bool(claim.refused or observation.refused)
    has_vanished = claim.phase is ClaimPhase.SUBMITTED and not is_refused and is_gone(view, seen)
    is_up = observation.seen is Seen.RUNNING
    return is_up or is_heard or has_vanished or view.winner == claim.id


def _hold(view: View, draft: Draft, claim: Claim) -> None:
    draft.set_claim(claim.id, held_from=claim.held_from)
    draft.charge(_charge(view, draft, claim))


def _let_go(view: View, draft: Draft, seen: ClaimView) -> None:
    claim = draft.claim(seen.claim.id)
    assert claim.held_from is not None
    until = draft.now - (seen.gone_for_s or 0.0)
    if seen.observation.down_at is not None:
        until = min(until, seen.observation.down_at)
    if claim.expires_at is not None:
        # Nobody may have looked for long; machines end by themselves so long after they came.
        until = min(until, claim.held_from + claim.expires_at - claim.created_at)
    ended = replace(claim, held_until=max(until, claim.held_from))
    draft.set_claim(claim.id, held_until=ended.held_until)
    draft.charge(_charge(view, draft, ended))
    usd = usd_of(claim.usd_per_h, from_at=claim.held_from, until_at=until)
    extra = usd if claim.is_extra else 0.0
    draft.set_run(spent_usd=draft.run.spent_usd + usd, race_usd=draft.run.race_usd + extra)


def _charge(view: View, draft: Draft, claim: Claim) -> Charge:
    assert claim.held_from is not None
    return Charge(
        claim=claim.id,
        run=claim.run,
        name=draft.run.name,
        owner=draft.run.owner,
        team=view.wishes.team,
        env=view.wishes.env,
        offer=claim.offer,
        buy=claim.buy,
        usd_per_h=claim.usd_per_h,
        from_at=claim.held_from,
        until_at=claim.held_until,
        is_extra=claim.is_extra,
        cloud=draft.run.cloud,
    )
