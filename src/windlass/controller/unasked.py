"""Claims that must go while their engine cannot be asked about them: no project, no permission.

Must not let go of what an engine ever acknowledged: that is paid for. Pure.
"""

from __future__ import annotations

from windlass.controller.draft import Draft
from windlass.controller.view import ClaimView, View
from windlass.state.phases import ClaimPhase, Wanted


def note_trouble(view: View, draft: Draft) -> None:
    """Keep with each claim of a run that is to end why nobody can tell whether it is gone."""
    if draft.run.outcome is None:
        return
    for seen in view.claims:
        claim = draft.claim(seen.claim.id)
        if claim.phase is not ClaimPhase.CANCELLING or claim.error == seen.trouble:
            continue
        draft.set_claim(claim.id, error=seen.trouble)
        if seen.trouble:
            draft.event(
                "engine-unasked",
                f"{claim.engine} cannot be asked whether machines of {claim.id} are left: "
                f"{seen.trouble}; `windlass explain {claim.run}` says what to do",
            )


def is_let_go(view: View, seen: ClaimView, draft: Draft) -> bool:
    """Whether the claim may be forgotten unseen: the user has lost patience, and no answer ever
    said that there is anything of it. Should a reply have been lost all the same, the sweep, or
    `windlass reap`, finds it as soon as the engine can be asked, and its own end ends it before."""
    claim = draft.claim(seen.claim.id)
    was_acknowledged = bool(claim.handle or seen.handle)
    is_asked_for = view.is_rented and draft.run.wanted is Wanted.KILL
    return is_asked_for and bool(claim.error) and bool(seen.trouble) and not was_acknowledged


def let_go(seen: ClaimView, draft: Draft) -> None:
    """The claim is over as far as the run is concerned."""
    claim = draft.claim(seen.claim.id)
    draft.set_claim(claim.id, phase=ClaimPhase.GONE)
    draft.event(
        "let-go",
        f"{claim.id} is let go without a look: {claim.engine} never said that it has it; "
        "`windlass reap` looks for it once that can be asked",
    )
