"""Runs that are over while their engine cannot be asked: nothing is forgotten but on request."""

from __future__ import annotations

import pytest

from views import NOW, ViewOf
from windlass.controller.decide import decide
from windlass.controller.renting import Gang
from windlass.engines.base import Observation, Seen
from windlass.state.phases import ClaimPhase, Outcome, RunPhase, Wanted

FORBIDDEN = "the permission compute.instances.list is missing"


def unasked(*, wanted=Wanted.RUN, trouble=FORBIDDEN, **claim):
    """A rented run that was refused, whose engine cannot say whether anything of it is left."""
    seen = Observation(seen=Seen.UNKNOWN)
    view = ViewOf(wanted=wanted, outcome=Outcome.REJECTED).ending(run=RunPhase.STOPPING)
    view = view.rented(Gang(offer="a/m/spot", buy="spot")).winner("")
    return view.claim(**{"handle": "", **claim}).seen(
        handle="", observation=seen, gone_for_s=None, trouble=trouble
    )


def test_why_an_engine_cannot_be_asked_is_kept_and_told_once():
    change = decide(unasked().view(), NOW).change
    assert change.claims[0].error == FORBIDDEN
    assert change.claims[0].phase is ClaimPhase.CANCELLING
    assert [event.code for event in change.events] == ["engine-unasked"]
    again = decide(unasked(error=FORBIDDEN).view(), NOW).change
    assert not again or (again.events, again.claims) == ((), ())
    mended = decide(unasked(error=FORBIDDEN, trouble="").view(), NOW).change
    assert (mended.claims[0].error, mended.events) == ("", ())


def test_who_says_now_lets_go_of_what_nobody_ever_acknowledged():
    change = decide(unasked(wanted=Wanted.KILL, error=FORBIDDEN).view(), NOW).change
    assert change.claims[0].phase is ClaimPhase.GONE
    assert change.events[0].code == "let-go"
    assert change.run.phase is RunPhase.FAILED


KEPT = {
    "it was acknowledged": unasked(wanted=Wanted.KILL, error=FORBIDDEN, handle="h"),
    "the engine can be asked": unasked(wanted=Wanted.KILL, trouble=""),
    "only a stop was asked for": unasked(wanted=Wanted.STOP, error=FORBIDDEN),
    "the fence is free": unasked(wanted=Wanted.KILL, error=FORBIDDEN).winner(None),
}


@pytest.mark.parametrize("view", KEPT.values(), ids=KEPT)
def test_no_other_claim_is_let_go(view):
    change = decide(view.view(), NOW).change
    assert all(claim.phase is not ClaimPhase.GONE for claim in (change.claims if change else ()))
    assert change is None or change.run.phase is RunPhase.STOPPING
