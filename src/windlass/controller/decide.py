"""The decision of one step: what to write and what to do, from what was seen.

Must not read a clock, a store or a folder: `decide(view, now)` is a pure function, and a crash
anywhere after its write is repaired by deciding again.

A run goes round this ring until its outcome is final:

    queued ─► attempt STARTING ─► RUNNING ─► ENDING ─► ENDED ─► queued again, or the end
                                              │
                                              └ the fence is ours, or no rank can be alive
"""

from __future__ import annotations

from windlass.controller.backoff import (
    CANCEL_FIRST_S,
    CANCEL_MAX_S,
    LONG_ENOUGH_S,
    SUBMIT_MAX_S,
    cancel_delay_s,
    restart_delay_s,
)
from windlass.controller.draft import Draft
from windlass.controller.effects import Cancel, Decision, GiveUp, KeepEarly, Submit
from windlass.controller.ending import Ending, can_have_live_ranks, ending_of, is_gone
from windlass.controller.moving import move, open_attempt
from windlass.controller.queueing import note_queue
from windlass.controller.spending import meter_claims, watch_budget
from windlass.controller.starting import (
    note_refusals,
    racing,
    replace_refused,
    spares,
    start,
)
from windlass.controller.stopping import LIVE_ATTEMPTS, end_run
from windlass.controller.unasked import is_let_go, let_go, note_trouble
from windlass.controller.view import ClaimView, View
from windlass.engines.base import Seen
from windlass.state.model import Claim
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase, Wanted

FINAL_PHASES = {
    Outcome.SUCCEEDED: RunPhase.SUCCEEDED,
    Outcome.STOPPED: RunPhase.STOPPED,
}
RESTARTED = frozenset({Outcome.LOST, Outcome.PREEMPTED})
EARLY_S = 45.0
"""An agent takes less than this from the start of its machine, if all is well."""
LOST_GANG_TRIES = 2
"""So often ranks that have lost a node are asked to leave, within seconds; then they are killed."""


def decide(view: View, now: float) -> Decision:
    """What to write and what to do next for one run."""
    draft = Draft(view, now)
    meter_claims(view, draft)
    _obey(draft)
    watch_budget(view, draft)
    note_refusals(view, draft)
    _follow_gang(view, draft)
    move(view, draft)
    replace_refused(view, draft)
    _close_attempt(view, draft)
    note_trouble(view, draft)
    _close_claims(view, draft)
    _finish(draft)
    start(view, draft)
    open_attempt(view, draft)
    _submit(draft)
    return draft.decision()


def _obey(draft: Draft) -> None:
    """The user's wish and the time to live end a run whatever its gang does."""
    run = draft.run
    if run.outcome is not None:
        return
    if run.wanted is not Wanted.RUN:
        end_run(draft, Outcome.STOPPED, "stopped-by-user", "stopped by the user")
    elif run.expires_at is not None:
        if draft.now >= run.expires_at:
            end_run(draft, Outcome.STOPPED, "ttl", "its time to live (limits.ttl) is over")
        else:
            draft.wake(run.expires_at)


def _follow_gang(view: View, draft: Draft) -> None:
    """Note that the gang has started, or how it has ended."""
    attempt = draft.attempt
    if attempt is None or attempt.phase not in LIVE_ATTEMPTS:
        return
    ours = [seen for seen in view.claims if seen.claim.attempt == attempt.number]
    gang = next((seen for seen in ours if seen.claim.id == view.winner), None)
    if gang is None:
        _follow_race(view, draft, ours)
        return
    if gang.claim.phase is ClaimPhase.ASKED:
        return  # Its engine is asked again, and tells what it knows of it.
    if attempt.phase is AttemptPhase.STARTING:
        _note_start(view, gang, draft)
    ending = ending_of(view, gang)
    if ending is not None:
        _end_attempt(view, draft, ending, gang=gang)


def _follow_race(view: View, draft: Draft, ours: list[ClaimView]) -> None:
    """Nobody has won yet: who falls out leaves the race to the others, and the last one ends it."""
    in_race = {claim.id for claim in racing(draft) if claim.phase is ClaimPhase.SUBMITTED}
    waiting = []
    for seen in ours:
        if seen.claim.id not in in_race:
            continue
        ending = ending_of(view, seen)
        if ending is None:
            waiting.append(seen)
            _keep_early(seen, draft)
        elif len(racing(draft)) > 1:
            draft.event("fell-out", f"{seen.claim.id}: {ending.reason}", offer=seen.claim.offer)
            _avoid(view, draft, seen)
            draft.set_claim(seen.claim.id, phase=ClaimPhase.CANCELLING, tries=0, retry_at=0.0)
        else:
            _end_attempt(view, draft, ending, gang=seen)
            return
    if draft.run.phase is RunPhase.STARTING:
        note_queue(view, draft, waiting)


def _keep_early(seen: ClaimView, draft: Draft) -> None:
    """Machines that are up and have not reported may be gone before anybody can ask them why."""
    has_reported = any(node.beat_age_s is not None or node.exit for node in seen.nodes)
    if seen.observation.seen is Seen.RUNNING and seen.up_for_s >= EARLY_S and not has_reported:
        draft.effect(KeepEarly(claim=seen.claim.id, handle=seen.handle))


def _avoid(view: View, draft: Draft, gang: ClaimView) -> None:
    """Ask elsewhere first the next time."""
    if view.is_rented:
        market = draft.market.taken_away(view.gang_of(gang.claim), draft.now)
        draft.set_market(market)


def _note_start(view: View, gang: ClaimView, draft: Draft) -> None:
    if not any(node.state in ("running", "closing", "done") or node.exit for node in gang.nodes):
        draft.set_run(code="preparing", reason="unpacking the source and running setup")
        return
    draft.set_attempt(phase=AttemptPhase.RUNNING, winner=gang.claim.id, started_at=draft.now)
    draft.set_run(started_at=draft.run.started_at or draft.now)
    if view.is_rented:
        draft.set_market(draft.market.got(view.gang_of(gang.claim), draft.now))
    number = draft.run.attempt
    where = f" on {gang.claim.offer}" if gang.claim.offer else ""
    draft.move_run(RunPhase.RUNNING, "running", f"attempt {number} is running{where}")


def _end_attempt(view: View, draft: Draft, ending: Ending, *, gang: ClaimView) -> None:
    """The gang has ended by itself: decide what becomes of the run."""
    draft.set_attempt(
        phase=AttemptPhase.ENDING,
        outcome=ending.outcome,
        code=ending.code,
        reason=ending.reason,
        exit_status=ending.exit_status,
        failed_node=ending.node,
        failed_rank=ending.rank,
        ended_at=draft.now,
    )
    said = ending.reason
    if ending.outcome in RESTARTED:
        _avoid(view, draft, gang)
    if ending.outcome not in RESTARTED:
        draft.set_run(outcome=ending.outcome, code=ending.code, reason=said)
    elif draft.run.restarts >= view.restarts_max:
        said += f"; all {view.restarts_max} restarts of limits.restarts are used"
        draft.set_run(outcome=ending.outcome, code="restart-limit", reason=said)
    else:
        _plan_restart(draft, ending)
        said += "; it is started again"
    if view.is_rented and view.winner is None:  # None of its agents was ever heard.
        said += f"; `windlass explain {draft.run.id}` shows what its machines said"
    if ending.outcome is not Outcome.SUCCEEDED:  # The end of the run says so itself.
        draft.event(ending.code, said, node=ending.node, rank=ending.rank)


def _plan_restart(draft: Draft, ending: Ending) -> None:
    run, attempt = draft.run, draft.attempt
    assert attempt is not None
    started_at = attempt.started_at if attempt.started_at is not None else draft.now
    is_quick = draft.now - started_at < LONG_ENOUGH_S
    quick_losses = run.quick_losses + 1 if is_quick else 1
    draft.set_run(
        phase=RunPhase.QUEUED,
        code=ending.code,
        reason=ending.reason,
        restarts=run.restarts + 1,
        quick_losses=quick_losses,
        next_attempt_at=draft.now + restart_delay_s(quick_losses),
    )


def _close_attempt(view: View, draft: Draft) -> None:
    """An ending attempt has ended once no rank of it can be alive or come alive."""
    attempt = draft.attempt
    if attempt is None or attempt.phase is not AttemptPhase.ENDING:
        return
    ours = [claim for claim in view.claims if claim.claim.attempt == attempt.number]
    if view.winner is None:
        draft.effect(GiveUp(attempt=attempt.number))
    elif not any(can_have_live_ranks(view, claim) for claim in ours):
        draft.set_attempt(phase=AttemptPhase.ENDED, given_up=view.winner == "")


def _close_claims(view: View, draft: Draft) -> None:
    """Cancel every claim nobody wants until its engine says that it is gone."""
    attempt = draft.attempt
    is_live = attempt is not None and attempt.phase in LIVE_ATTEMPTS
    held = {claim.id for claim in spares(draft)} if draft.run.outcome is None else set()
    for seen in view.claims:
        claim = draft.claim(seen.claim.id)
        if claim.id in held:
            continue
        if attempt is not None and is_live and claim.attempt == attempt.number:
            _note_loss(view, claim, draft)
            if not _is_out(draft.claim(claim.id)):
                continue
        if is_gone(view, seen) and _is_late_claim_harmless(view, seen):
            draft.set_claim(claim.id, phase=ClaimPhase.GONE)
        elif is_let_go(view, seen, draft) and _is_late_claim_harmless(view, seen):
            let_go(seen, draft)
        elif not (is_gone(view, seen) and claim.phase is ClaimPhase.CANCELLING):
            _cancel(seen, draft)


def _note_loss(view: View, claim: Claim, draft: Draft) -> None:
    """Another claim of the attempt has won."""
    if not view.winner or view.winner == claim.id or _is_out(claim):
        return
    draft.set_claim(claim.id, is_extra=True)
    draft.event("race-lost", f"{claim.id} lost the race to {view.winner}", offer=claim.offer)


def _is_out(claim: Claim) -> bool:
    """Whether it can be of no use to its attempt any more."""
    return bool(claim.refused) or claim.is_extra or claim.phase is ClaimPhase.CANCELLING


def _is_late_claim_harmless(view: View, seen: ClaimView) -> bool:
    """Before the fence is taken, a claim that comes up late could still start ranks."""
    return seen.claim.attempt != view.state.run.attempt or view.winner is not None


def _cancel(seen: ClaimView, draft: Draft) -> None:
    """Ask for the end of a claim, again and again until it is gone."""
    claim = draft.claim(seen.claim.id)
    if claim.phase is not ClaimPhase.CANCELLING:
        # Tries counted so far were for submitting.
        draft.set_claim(claim.id, phase=ClaimPhase.CANCELLING, tries=0, retry_at=0.0, error="")
        claim = draft.claim(claim.id)
    if not seen.handle:
        return  # Its engine is searched for it at every look.
    is_impatient = draft.run.wanted is Wanted.KILL
    wait_s = claim.retry_at - draft.now
    if wait_s > CANCEL_MAX_S or (is_impatient and wait_s > CANCEL_FIRST_S):
        wait_s = 0.0  # The clock was set back, or the user has lost patience.
    if wait_s <= 0:
        tries = claim.tries + 1
        delay_s = CANCEL_FIRST_S if is_impatient else cancel_delay_s(tries)
        retry_at = draft.now + delay_s
        # Who has lost a race has no ranks that could save anything.
        is_urgent = is_impatient or claim.is_extra
        is_urgent |= _is_of_lost_gang(claim, draft) and tries > LOST_GANG_TRIES
        draft.effect(Cancel(claim=claim.id, handle=seen.handle, now=is_urgent))
        draft.set_claim(claim.id, handle=seen.handle, tries=tries, retry_at=retry_at)
    draft.wake(draft.claim(claim.id).retry_at)


def _is_of_lost_gang(claim: Claim, draft: Draft) -> bool:
    """Its ranks wait for a node that is gone, most of them deaf to signals: nothing comes of it."""
    attempt = draft.attempt
    if attempt is None or attempt.number != claim.attempt:
        return False
    return attempt.outcome is Outcome.LOST


def _finish(draft: Draft) -> None:
    """End the run when its outcome is final and nothing of it is left."""
    run = draft.run
    if run.outcome is None:
        return
    has_ended = draft.attempt is None or draft.attempt.phase is AttemptPhase.ENDED
    if not has_ended or draft.open_claims():
        if run.phase is not RunPhase.STOPPING:
            draft.set_run(phase=RunPhase.STOPPING)
        return
    phase = FINAL_PHASES.get(run.outcome, RunPhase.FAILED)
    draft.set_run(phase=phase, ended_at=draft.now)
    draft.event(str(phase), run.reason, code=run.code)


def _submit(draft: Draft) -> None:
    """Ask the engine for claims of the live attempt that it has not taken yet."""
    attempt = draft.attempt
    if attempt is None or attempt.phase not in LIVE_ATTEMPTS:
        return
    is_starting = attempt.phase is AttemptPhase.STARTING
    for claim in racing(draft) if is_starting else spares(draft):
        if claim.phase is not ClaimPhase.ASKED:
            continue
        if 0 < claim.retry_at - draft.now <= SUBMIT_MAX_S:
            draft.wake(claim.retry_at)
        else:
            draft.effect(Submit(claim=claim))
