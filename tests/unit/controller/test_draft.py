"""A decision in the making: only what changed is written, and nothing of the caller's."""

from __future__ import annotations

from views import NOW, ViewOf
from windlass.controller.draft import Draft
from windlass.controller.effects import GiveUp
from windlass.controller.renting import Gang
from windlass.state.phases import AttemptPhase, ClaimPhase, RunPhase


def draft_of(view):
    return Draft(view.view(), NOW)


def test_nothing_changed_is_no_change():
    decision = draft_of(ViewOf().running()).decision()
    assert (decision.change, decision.effects, decision.wake_at) == (None, (), None)


def test_setting_what_is_so_already_is_no_change():
    draft = draft_of(ViewOf().running())
    draft.set_run(phase=RunPhase.RUNNING)
    draft.set_attempt(phase=AttemptPhase.RUNNING)
    draft.set_claim("r-1-0", phase=ClaimPhase.SUBMITTED)
    assert draft.decision().change is None


def test_only_rows_that_changed_are_written():
    draft = draft_of(ViewOf().running())
    draft.set_claim("r-1-0", tries=3)
    change = draft.decision().change
    assert [claim.tries for claim in change.claims] == [3]
    assert (change.attempts, change.events) == ((), ())


def test_an_event_alone_is_worth_a_write():
    draft = draft_of(ViewOf().running())
    draft.event("noted", "it was noted", node=1)
    (event,) = draft.decision().change.events
    assert (event.code, event.at, event.attempt) == ("noted", NOW, 1)
    assert event.details == {"node": 1}


def test_a_move_is_told_once():
    draft = draft_of(ViewOf())
    draft.move_run(RunPhase.STARTING, "starting", "attempt 1 is starting")
    draft.move_run(RunPhase.STARTING, "starting", "attempt 1 is starting")
    assert [event.code for event in draft.decision().change.events] == ["starting"]


def test_a_new_attempt_comes_with_its_claims():
    draft = draft_of(ViewOf().over())
    draft.add_attempt()
    draft.add_claim(Gang(), expires_at=None)
    draft.add_claim(Gang(engine="tpu", usd_per_h=3.0), expires_at=NOW + 60)
    change = draft.decision().change
    assert change.run.attempt == 2
    assert [attempt.number for attempt in change.attempts] == [2]
    assert [claim.id for claim in change.claims] == ["r-2-0", "r-2-1"]
    assert {claim.phase for claim in change.claims} == {ClaimPhase.ASKED}
    assert [claim.engine for claim in change.claims] == ["local", "tpu"]
    assert [claim.expires_at for claim in change.claims] == [None, NOW + 60]
    assert len(draft.open_claims()) == 2


def test_effects_keep_their_order_and_the_earliest_wake_up_counts():
    draft = draft_of(ViewOf())
    for number in (2, 1):
        draft.effect(GiveUp(attempt=number))
    for at in (NOW + 9, NOW + 3):
        draft.wake(at)
    decision = draft.decision()
    assert [effect.attempt for effect in decision.effects] == [2, 1]
    assert decision.wake_at == NOW + 3


def test_the_view_is_not_changed():
    view = ViewOf().running().view()
    draft = Draft(view, NOW)
    draft.set_run(reason="new")
    draft.set_claim("r-1-0", tries=9)
    assert view.state.run.reason == ""
    assert view.state.claims[0].tries == 0
