"""Which claims only wait in their engine's queue, so that others are asked for beside them.

Must not ask for anything: starting.py and moving.py do. Pure.

A place in a queue costs nothing until machines come, and says nothing of when that will be. It is
kept, and after a while it keeps nobody from asking elsewhere: the fence lets one gang win, and the
others are cancelled. Queues that were chosen for being cheap, as flex-start is, are waited for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from windlass.controller.draft import Draft
from windlass.controller.offers import ON_DEMAND, OUT_OF_STOCK, SPOT
from windlass.controller.view import ClaimView, View
from windlass.engines.base import Seen
from windlass.state.model import Claim


def being_served(view: View, draft: Draft, claims: Iterable[Claim]) -> list[Claim]:
    """Those of the claims that have machines, or may have them at any moment."""
    stuck = {seen.claim.id for seen in view.claims if _is_stuck(view, draft, seen)}
    return [claim for claim in claims if claim.id not in stuck]


def note_waiting(view: View, draft: Draft, claims: Iterable[Claim]) -> None:
    """There is nothing to be had where claims wait: as good as a refusal to whoever asks next."""
    for claim in claims:
        gang = view.gang_of(claim)
        if draft.market.block_of(gang, draft.now) is None:
            said = f"nothing is free in {claim.offer}; its place in the queue is kept"
            draft.event("queueing", said, offer=claim.offer, buy=claim.buy)
            draft.set_market(draft.market.refused(gang, OUT_OF_STOCK, draft.now))


def note_queue(view: View, draft: Draft, waiting: Sequence[ClaimView]) -> None:
    """Say where a run waits and since when, and what is asked for beside it."""
    pending = [seen for seen in waiting if seen.observation.seen is Seen.PENDING]
    if not pending:
        return
    first = pending[0]
    reason = first.observation.reason
    if view.is_rented:
        others = [seen for seen in waiting if seen is not first]
        reason = f"{reason} ({_since(first)})"
        if others:
            reason += f"; beside it {', '.join(map(_since, others))}"
        elif len(view.gangs) > 1 and _is_impatient(view, first):
            until = first.claim.created_at + (first.observation.patience_s or 0.0)
            reason += f"; the next offer is asked for beside it after {_moment(until)}"
    draft.set_run(code="waiting-for-engine", reason=reason)


def _is_impatient(view: View, seen: ClaimView) -> bool:
    """Whether others are asked for beside it, should it wait for long."""
    kind = view.gang_of(seen.claim).kind
    return seen.observation.patience_s is not None and kind in (SPOT, ON_DEMAND)


def _is_stuck(view: View, draft: Draft, seen: ClaimView) -> bool:
    waited_s = draft.now - seen.claim.created_at
    # A clock that was set back must not make anybody wait longer.
    has_time = 0 <= waited_s < (seen.observation.patience_s or 0.0)
    return _is_impatient(view, seen) and not has_time


def _since(seen: ClaimView) -> str:
    return f"{seen.claim.offer} since {_moment(seen.claim.created_at)}"


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, tz=UTC):%H:%M:%S} UTC"
