"""The pass over all live runs: which are looked at, when, and what one bad run costs the others."""

from __future__ import annotations

import pytest

from controllers import GONE, PENDING, RUNNING
from windlass.controller.loop import (
    BUG_PAUSE_S,
    LOOK_FIRST_S,
    LOOK_LAST_PENDING_S,
    LOOK_LAST_S,
    SWEEP_AFTER_S,
    SWEEP_EVERY_S,
)
from windlass.errors import EngineTransient
from windlass.state.phases import RunPhase, Wanted


def test_a_run_goes_from_its_row_to_its_end(controller):
    controller.add()
    controller.tick()
    assert controller.run().phase is RunPhase.STARTING
    assert controller.engine.taken == ["r-1-0"]
    controller.start()
    controller.tick(0.1)
    assert controller.run().phase is RunPhase.RUNNING
    controller.finish()
    controller.tick(1.0)
    assert controller.run().phase is RunPhase.SUCCEEDED
    assert controller.ended == ["r"]
    assert controller.loop.is_idle


def test_nothing_to_do_is_idle_and_no_engine_is_asked(controller):
    assert controller.tick() == LOOK_LAST_PENDING_S
    assert controller.loop.is_idle
    assert controller.engine.looks == []


def test_a_stop_is_obeyed(controller):
    controller.add()
    controller.tick()
    controller.start()
    controller.tick(0.1)
    controller.want("r", Wanted.STOP)
    controller.tick(0.1)
    assert controller.engine.cancelled == [("r-1-0", False)]
    controller.finish(outcome="stopped")
    controller.tick(1.0)
    assert controller.run().phase is RunPhase.STOPPED


# ---- who is looked at ----------------------------------------------------------------------------


def count_looks(controller, seconds, claim="r-1-0"):
    """How often the claim is asked for while so much time passes, waiting as it is told to."""
    controller.engine.looks.clear()
    until = controller.clock.at + seconds
    wait_s = 0.0
    while controller.clock.at < until:
        wait_s = controller.tick(max(wait_s, 1e-6))
    return sum(claim in handles for handles in controller.engine.looks)


def test_a_run_is_looked_at_often_at_first_and_less_and_less_often(controller):
    controller.add()
    controller.tick()
    first, later = count_looks(controller, 1.0), count_looks(controller, 30.0)
    assert first > 10
    assert later == pytest.approx(30.0 / LOOK_LAST_S, abs=8)


def test_a_run_that_waits_in_a_queue_is_looked_at_seldom(controller):
    controller.engine.seen["r-1-0"] = PENDING
    controller.add()
    controller.tick()
    count_looks(controller, 30.0)
    assert count_looks(controller, 60.0) == pytest.approx(60.0 / LOOK_LAST_PENDING_S, abs=1)


def test_new_words_for_waiting_are_no_news(controller):
    controller.engine.seen["r-1-0"] = PENDING
    controller.add()
    controller.tick()
    count_looks(controller, 30.0)
    controller.engine.seen["r-1-0"] = type(PENDING)(seen=PENDING.seen, reason="number 2")
    assert count_looks(controller, 10.0) <= 3
    assert controller.run().reason == "number 2"


def test_a_run_that_was_woken_for_is_looked_at_at_once(controller):
    controller.add()
    controller.tick()
    count_looks(controller, 30.0)
    controller.engine.looks.clear()
    controller.tick(LOOK_FIRST_S)
    assert controller.engine.looks == []
    controller.tick(LOOK_FIRST_S, woken=["r", "nobody"])
    assert controller.engine.looks == [("r-1-0",)]


def test_runs_of_one_engine_are_asked_for_together(controller):
    for name in "abc":
        controller.add(name)
    controller.tick()
    controller.tick(5.0)
    assert ("a-1-0", "b-1-0", "c-1-0") in controller.engine.looks


class CountingStore:
    """A store that counts how often runs are loaded."""

    def __init__(self, store):
        self._store = store
        self.loads = 0

    def __getattr__(self, name):
        if name in ("live", "live_versions"):
            self.loads += 1
        return getattr(self._store, name)


def test_runs_are_loaded_again_only_when_somebody_else_wrote(controller):
    store = CountingStore(controller.store)
    controller.with_store(store)
    controller.add()
    controller.tick()
    loads = store.loads
    for _ in range(10):
        controller.tick(1.0)
    assert store.loads == loads, "our own writes are no news"
    controller.add("other")
    controller.tick(1.0)
    assert store.loads > loads
    assert "other-1-0" in controller.engine.taken


def test_a_restart_waits_for_its_time(controller):
    controller.add()
    controller.tick()
    for attempt in (1, 2):
        controller.start(attempt=attempt)
        controller.tick(0.1)
        controller.finish(attempt=attempt, outcome="lost")
        controller.tick(1.0)
    assert controller.engine.taken == ["r-1-0", "r-2-0"], "the second loss waits a second"
    assert controller.tick(0.0) <= 1.0
    controller.tick(1.1)
    assert controller.engine.taken[-1] == "r-3-0"


# ---- one bad run ---------------------------------------------------------------------------------


def test_a_bug_in_one_run_does_not_stop_the_others(controller):
    controller.add("bad", spec='{"format": 99}')
    controller.add("unknown", engine="nonsense")
    controller.add("good")
    assert controller.tick() > 0.0
    assert controller.engine.taken == ["good-1-0"]
    assert sorted(name for name, _ in controller.bugs)[0] == "bad"
    controller.start("good")
    controller.tick(0.1)
    controller.finish("good")
    controller.tick(1.0)
    assert controller.run("good").phase is RunPhase.SUCCEEDED


def test_a_run_with_a_bug_is_left_alone_for_a_while_and_tried_again(controller):
    controller.add("bad", spec="{")
    controller.tick()
    controller.tick(BUG_PAUSE_S - 1.0)
    assert len(controller.bugs) == 1
    controller.tick(1.5)
    assert len(controller.bugs) == 2


def test_a_bug_of_an_engine_does_not_end_the_controller(controller):
    controller.add()
    controller.tick()
    controller.start()
    controller.tick(0.1)
    controller.engine.trouble = RuntimeError("broken")
    for _ in range(5):
        assert controller.tick(1.0) > 0.0
    assert [name for name, _ in controller.bugs] == ["engine told"], "told once"
    assert controller.run().phase is RunPhase.RUNNING
    controller.engine.trouble = None
    controller.finish()
    controller.tick(1.0)
    assert controller.run().phase is RunPhase.SUCCEEDED


def test_an_engine_that_cannot_be_asked_is_no_loss(controller):
    controller.add()
    controller.tick()
    controller.start()
    controller.tick(0.1)
    controller.engine.trouble = EngineTransient("no answer")
    controller.tick(20.0)
    assert controller.run().phase is RunPhase.RUNNING
    assert controller.bugs == []


def test_a_folder_that_cannot_be_read_skips_the_run_this_time(controller):
    controller.add("far")
    controller.add("near")
    controller.tick()
    controller.cut_off.add("far")
    for name in ("far", "near"):
        controller.start(name)
    waits = [controller.tick(1.0) for _ in range(3)]
    assert min(waits) > 0.0, "the loop must not spin on it"
    assert controller.run("near").phase is RunPhase.RUNNING
    assert controller.run("far").phase is RunPhase.STARTING
    assert controller.bugs == []
    controller.cut_off.clear()
    controller.tick(LOOK_LAST_S)
    assert controller.run("far").phase is RunPhase.RUNNING


def test_whoever_fails_to_hear_of_an_end_does_not_stop_the_others(controller):
    controller.new_loop(on_ended=lambda run: 1 / 0)
    controller.add("a")
    controller.want("a", Wanted.STOP)
    controller.add("b")
    controller.tick()
    assert controller.run("a").phase is RunPhase.STOPPED
    assert controller.engine.taken == ["b-1-0"]
    assert [name for name, _ in controller.bugs] == ["a"]


# ---- what nobody wants ---------------------------------------------------------------------------


def test_what_no_run_asks_for_is_cancelled_and_nothing_else(controller):
    controller.add()
    controller.tick()
    controller.engine.seen["stranger-1-0"] = RUNNING
    controller.tick(SWEEP_EVERY_S)
    assert controller.engine.cancelled == [("stranger-1-0", False)]


def test_a_sweep_that_hung_spares_what_another_controller_has_asked_for_meanwhile(controller):
    controller.tick()
    hung, owned = controller.loop, controller.engine.owned

    def hang():
        controller.engine.owned = owned
        controller.add()
        controller.new_loop()
        controller.tick()
        controller.engine.seen["r-1-0"] = RUNNING
        return owned()

    controller.engine.owned = hang
    controller.clock.at += SWEEP_EVERY_S
    hung.tick(controller.lease)
    assert controller.engine.taken == ["r-1-0"]
    assert controller.engine.cancelled == []


def test_after_the_end_of_a_run_the_sweep_comes_soon(controller):
    controller.add("a")
    controller.tick()
    controller.want("a", Wanted.STOP)
    controller.engine.seen["a-1-0"] = GONE
    controller.tick(1.0)
    assert controller.run("a").phase is RunPhase.STOPPED
    controller.engine.seen["a-1-0"] = RUNNING  # What was made with its machines outlives them.
    controller.engine.cancelled.clear()
    controller.tick(SWEEP_AFTER_S)
    assert controller.engine.cancelled == [("a-1-0", False)]


def test_the_sweep_comes_back_until_it_is_gone(controller):
    controller.engine.seen["stranger-1-0"] = RUNNING
    controller.tick()
    controller.tick(1.0)
    assert len(controller.engine.cancelled) == 1
    controller.tick(SWEEP_EVERY_S)
    assert len(controller.engine.cancelled) == 2
    controller.engine.seen["stranger-1-0"] = GONE
    controller.tick(SWEEP_EVERY_S)
    assert len(controller.engine.cancelled) == 2


def test_a_sweep_that_could_not_look_is_made_up_for(controller):
    controller.engine.seen["stranger-1-0"] = RUNNING
    controller.engine.trouble = EngineTransient("no list")
    controller.tick()
    controller.engine.trouble = None
    controller.tick(SWEEP_EVERY_S)
    assert controller.engine.cancelled == [("stranger-1-0", False)]


def test_memory_of_ended_runs_is_dropped(controller):
    for number in range(20):
        name = f"r{number}"
        controller.add(name)
        controller.tick(1.0)
        controller.start(name)
        controller.tick(1.0)
        controller.finish(name)
        controller.tick(1.0)
    assert len(controller.ended) == 20
    controller.tick(SWEEP_EVERY_S)
    observer = controller.loop._observer
    gangs, sightings = observer._gangs, observer._sightings
    memories = [observer._facts, observer._folders, gangs._winners, gangs._exits, gangs._ends]
    memories += [gangs._notices, sightings._gone, sightings._up, sightings._missing]
    assert [len(memory) for memory in [*memories, sightings._beats]] == [0] * 10
