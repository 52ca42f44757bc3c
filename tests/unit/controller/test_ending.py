"""Exit classes: how a gang ended, from what its nodes and its engine show."""

from __future__ import annotations

import pytest

from views import BEATING, NOTICE, SILENT, ViewOf, ended, left
from windlass.controller.ending import can_have_live_ranks, ending_of, is_gone
from windlass.controller.view import NodeView, Notice
from windlass.engines.base import Observation, Seen
from windlass.state.phases import Outcome


def beat(age_s):
    return NodeView(beat_age_s=age_s, state="running", exit=None)


def ending(view):
    made = view.view()
    return ending_of(made, made.claims[0])


def running():
    return ViewOf().running()


GOES_ON = {
    "both beat": running(),
    "one has ended well, the other runs": running().nodes(left(), BEATING),
    "one has failed, the other was not heard yet": running().seen(end=ended()),
    "silent for less than the lease": running().nodes(BEATING, beat(64.0)),
    "gone for less than a list is old": running().gone(seconds=9.0),
    "missing for less than a list is old": running().missing(1, seconds=9.0),
    "unknown for ever": running().seen(observation=Observation(seen=Seen.UNKNOWN)),
    "waits in a queue": ViewOf().starting().seen(observation=Observation(seen=Seen.PENDING)),
    "still within its start timeout": ViewOf().starting().seen(up_for_s=99.0),
}


@pytest.mark.parametrize("view", GOES_ON.values(), ids=GOES_ON)
def test_it_goes_on(view):
    assert ending(view) is None


ENDINGS = {
    "every rank ended well": (running().nodes(left(), left()), Outcome.SUCCEEDED, "succeeded"),
    "ended well and gone": (running().nodes(left(), left()).gone(), Outcome.SUCCEEDED, "succeeded"),
    "a rank failed and all have left": (
        running().seen(end=ended(3)).nodes(left("user-error", status=3), left("gang-ended")),
        Outcome.USER_ERROR,
        "exit-3",
    ),
    "exit 75": (running().seen(end=ended(75)), Outcome.PREEMPTED, "preempted"),
    "a failure after a notice": (
        running().seen(end=ended(1), notice=NOTICE),
        Outcome.PREEMPTED,
        "preempted",
    ),
    "a failure because a node was cut off": (
        running().seen(end=ended(1)).nodes(left("lost"), BEATING),
        Outcome.LOST,
        "node-lost",
    ),
    "a failure because a node vanished": (
        running().seen(end=ended(1)).nodes(left("user-error", status=1), BEATING).missing(1),
        Outcome.LOST,
        "node-lost",
    ),
    "a node left before its work was done": (
        running().nodes(left("stopped"), BEATING),
        Outcome.LOST,
        "node-lost",
    ),
    "a node was taken away": (
        running().nodes(left("stopped", had_notice=True), BEATING),
        Outcome.PREEMPTED,
        "preempted",
    ),
    "everything is gone": (running().gone(), Outcome.LOST, "node-lost"),
    "gone after a notice": (running().seen(notice=NOTICE).gone(), Outcome.PREEMPTED, "preempted"),
    "left because of a failure that cannot be read": (
        running().nodes(left("gang-ended"), left("gang-ended")).gone(),
        Outcome.LOST,
        "node-lost",
    ),
    "silent for longer than the lease": (
        running().nodes(BEATING, beat(65.5)),
        Outcome.LOST,
        "node-lost",
    ),
    "never reported": (
        ViewOf().starting().nodes(BEATING, SILENT).seen(up_for_s=100.0),
        Outcome.LOST,
        "start-timeout",
    ),
}


@pytest.mark.parametrize(("view", "outcome", "code"), ENDINGS.values(), ids=ENDINGS)
def test_it_has_ended(view, outcome, code):
    found = ending(view)
    assert (found.outcome, found.code) == (outcome, code)
    assert found.reason


def test_the_node_and_rank_that_failed_are_named():
    view = (
        running().seen(end=ended(2, node=1, rank=5)).nodes(left("gang-ended"), left("user-error"))
    )
    found = ending(view)
    assert (found.node, found.rank, found.exit_status) == (1, 5, 2)


def test_the_engines_reason_is_passed_on():
    gone = Observation(seen=Seen.GONE, reason="its processes have ended")
    found = ending(running().seen(observation=gone, gone_for_s=60.0))
    assert found.reason == "the machines are gone (its processes have ended)"


WORDS = {
    "ranks that left when they were told": (
        running().seen(end=ended(75), notice=NOTICE),
        "node 1 was taken away with 30 s of notice (the machine was preempted); "
        "its ranks left in time",
    ),
    "ranks that did not understand": (
        running().seen(end=ended(1), notice=NOTICE),
        "node 1 was taken away with 30 s of notice (the machine was preempted); "
        "then rank 0 exited with status 1",
    ),
    "machines that were gone before anybody left": (
        running().seen(notice=NOTICE).gone(),
        "node 1 was taken away with 30 s of notice (the machine was preempted); "
        "then the machines are gone",
    ),
    "a notice that cannot be read": (
        running().nodes(left("stopped", had_notice=True), BEATING).seen(notice=Notice()),
        "a node was taken away; node 0 has left",
    ),
    "a program that wants to be started again": (
        running().seen(end=ended(75, node=1, rank=5)),
        "rank 5 on node 1 asked to be started again (exit status 75)",
    ),
}


@pytest.mark.parametrize(("view", "reason"), WORDS.values(), ids=WORDS)
def test_a_preemption_is_told_so_that_people_know_what_happened(view, reason):
    assert ending(view).reason == reason


LIVE = {
    "it won and beats": (running(), True),
    "it may still win": (running().winner(None), True),
    "another won": (running().winner("r-1-1"), False),
    "it was given up": (running().winner(""), False),
    "it won and is gone": (running().gone(), False),
    "gone, but a lost submit may bring it up": (running().winner(None).gone(), True),
    "it won and its leases have run out": (running().nodes(beat(66.0), left()), False),
    "it won and was never heard": (running().nodes(SILENT, left()), True),
}


@pytest.mark.parametrize(("view", "is_live"), LIVE.values(), ids=LIVE)
def test_when_in_doubt_ranks_live(view, is_live):
    made = view.view()
    assert can_have_live_ranks(made, made.claims[0]) is is_live


@pytest.mark.parametrize(("seconds", "is_believed"), [(9.9, False), (10.0, True)])
def test_gone_is_believed_when_it_is_older_than_a_list_can_be(seconds, is_believed):
    made = running().gone(seconds=seconds).view()
    assert is_gone(made, made.claims[0]) is is_believed
