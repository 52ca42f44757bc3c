"""Leaves spot machines that work for on-demand ones, so that losing them misses no deadline.

Must not ask an engine: it writes claims down, and step.py submits them. Pure.

The new machines come first. They are asked for as claims of the next attempt, whose agents are held
(agent/hold.py), while the gang goes on. Only when every node of such a claim beats is the gang told
to save and to leave; when none of its ranks can be alive, the next attempt begins and is opened to
them. What is refused is blocked as ever, and the gang that works is kept.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from windlass.controller.buying import Need, must_leave
from windlass.controller.draft import Draft
from windlass.controller.effects import Open
from windlass.controller.ending import ending_of
from windlass.controller.offers import ON_DEMAND, SPOT, Moving, free
from windlass.controller.queueing import being_served, note_waiting
from windlass.controller.renting import Gang
from windlass.controller.spending import meter_of, move_usd
from windlass.controller.starting import (
    UNASKED,
    count_ask,
    expiry,
    has_uncounted,
    is_move,
    racing,
    spares,
)
from windlass.controller.view import ClaimView, View
from windlass.controller.zones import HOUR_S
from windlass.engines.base import Seen
from windlass.policy.budget import is_enough, loser_usd
from windlass.state.model import Claim
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase

SPARES_MAX = 200
"""So many claims are asked for ahead of one attempt: all of them are read with the run."""
FRESH_S = 15.0
"""A node that has not been heard of for longer may be gone: nothing is left for its sake."""
REVIEW_S = 600.0
"""A move that was called off is not thought of again before."""


def move(view: View, draft: Draft) -> None:
    """Begin a move, carry it on, or call it off."""
    attempt, run = draft.attempt, draft.run
    if attempt is None or run.outcome is not None or view.wishes.deadline_s is None:
        return
    if attempt.phase is AttemptPhase.ENDING and attempt.outcome is Outcome.MOVED:
        _note_own_end(view, draft)
    if attempt.phase is not AttemptPhase.RUNNING:
        return
    _drop_failed(view, draft)
    gang = next((one for one in draft.claims_of(attempt.number) if one.id == view.winner), None)
    if gang is None or view.gang_of(gang).kind != SPOT:
        return
    need = must_leave(view, draft.market, draft.now)
    whole = [seen for seen in view.claims if _is_whole(seen, draft)]
    if whole and need is not None:
        _leave(view, draft, to=whole[0].claim)
    elif whole:
        _call_off(draft, [seen.claim for seen in whole])
    elif need is not None and not being_served(view, draft, spares(draft)):
        _ask_ahead(view, draft, need, leaving=gang)


def open_attempt(view: View, draft: Draft) -> None:
    """Let machines that were held win the attempt that has begun with them. Said again until one
    has: whoever began it may not have lived to say it."""
    attempt, before = draft.attempt, view.state.attempt
    if attempt is None or attempt.phase is not AttemptPhase.STARTING or not is_move(draft):
        return
    is_new = before is None or before.number != attempt.number
    claims = tuple(claim.id for claim in racing(draft))
    if claims and (is_new or view.winner is None):
        draft.effect(Open(attempt=attempt.number, claims=claims))


def _ask_ahead(view: View, draft: Draft, need: Need, *, leaving: Claim) -> None:
    """Ask for the next on-demand offer that is free and can be paid for; while there is none, the
    gang that works is kept."""
    number, moving = draft.run.attempt, draft.market.moving
    if moving is None or moving.attempt != number:
        moving = Moving(number, "")
    is_called_off = 0 < moving.again_at - draft.now <= REVIEW_S
    is_full = len(draft.claims_of(number + 1)) >= SPARES_MAX
    if is_called_off or is_full or move_usd(view) is None or has_uncounted(view, draft):
        return
    gangs = [one for one in view.gangs if one.kind == ON_DEMAND and _is_paid(view, draft, one)]
    if not gangs:
        return
    if not moving.reason:
        reason = _because(view, draft, need, more_usd=gangs[0].usd_per_h - leaving.usd_per_h)
        moving = moving._replace(reason=reason)
        draft.set_market(replace(draft.market, moving=moving))
        draft.event("moving", reason, done=view.measured.done_share, **need._asdict())
    waiting = spares(draft)
    note_waiting(view, draft, waiting)
    but = {(claim.offer, claim.buy) for claim in waiting}
    found = free(gangs, draft.market, draft.now, but=but, is_choosy=True)
    if not found:
        said = "on-demand is not to be had now, so that spot is kept"
        draft.set_run(code="moving", reason=f"{moving.reason}; {said}")
        return
    count_ask(draft, found[0])
    others_usd = loser_usd(leaving.usd_per_h)
    draft.add_spare(found[0], expires_at=expiry(view, draft, found[0], others_usd=others_usd))
    draft.set_run(code="moving", reason=f"{moving.reason}; asking for {found[0].offer} meanwhile")


def _because(view: View, draft: Draft, need: Need, *, more_usd: float) -> str:
    deadline = draft.run.created_at + (view.wishes.deadline_s or 0.0)
    until = datetime.fromtimestamp(deadline, tz=UTC)
    done = view.measured.done_share or 0.0
    return (
        f"losing spot would miss the deadline ({until:%Y-%m-%d %H:%M} UTC): {done:.0%} is done,"
        f" {need.work_s / HOUR_S:.2f} h of work are left in {need.time_s / HOUR_S:.2f} h;"
        f" on-demand costs {more_usd:.2f} USD an hour more"
    )


def _is_paid(view: View, draft: Draft, gang: Gang) -> bool:
    """Whether what is left of the budget after the move is worth a start."""
    budget_usd = view.wishes.budget_usd
    if budget_usd is None:
        return True
    left_usd = budget_usd - meter_of(draft).spent_usd - (move_usd(view) or 0.0)
    return is_enough(left_usd, gang.usd_per_h)


def _is_whole(seen: ClaimView, draft: Draft) -> bool:
    """Whether every node of a claim that is held is there and waits."""
    claim = draft.claim(seen.claim.id)
    if claim.attempt <= draft.run.attempt or claim.phase in UNASKED or claim.refused:
        return False
    if seen.observation.seen is not Seen.RUNNING or seen.observation.missing:
        return False
    ages = [node.beat_age_s for node in seen.nodes if node.exit is None]
    return len(ages) == len(seen.nodes) and all(age is not None and age < FRESH_S for age in ages)


def _leave(view: View, draft: Draft, *, to: Claim) -> None:
    """The gang is told to save and to leave: neither a failure nor a loss, and no restart."""
    moving = draft.market.moving
    reason = f"left for on-demand in {to.offer}: {moving.reason if moving else 'the deadline'}"
    draft.set_attempt(
        phase=AttemptPhase.ENDING,
        outcome=Outcome.MOVED,
        code="moved",
        reason=reason,
        ended_at=draft.now,
    )
    draft.set_run(next_attempt_at=draft.now, phase=RunPhase.QUEUED, code="moving", reason=reason)
    draft.event("moved", f"attempt {draft.run.attempt} is {reason}", offer=to.offer)


def _call_off(draft: Draft, held: list[Claim]) -> None:
    """It is not needed any more, or comes too late: the gang that works is kept."""
    number, moving = draft.run.attempt, draft.market.moving
    for claim in held:
        draft.set_claim(claim.id, is_extra=True, phase=ClaimPhase.CANCELLING, tries=0, retry_at=0.0)
    said = moving.reason if moving else ""
    draft.set_market(replace(draft.market, moving=Moving(number, said, draft.now + REVIEW_S)))
    reason = "spot is kept: on-demand came when it could not help any more"
    draft.event("move-called-off", reason)
    draft.set_run(code="running", reason=f"attempt {number} is running; {reason}")


def _drop_failed(view: View, draft: Draft) -> None:
    """Machines that were asked for ahead and did not come, or went: others are asked for."""
    held = {claim.id for claim in spares(draft) if claim.phase is ClaimPhase.SUBMITTED}
    for seen in view.claims:
        ending = ending_of(view, seen) if seen.claim.id in held else None
        if ending is not None:
            draft.event("fell-out", f"{seen.claim.id}: {ending.reason}", offer=seen.claim.offer)
            draft.set_market(draft.market.taken_away(view.gang_of(seen.claim), draft.now))
            draft.set_claim(
                seen.claim.id, phase=ClaimPhase.CANCELLING, is_extra=True, tries=0, retry_at=0.0
            )


def _note_own_end(view: View, draft: Draft) -> None:
    """Ranks that had ended by themselves before the word to leave reached them: the work is done,
    or has failed, and there is nothing to go on with."""
    gang = next((seen for seen in view.claims if seen.claim.id == view.winner), None)
    ending = ending_of(view, gang) if gang is not None else None
    if ending is None or ending.outcome not in (Outcome.SUCCEEDED, Outcome.USER_ERROR):
        return
    said = {"outcome": ending.outcome, "code": ending.code, "reason": ending.reason}
    draft.set_attempt(
        exit_status=ending.exit_status, failed_node=ending.node, failed_rank=ending.rank, **said
    )
    if ending.outcome is Outcome.USER_ERROR:
        draft.event(ending.code, ending.reason, node=ending.node, rank=ending.rank)
    draft.set_run(**said)
