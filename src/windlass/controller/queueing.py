"""Which claims only wait in their engine's queue, so that others are asked for beside them.

Must not ask for anything: starting.py and moving.py do. Pure.

A place in a queue costs nothing until machines come, and says nothing of when that will be. It is
kept, and after a while it keeps nobody from asking elsewhere: the fence lets one gang win, and the
others are cancelled. Queues that were chosen for being cheap, as flex-start is, are waited for.
"""

from __future__ import annotations

from collections.abc import Iterable

from windlass.controller.draft import Draft
from windlass.controller.offers import ON_DEMAND, OUT_OF_STOCK, SPOT
from windlass.controller.view import View
from windlass.state.model import Claim

PATIENCE_S = 60.0
"""So long a queue is given: what is free is granted within seconds."""


def not_only_waiting(view: View, draft: Draft, claims: Iterable[Claim]) -> list[Claim]:
    """Those of the claims that have machines, or may have them at any moment."""
    stuck = {
        seen.claim.id
        for seen in view.claims
        if seen.observation.is_starved
        and view.gang_of(seen.claim).kind in (SPOT, ON_DEMAND)
        and not 0 <= draft.now - seen.claim.created_at < PATIENCE_S
    }
    return [claim for claim in claims if claim.id not in stuck]


def note_waiting(view: View, draft: Draft, claims: Iterable[Claim]) -> None:
    """There is nothing to be had where claims wait: as good as a refusal to whoever asks next."""
    for claim in claims:
        gang = view.gang_of(claim)
        if draft.market.block_of(gang, draft.now) is None:
            said = f"nothing is free in {claim.offer}; its place in the queue is kept"
            draft.event("queueing", said, offer=claim.offer, buy=claim.buy)
            draft.set_market(draft.market.refused(gang, OUT_OF_STOCK, draft.now))
