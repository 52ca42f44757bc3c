"""What follows from what was seen: every rule of decide() as a named case."""

from __future__ import annotations

import pytest

from views import BEATING, NOTICE, NOW, SILENT, ViewOf, ended, left
from windlass.controller.decide import decide
from windlass.controller.effects import Cancel, GiveUp, Submit
from windlass.engines.base import Observation, Seen
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase, Wanted


def decided(view):
    return decide(view.view(), NOW)


def kinds(decision):
    return [type(effect) for effect in decision.effects]


# ---- starting ----------------------------------------------------------------------------------


def test_a_queued_run_gets_an_attempt_and_a_claim_written_before_it_is_submitted():
    decision = decided(ViewOf())
    assert decision.change.run.phase is RunPhase.STARTING
    assert decision.change.run.attempt == 1
    (claim,) = decision.change.claims
    assert (claim.id, claim.phase) == ("r-1-0", ClaimPhase.ASKED)
    assert decision.effects == (Submit(claim=claim),)


def test_a_claim_whose_submit_was_not_answered_is_submitted_again():
    decision = decided(ViewOf().starting(claim=ClaimPhase.ASKED))
    assert kinds(decision) == [Submit]
    assert decision.change is None


def test_a_claim_that_was_refused_waits_for_its_retry():
    decision = decided(ViewOf().starting(claim=ClaimPhase.ASKED).claim(retry_at=NOW + 5))
    assert decision.effects == ()
    assert decision.wake_at == NOW + 5


def test_a_clock_set_back_does_not_delay_a_submit_for_ever():
    decision = decided(ViewOf().starting(claim=ClaimPhase.ASKED).claim(retry_at=NOW + 5000))
    assert kinds(decision) == [Submit]


def test_a_run_waiting_in_the_engines_queue_says_why():
    waiting = Observation(seen=Seen.PENDING, reason="all 2 processors are in use")
    decision = decided(ViewOf().starting().seen(observation=waiting))
    assert decision.change.run.reason == "all 2 processors are in use"
    assert decision.change.run.phase is RunPhase.STARTING


def test_a_gang_that_has_won_but_still_prepares_is_not_running():
    preparing = BEATING.__class__(beat_age_s=0.0, state="preparing", exit=None)
    decision = decided(ViewOf().starting().winner("r-1-0").nodes(preparing, preparing))
    assert decision.change.run.phase is RunPhase.STARTING
    assert decision.change.run.code == "preparing"


def test_a_gang_whose_ranks_run_is_running():
    decision = decided(ViewOf().starting().winner("r-1-0").nodes(BEATING, BEATING))
    assert decision.change.run.phase is RunPhase.RUNNING
    assert decision.change.run.started_at == NOW
    assert decision.change.attempts[0].winner == "r-1-0"


def test_nothing_to_do_writes_nothing():
    decision = decided(ViewOf().running())
    assert decision.change is None
    assert decision.effects == ()


# ---- ending well or badly ----------------------------------------------------------------------


def test_a_gang_that_ended_well_ends_the_run_once_its_machines_are_gone():
    decision = decided(ViewOf().running().nodes(left(), left()).gone())
    assert decision.change.run.phase is RunPhase.SUCCEEDED
    assert decision.change.run.ended_at == NOW
    assert decision.change.attempts[0].phase is AttemptPhase.ENDED
    assert decision.change.claims[0].phase is ClaimPhase.GONE


def test_machines_that_are_still_there_are_cancelled_before_the_run_ends():
    decision = decided(ViewOf().running().nodes(left(), left()))
    assert decision.change.run.phase is RunPhase.STOPPING
    assert decision.change.run.outcome is Outcome.SUCCEEDED
    assert decision.effects == (Cancel(claim="r-1-0", handle="h", now=False),)


USER_ERRORS = {
    "exit status 1": (ended(1), "exit-1"),
    "a signal": (ended(-11, reason="rank 0 was killed by SIGSEGV"), "killed-by-sigsegv"),
    "an unknown signal": (ended(-63), "killed-by-signal-63"),
    "setup": (ended(2, reason="setup failed with exit status 2"), "setup-failed"),
}


@pytest.mark.parametrize(("end", "code"), USER_ERRORS.values(), ids=USER_ERRORS)
def test_a_user_error_is_not_restarted(end, code):
    nodes = left("user-error", status=end.status), left("gang-ended")
    decision = decided(ViewOf().running().seen(end=end).nodes(*nodes).gone())
    assert decision.change.run.phase is RunPhase.FAILED
    assert decision.change.run.code == code
    assert decision.change.attempts[0].outcome is Outcome.USER_ERROR
    assert decision.change.attempts[0].exit_status == end.status


FAILED_NODE = left("user-error", status=1)


def test_a_failure_is_no_verdict_before_every_node_has_left():
    """Ranks fail when a peer vanishes, and they fail before anybody can know that it did."""
    view = ViewOf().running().seen(end=ended(1)).nodes(left("user-error"), BEATING)
    assert decided(view).change is None


LOST_PEERS = {
    "missing": ViewOf().running().nodes(left("user-error"), BEATING).missing(1),
    "gone": ViewOf().running().nodes(left("user-error"), BEATING).gone(),
    "cut off": ViewOf().running().nodes(left("user-error"), left("lost")),
    "silent": ViewOf()
    .running()
    .nodes(left("user-error"), BEATING.__class__(beat_age_s=66.0, state="running", exit=None)),
}


@pytest.mark.parametrize("view", LOST_PEERS.values(), ids=LOST_PEERS)
def test_a_rank_that_failed_because_another_node_was_lost_is_no_user_error(view):
    decision = decided(view.seen(end=ended(1, reason="connection reset by peer")))
    assert decision.change.attempts[0].outcome is Outcome.LOST
    assert decision.change.run.phase is RunPhase.QUEUED


PREEMPTIONS = {
    "exit 75": ViewOf().running().seen(end=ended(75)),
    "the agent says so": ViewOf().running().seen(end=ended(-15, outcome="preempted")),
    "a notice anywhere in the gang": ViewOf().running().seen(end=ended(1), notice=NOTICE),
    "a node left after its notice": ViewOf()
    .running()
    .nodes(left("stopped", had_notice=True), BEATING),
    "a node lost after a notice": ViewOf().running().seen(notice=NOTICE).missing(1),
}


@pytest.mark.parametrize("view", PREEMPTIONS.values(), ids=PREEMPTIONS)
def test_a_preemption_is_restarted(view):
    decision = decided(view)
    assert decision.change.attempts[0].outcome is Outcome.PREEMPTED
    assert decision.change.run.phase is RunPhase.QUEUED
    assert decision.change.run.restarts == 1


def test_the_event_of_a_preemption_says_what_follows():
    (event,) = decided(ViewOf().running().seen(end=ended(75), notice=NOTICE)).change.events
    assert event.message.endswith("; its ranks left in time; it is started again")
    decision = decided(ViewOf().running().seen(end=ended(75), notice=NOTICE).restarts_max(0))
    assert decision.change.events[0].message.endswith(
        "; all 0 restarts of limits.restarts are used"
    )


LOSSES = {
    "a node is missing": ViewOf().running().missing(1),
    "everything is gone": ViewOf().running().gone(),
    "a rank failed because another node is gone": ViewOf()
    .running()
    .seen(end=ended(1))
    .nodes(FAILED_NODE, BEATING)
    .missing(1),
    "a rank was killed together with its node": ViewOf()
    .running()
    .seen(end=ended(-9, node=1))
    .nodes(left("gang-ended"), BEATING)
    .missing(1),
    "a rank failed and nobody lived to say more": ViewOf().running().seen(end=ended(1)).gone(),
    "a rank failed because another node fell silent": ViewOf()
    .running()
    .seen(end=ended(1))
    .nodes(FAILED_NODE, BEATING.__class__(beat_age_s=66.0, state="running", exit=None)),
    "a node left without a word": ViewOf().running().nodes(left("lost"), BEATING),
    "a node fell silent": ViewOf()
    .running()
    .nodes(BEATING, BEATING.__class__(beat_age_s=66.0, state="running", exit=None)),
}


@pytest.mark.parametrize("view", LOSSES.values(), ids=LOSSES)
def test_a_loss_is_restarted_at_once_the_first_time(view):
    decision = decided(view)
    assert decision.change.attempts[0].outcome is Outcome.LOST
    assert decision.change.run.phase is RunPhase.QUEUED
    assert decision.change.run.next_attempt_at == NOW


STILL_ALIVE = {
    "a node is late by less than its lease": ViewOf()
    .running()
    .nodes(BEATING, BEATING.__class__(beat_age_s=64.0, state="running", exit=None)),
    "gone, but the list may be stale": ViewOf().running().gone(seconds=9.0),
    "missing, but the list may be stale": ViewOf().running().missing(1, seconds=9.0),
    "the engine could not be asked": ViewOf()
    .running()
    .seen(observation=Observation(seen=Seen.UNKNOWN)),
    "one node has left long after the start": ViewOf()
    .running()
    .nodes(left(), BEATING)
    .seen(up_for_s=5000.0),
    "a missing node that ended well": ViewOf().running().missing(1).nodes(BEATING, left()),
}


@pytest.mark.parametrize("view", STILL_ALIVE.values(), ids=STILL_ALIVE)
def test_doubt_is_no_loss(view):
    assert decided(view).change is None


def test_a_claim_that_never_reports_is_given_up_after_its_start_timeout():
    decision = decided(ViewOf().starting().nodes(BEATING, SILENT).seen(up_for_s=101.0))
    assert decision.change.run.code == "start-timeout"
    assert GiveUp(attempt=1) in decision.effects


def test_losses_in_quick_succession_wait_longer_and_longer():
    delays = [
        decided(ViewOf(quick_losses=losses, restarts=0).running().gone()).change.run.next_attempt_at
        - NOW
        for losses in range(5)
    ]
    assert delays == [0.0, 1.0, 2.0, 4.0, 8.0]


def test_a_loss_after_a_long_time_starts_the_back_off_anew():
    run = decided(ViewOf(quick_losses=7).running(started_at=NOW - 400.0).gone()).change.run
    assert (run.quick_losses, run.next_attempt_at) == (1, NOW)


def test_a_run_out_of_restarts_fails():
    decision = decided(ViewOf(restarts=3).running().gone())
    assert decision.change.run.phase is RunPhase.FAILED
    assert decision.change.run.code == "restart-limit"
    assert "all 3 restarts" in decision.change.run.reason


# ---- the fence ---------------------------------------------------------------------------------


def test_an_attempt_that_ends_before_anybody_won_takes_the_fence():
    decision = decided(ViewOf().ending())
    assert GiveUp(attempt=1) in decision.effects
    assert decision.change is None or decision.change.attempts == ()


def test_with_the_fence_ours_the_next_attempt_need_not_wait_for_the_machines():
    first = decided(ViewOf().ending().winner("").claim(retry_at=NOW + 9))
    assert first.change.attempts[0].phase is AttemptPhase.ENDED
    assert first.change.attempts[0].given_up


def test_a_won_attempt_has_not_ended_while_its_ranks_may_live():
    view = ViewOf().ending().winner("r-1-0").nodes(BEATING, BEATING).claim(retry_at=NOW + 9)
    assert decided(view).change is None


DEAD = {
    "both nodes have left": lambda view: view.nodes(left(), left("gang-ended")),
    "the engine says gone": lambda view: view.nodes(BEATING, BEATING).gone(),
    "the leases have run out": lambda view: view.nodes(
        left(), BEATING.__class__(beat_age_s=66.0, state="running", exit=None)
    ),
    "another claim won": lambda view: view.winner("r-1-1").nodes(BEATING, BEATING),
}


@pytest.mark.parametrize("dead", DEAD.values(), ids=DEAD)
def test_a_won_attempt_ends_when_no_rank_can_be_alive(dead):
    view = dead(ViewOf().ending().winner("r-1-0").claim(retry_at=NOW + 9))
    assert decided(view).change.attempts[0].phase is AttemptPhase.ENDED


def test_the_next_attempt_starts_only_from_an_ended_one():
    assert decided(ViewOf().over()).change.run.attempt == 2
    waiting = decided(ViewOf().ending().claim(retry_at=NOW + 9))
    assert waiting.change is None


def test_a_restart_waits_for_its_back_off():
    decision = decided(ViewOf(next_attempt_at=NOW + 60).over())
    assert decision.change is None
    assert decision.wake_at == NOW + 60


def test_a_clock_set_back_does_not_delay_a_restart_for_ever():
    assert decided(ViewOf(next_attempt_at=NOW + 5000).over()).change.run.attempt == 2


# ---- what nobody wants -------------------------------------------------------------------------


def test_a_claim_nobody_wants_is_cancelled_until_it_is_gone():
    view = ViewOf().over().winner("").with_claims_of(ViewOf().ending())
    assert kinds(decided(view))[0] is Cancel
    gone = decided(view.gone())
    assert gone.change.claims[0].phase is ClaimPhase.GONE


def test_a_claim_is_not_forgotten_before_the_fence_is_taken():
    """It was never seen, but a submit may still be on its way."""
    decision = decided(ViewOf().ending().gone().claim(handle="").seen(handle=""))
    assert GiveUp(attempt=1) in decision.effects
    assert decision.change is None


def test_cancelling_is_repeated_but_not_at_every_look():
    just_asked = ViewOf().ending().winner("r-1-0").nodes(BEATING, BEATING)
    assert kinds(decided(just_asked.claim(retry_at=NOW + 1))) == []
    assert kinds(decided(just_asked.claim(retry_at=NOW))) == [Cancel]


CANCELS = {
    "asked to leave at first": (Outcome.LOST, 0, False),
    "asked a second time": (Outcome.LOST, 1, False),
    "killed at the third": (Outcome.LOST, 2, True),
    "never killed when it has its notice": (Outcome.PREEMPTED, 9, False),
}


@pytest.mark.parametrize(("outcome", "tries", "now"), CANCELS.values(), ids=CANCELS)
def test_ranks_that_have_lost_a_node_are_not_waited_for(outcome, tries, now):
    view = ViewOf().ending(outcome=outcome).winner("r-1-0").nodes(BEATING, BEATING)
    decision = decided(view.claim(tries=tries))
    assert decision.effects == (Cancel(claim="r-1-0", handle="h", now=now),)


def test_a_claim_without_a_handle_is_not_cancelled_but_searched_for():
    decision = decided(ViewOf().ending().winner("").claim(handle="").seen(handle=""))
    assert Cancel not in kinds(decision)


# ---- the user and the clock --------------------------------------------------------------------


def test_stopping_a_queued_run_ends_it_at_once():
    decision = decided(ViewOf(wanted=Wanted.STOP))
    assert decision.change.run.phase is RunPhase.STOPPED
    assert decision.change.run.code == "stopped-by-user"
    assert decision.effects == ()


def test_stopping_a_running_run_gives_its_ranks_their_notice():
    decision = decided(ViewOf(wanted=Wanted.STOP).running())
    assert decision.change.run.phase is RunPhase.STOPPING
    assert decision.effects == (Cancel(claim="r-1-0", handle="h", now=False),)


def test_killing_a_run_that_is_stopping_does_not_wait_for_the_next_try():
    view = (
        ViewOf(wanted=Wanted.KILL, outcome=Outcome.STOPPED)
        .ending(run=RunPhase.STOPPING)
        .winner("r-1-0")
        .nodes(BEATING, BEATING)
        .claim(retry_at=NOW + 20, tries=4)
    )
    assert decided(view).effects == (Cancel(claim="r-1-0", handle="h", now=True),)
    assert decided(view.claim(retry_at=NOW + 1)).effects == ()


def test_a_stopped_run_is_not_restarted_when_its_gang_is_lost():
    view = ViewOf(wanted=Wanted.STOP, outcome=Outcome.STOPPED)
    decision = decided(view.ending(run=RunPhase.STOPPING).winner("r-1-0").gone())
    assert decision.change.run.phase is RunPhase.STOPPED


def test_a_stop_wins_over_a_planned_restart():
    decision = decided(ViewOf(wanted=Wanted.STOP).over())
    assert decision.change.run.phase is RunPhase.STOPPED
    assert decision.change.run.attempt == 1


def test_the_time_to_live_ends_a_run_in_any_phase():
    for view in (ViewOf(expires_at=NOW), ViewOf(expires_at=NOW).running()):
        run = decided(view).change.run
        assert (run.outcome, run.code) == (Outcome.STOPPED, "ttl")


def test_a_run_wakes_the_controller_when_its_time_is_over():
    assert decided(ViewOf(expires_at=NOW + 7).running()).wake_at == NOW + 7
