"""Begins attempts and asks for their claims: which offer next, how many at once, or wait.

Must not ask an engine: it writes claims down, and step.py submits them. Pure.

A claim that is refused never had a machine: the next offer takes its place in the same attempt, at
once and uncounted. When nothing is left to ask for, the run waits in the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from windlass.controller.backoff import RESTART_MAX_S
from windlass.controller.buying import advise
from windlass.controller.draft import Draft
from windlass.controller.ending import is_gone
from windlass.controller.offers import BLOCK_MAX_S, ON_DEMAND, SPOT, free, free_at
from windlass.controller.queueing import being_served, note_waiting
from windlass.controller.renting import Gang
from windlass.controller.spending import meter_of, move_usd, unanswered_usd
from windlass.controller.stopping import LIVE_ATTEMPTS, end_attempt, end_run
from windlass.controller.view import View
from windlass.policy.budget import is_enough, lasts_s, loser_usd, race_cap_usd
from windlass.state.model import Claim
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase

CLAIMS_MAX = 16
"""So many claims are asked for in one attempt; then the next one begins, with a fresh fence."""
WAIT_MAX_S = max(RESTART_MAX_S, BLOCK_MAX_S)
UNASKED = frozenset({ClaimPhase.CANCELLING, ClaimPhase.GONE})


class Choice(NamedTuple):
    """What to ask for now; where that is nothing, when to try again and why."""

    gangs: list[Gang]
    until: float | None = None
    """None: never."""
    code: str = ""
    reason: str = ""


def racing(draft: Draft) -> list[Claim]:
    """The claims of the newest attempt that may still win it."""
    return [
        claim
        for claim in draft.claims_of(draft.run.attempt)
        if claim.phase not in UNASKED and not claim.refused
    ]


def spares(draft: Draft) -> list[Claim]:
    """Claims of the attempt after the newest: asked for while that goes on, and held."""
    return [
        claim
        for claim in draft.claims_of(draft.run.attempt + 1)
        if claim.phase not in UNASKED and not claim.refused
    ]


def is_move(draft: Draft) -> bool:
    """Whether the newest attempt began with machines that were asked for while another went on."""
    moving = draft.market.moving
    return moving is not None and moving.attempt + 1 == draft.run.attempt


def note_refusals(view: View, draft: Draft) -> None:
    """Block what was refused: the engine said so at once, or when it had tried."""
    attempt = draft.attempt
    if attempt is None:
        return
    oldest = attempt.number + (attempt.phase not in LIVE_ATTEMPTS)
    for seen in view.claims:
        claim = draft.claim(seen.claim.id)
        if claim.attempt < oldest or claim.phase in UNASKED:
            continue
        code = claim.refused or seen.observation.refused
        if claim.phase is ClaimPhase.ASKED and _is_expired(claim, draft.now):
            # Nobody was here to ask for it in time; whether it was asked for, nobody knows.
            draft.set_claim(claim.id, phase=ClaimPhase.CANCELLING, tries=0, retry_at=0.0)
        elif code:
            said = claim.error or seen.observation.reason or f"{claim.engine} has refused it"
            _block(view, draft, claim, code=code, said=said)


def _is_expired(claim: Claim, now: float) -> bool:
    return claim.expires_at is not None and claim.expires_at <= now


def _block(view: View, draft: Draft, claim: Claim, *, code: str, said: str) -> None:
    draft.set_claim(claim.id, refused=code, error=said)
    draft.event(code, said, offer=claim.offer, buy=claim.buy)
    if view.is_rented:
        gang = view.gang_of(claim)
        draft.set_market(draft.market.refused(gang, code, draft.now))
    else:
        end_run(draft, Outcome.REJECTED, code, said)


def start(view: View, draft: Draft) -> None:
    """Begin the next attempt when the last one is known to have ended.

    Known from an earlier step: one decision writes the end of one attempt or the start of the
    next, never both.
    """
    run, before = draft.run, view.state
    if before.run.phase is not RunPhase.QUEUED or run.phase is not RunPhase.QUEUED:
        return
    if before.attempt is not None and before.attempt.phase is not AttemptPhase.ENDED:
        return
    # A clock that was set back must not make a run wait longer than any wait can be.
    wait_s = run.next_attempt_at - draft.now
    if 0 < wait_s <= WAIT_MAX_S:
        draft.wake(run.next_attempt_at)
        return
    held = spares(draft)
    if not held and has_uncounted(view, draft):
        return
    choice = (
        Choice([view.gang_of(claim) for claim in held]) if held else _choose(view, draft, (), ())
    )
    if not choice.gangs:
        _wait(draft, choice)
        return
    draft.add_attempt()
    if not held:
        _ask(view, draft, choice.gangs)
    number = draft.run.attempt
    where = f" in {_places(choice.gangs)}" if view.is_rented else ""
    message = f"attempt {number} is starting{where}{_from_checkpoint(view)}"
    draft.move_run(RunPhase.STARTING, "starting", message)


def _from_checkpoint(view: View) -> str:
    """What the attempt before has left to go on from, as far as its ranks have told."""
    step, lost = view.measured.saved_step, view.measured.steps_lost
    if step is None:
        return ""
    steps = "1 step is" if lost == 1 else f"{lost} steps are"
    return f", from the checkpoint of step {step}" + (f": {steps} done again" if lost else "")


def replace_refused(view: View, draft: Draft) -> None:
    """Ask for the next offers in place of those that were refused or fell out of the race."""
    attempt = draft.attempt
    if attempt is None or attempt.phase is not AttemptPhase.STARTING or not view.is_rented:
        return
    if view.winner is not None or draft.run.outcome is not None:
        return
    still = racing(draft)
    served = being_served(view, draft, still)
    note_waiting(view, draft, (claim for claim in still if claim not in served))
    if len(served) >= view.wishes.race or has_uncounted(view, draft):
        return
    if still and is_move(draft):
        return  # What was asked for ahead needs no rival.
    is_full = len(draft.claims_of(attempt.number)) >= CLAIMS_MAX
    if still and is_full:
        return
    choice = _choose(view, draft, still, served)
    if choice.gangs and not is_full:
        _ask(view, draft, choice.gangs)
        also = " too: nothing is free where it waits" if still and not served else ""
        draft.set_run(code="starting", reason=f"asking for {_places(choice.gangs)}{also}")
    elif not still:
        _wait(draft, choice if not choice.gangs else choice._replace(until=draft.now))


def has_uncounted(view: View, draft: Draft) -> bool:
    """Whether a claim that was given up may have machines that nobody has counted yet: with a
    budget nothing more is asked for until it is seen, or known to be gone."""
    if view.wishes.budget_usd is None:
        return False
    return any(
        claim.phase is ClaimPhase.CANCELLING
        and claim.held_from is None
        and not claim.refused
        and not is_gone(view, seen)
        for seen in view.claims
        for claim in (draft.claim(seen.claim.id),)
    )


def _choose(view: View, draft: Draft, still: Sequence[Claim], served: Sequence[Claim]) -> Choice:
    """The next offers, as many as may race beside those that are `served`; those that are asked
    for already left out."""
    if not view.is_rented:
        return Choice([view.gangs[0]])
    gangs = list(view.gangs)
    budget_usd = view.wishes.budget_usd
    if budget_usd is not None:
        gangs = [gang for gang in gangs if is_enough(_left_usd(view, draft, gang), gang.usd_per_h)]
        if not gangs:
            return Choice([], None, "budget", "what is left of its budget is too little")
    advice = advise(view, draft.market, draft.now) if not served else None
    if advice is not None:
        gangs = [gang for gang in advice.gangs if gang in gangs]
    but = {(claim.offer, claim.buy) for claim in still}
    found = free(gangs, draft.market, draft.now, but=but, is_choosy=bool(still))
    if found:
        return Choice(_raced(view, draft, found, still, width=view.wishes.race - len(served)))
    if advice is not None:
        until = min(draft.now + advice.hold_s, draft.now + WAIT_MAX_S)
        return Choice([], until, "waiting-to-buy", f"{advice.reason}; {_again(until)}")
    return _blocked(gangs, draft, others=len(view.gangs) - len(gangs))


def _raced(
    view: View, draft: Draft, found: Sequence[Gang], still: Sequence[Claim], *, width: int
) -> list[Gang]:
    """As many as may race: the first is asked for in any case, the others as long as what losers
    may cost allows."""
    room_usd = race_cap_usd(view.wishes.budget_usd) - meter_of(draft).race_usd
    room_usd -= sum(loser_usd(claim.usd_per_h) for claim in still[1:])
    chosen: list[Gang] = []
    for gang in found[:width]:
        if still or chosen:
            room_usd -= loser_usd(gang.usd_per_h)
            if room_usd < 0:
                _note_cap(view, draft)
                break
        chosen.append(gang)
    return chosen


def _note_cap(view: View, draft: Draft) -> None:
    if draft.market.is_capped:
        return
    draft.set_market(replace(draft.market, is_capped=True))
    cap = race_cap_usd(view.wishes.budget_usd)
    said = f"fewer offers are raced: what losers may cost, {cap:.2f} USD, would be overspent"
    draft.event("race-capped", said, usd=cap)


def _blocked(gangs: Sequence[Gang], draft: Draft, *, others: int) -> Choice:
    """Everything was refused that the rest of a budget is enough for; for `others` it is not."""
    market = draft.market
    until = free_at(gangs, market, draft.now)
    blocks = [market.block_of(gang, draft.now) for gang in gangs]
    codes = {
        block.code: sum(one is not None and one.code == block.code for one in blocks)
        for block in blocks
        if block is not None
    }
    dear = [f"{others} too dear for what is left of its budget"] if others else []
    counted = ", ".join([*(f"{count} {code}" for code, count in sorted(codes.items())), *dear])
    code = max(codes, key=lambda each: codes[each], default="out-of-stock")
    said = f"none of {len(gangs) + others} offers is to be had now ({counted})"
    if until is None:
        return Choice([], None, "budget" if others else code, said)
    return Choice([], until, code, f"{said}; {_again(until)}")


def _again(until: float) -> str:
    return f"tried again at {datetime.fromtimestamp(until, tz=UTC):%H:%M:%S} UTC"


def _wait(draft: Draft, choice: Choice) -> None:
    """Nothing to ask for: back into the queue, or the end when nothing ever will be."""
    if choice.until is None:
        outcome = Outcome.STOPPED if choice.code == "budget" else Outcome.REJECTED
        end_run(draft, outcome, choice.code, choice.reason)
        return
    reason = choice.reason or "asked for too many offers in one attempt"
    code = choice.code or "starting"
    end_attempt(draft, Outcome.REFUSED, code, reason)
    draft.set_run(next_attempt_at=choice.until)
    draft.move_run(RunPhase.QUEUED, code, reason)
    draft.wake(choice.until)


def _ask(view: View, draft: Draft, gangs: Sequence[Gang]) -> None:
    others = len(racing(draft)) + len(gangs) - 1
    for gang in gangs:
        count_ask(draft, gang)
        others_usd = others * loser_usd(gang.usd_per_h)
        draft.add_claim(gang, expires_at=expiry(view, draft, gang, others_usd=others_usd))


def count_ask(draft: Draft, gang: Gang) -> None:
    """On-demand is asked for; asking on and on counts once."""
    if gang.kind == ON_DEMAND and draft.market.refused_at is None:
        draft.set_market(replace(draft.market, asked=draft.market.asked + 1))


def _left_usd(view: View, draft: Draft, gang: Gang) -> float:
    """What of the budget may be spent on it: on spot, less than all where it may be left."""
    kept_usd = (move_usd(view) or 0.0) if gang.kind == SPOT else 0.0
    kept_usd += unanswered_usd(draft)
    return (view.wishes.budget_usd or 0.0) - meter_of(draft).spent_usd - kept_usd


def expiry(view: View, draft: Draft, gang: Gang, *, others_usd: float) -> float | None:
    """When its machines would end by themselves, had they come at once: with the run's time to
    live, or with the budget, of which what is held beside it may still use some. What comes late
    is held for as long (engines/lifetime.py)."""
    ends = [] if draft.run.expires_at is None else [draft.run.expires_at]
    if view.wishes.budget_usd is not None and gang.usd_per_h:
        left_usd = _left_usd(view, draft, gang) - others_usd
        ends.append(draft.now + lasts_s(left_usd, gang.usd_per_h))
    return min(ends, default=None)


def _places(gangs: Sequence[Gang]) -> str:
    return ", ".join(gang.offer for gang in gangs)
