"""One step: intent first, then effects; and what every answer of an engine leads to."""

from __future__ import annotations

import json

import pytest

from controllers import RUNNING
from windlass.agent import layout
from windlass.controller.backoff import submit_delay_s
from windlass.controller.loop import SWEEP_EVERY_S
from windlass.controller.offers import BLOCK_FIRST_S
from windlass.controller.renting import Gang, recorded
from windlass.errors import (
    EngineAmbiguous,
    EngineRejected,
    EngineTransient,
    LeaseLost,
    MachineTooSmall,
    OptionRefused,
    OutOfStock,
    PermissionMissing,
    RunChanged,
    StoreBusy,
)
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase, Wanted


class LooksFirst(list):
    """Refusals that note what the store holds when the engine is asked."""

    def __init__(self, controller):
        super().__init__([EngineTransient("not now")])
        self._controller = controller
        self.seen = []

    def pop(self, index):
        self.seen.append(self._controller.state())
        return super().pop(index)


def test_intent_is_written_before_the_engine_is_asked(controller):
    refusals = controller.engine.refusals = LooksFirst(controller)
    controller.add()
    controller.tick()
    (state,) = refusals.seen
    assert state.run.phase is RunPhase.STARTING
    assert state.attempt.phase is AttemptPhase.STARTING
    assert [(claim.id, claim.phase) for claim in state.claims] == [("r-1-0", ClaimPhase.ASKED)]


def test_the_order_of_a_claim_is_there_before_it_is_submitted(controller):
    controller.engine.refusals = [EngineTransient("not now")]
    controller.add(nodes=2)
    controller.tick()
    order = json.loads(controller.disks["r"].objects[layout.claim_file(1, "r-1-0")])
    assert (order["claim"], order["nodes"], order["command"]) == ("r-1-0", 2, "true")


def test_a_claim_says_what_it_is_for(controller):
    rented = {"offer": "z/m/spot", "buy": "spot", "accelerators": "H100:8", "nodes": 2}
    controller.add(nodes=2, options=json.dumps({"rented": rented}))
    controller.tick()
    (claim,) = controller.state().claims
    assert {name: getattr(claim, name) for name in rented} == rented


def report(controller, *times, attempt=1):
    """Rank 0 has reported a step at each of these times."""
    lines = [json.dumps({"step": step, "time": time}) for step, time in enumerate(times, 1)]
    stem = layout.rank(attempt, f"r-{attempt}-0", 0, 0)
    name = layout.chunk(f"{stem}/progress", 1, "jsonl")
    controller.disks["r"].objects[name] = "\n".join(lines).encode()


def end(controller, **fields):
    """An attempt that has started and ended."""
    controller.start()
    controller.tick(1.0)
    controller.finish(**fields)
    controller.tick(1.0)


def test_an_attempt_that_ends_keeps_how_long_its_steps_took(controller):
    controller.add()
    controller.tick()
    report(controller, 0.0, 30.0, 30.5, 31.0, 31.5)
    end(controller)
    (attempt,) = controller.others.list_attempts("r")
    assert (attempt.phase, attempt.step_s) == (AttemptPhase.ENDED, 0.5), "the median"


def test_the_steps_of_a_lost_attempt_are_kept_too(controller):
    controller.add()
    controller.tick()
    report(controller, 0.0, 2.0)
    end(controller, outcome="lost")
    first = controller.others.list_attempts("r")[0]
    assert (first.outcome, first.step_s) == (Outcome.LOST, 2.0)


def test_a_run_that_reports_no_steps_ends_all_the_same(controller):
    controller.add()
    controller.tick()
    end(controller)
    (attempt,) = controller.others.list_attempts("r")
    assert (attempt.phase, attempt.step_s) == (AttemptPhase.ENDED, None)


def test_a_submit_that_was_taken_is_written_down(controller):
    controller.add()
    controller.tick()
    (claim,) = controller.state().claims
    assert (claim.phase, claim.handle) == (ClaimPhase.SUBMITTED, "r-1-0")


# ---- what the engine answers ---------------------------------------------------------------------

ASKED_AGAIN = {
    "it did not happen": EngineTransient("the disk is full", remedy="Free some."),
    "it may have happened": EngineAmbiguous("the reply was lost"),
}


@pytest.mark.parametrize("refusal", ASKED_AGAIN.values(), ids=ASKED_AGAIN)
def test_a_submit_that_may_work_later_is_tried_again_and_again(controller, refusal):
    controller.engine.refusals = [refusal] * 4
    controller.add()
    controller.tick()
    for tries in (1, 2, 3):
        assert len(controller.engine.asked) == tries
        controller.tick(submit_delay_s(tries) - 0.01)
        assert len(controller.engine.asked) == tries, "it waits longer each time"
        controller.tick(0.02)
    assert controller.run().reason == refusal.message
    assert controller.events().count(refusal.code) == 1, "the same refusal is no news"
    controller.tick(submit_delay_s(4) + 0.01)
    assert controller.engine.taken == ["r-1-0"]
    assert set(controller.engine.asked) == {"r-1-0"}, "always the same claim"


REFUSED = {
    "it refused": EngineRejected("no such partition", remedy="Name another."),
    "it is too small": MachineTooSmall("8 x H100 needed", remedy="Add --emulate."),
    "the configuration was changed": OptionRefused("no bucket", remedy="Name one."),
}


@pytest.mark.parametrize("refusal", REFUSED.values(), ids=REFUSED)
def test_a_refusal_ends_the_run_with_its_reason_and_remedy(controller, refusal):
    controller.engine.refusals = [refusal]
    controller.add()
    for _ in range(3):
        controller.tick(1.0)
    run = controller.run()
    assert (run.phase, run.outcome) == (RunPhase.FAILED, Outcome.REJECTED)
    assert (run.code, run.reason) == (refusal.code, refusal.message)
    (event,) = [e for e in controller.others.list_events("r") if e.code == refusal.code]
    assert (event.message, event.details) == (refusal.message, {"remedy": refusal.remedy})
    assert controller.engine.asked == ["r-1-0"]
    winner = json.loads(controller.disks["r"].objects[layout.winner(1)])
    assert winner["claim"] is None, "a late claim can never start"


OFFERS = ["a/m/spot", "b/m/spot"]


def rent(controller):
    gangs = [Gang(offer=offer, buy="spot", region=offer[0], usd_per_h=3.6) for offer in OFFERS]
    options = {"rented": gangs[0]._asdict(), "offers": recorded(gangs[1:])}
    controller.add(options=json.dumps(options))


def test_a_stockout_leads_to_the_next_offer_in_the_same_pass(controller):
    controller.engine.refusals = [OutOfStock("none left")]
    rent(controller)
    controller.tick()
    assert controller.engine.asked == ["r-1-0", "r-1-1"]
    assert [claim.offer for claim in controller.state().claims] == OFFERS
    assert controller.state().run.restarts == 0


def test_when_all_is_out_of_stock_a_new_controller_waits_as_long_as_the_last_one(controller):
    controller.engine.refusals = [OutOfStock("none left"), OutOfStock("none left")]
    rent(controller)
    controller.tick()
    for _ in range(3):
        controller.new_loop()
        controller.tick()
    assert controller.state().run.phase is RunPhase.QUEUED
    assert controller.engine.asked == ["r-1-0", "r-1-1"]
    controller.clock.at += BLOCK_FIRST_S
    controller.tick()
    assert controller.engine.asked[2:] == ["r-2-0"]


def test_an_account_that_may_not_ends_the_run_with_the_remedy(controller):
    controller.engine.refusals = [PermissionMissing("you may not", remedy="grant it")]
    rent(controller)
    controller.tick()
    run = controller.run()
    assert (run.outcome, run.code) == (Outcome.REJECTED, "permission-missing")
    events = {event.code: event.details for event in controller.store.list_events("r")}
    assert events["permission-missing"] == {"remedy": "grant it"}


def test_what_is_rented_is_charged(controller):
    rent(controller)
    controller.tick()
    controller.clock.at += 1.0
    controller.tick()
    [charge] = controller.store.charges()
    assert (charge.claim, charge.usd_per_h, charge.until_at) == ("r-1-0", 3.6, None)


def test_a_folder_that_cannot_be_written_delays_the_submit(controller):
    controller.add()
    controller.cut_off.add("r")
    controller.tick()
    assert controller.engine.asked == []
    controller.cut_off.clear()
    controller.tick(1.0)
    controller.tick(1.0)
    assert controller.engine.taken == ["r-1-0"]


def test_a_lost_reply_does_not_start_a_second_gang(controller):
    controller.engine.refusals = [EngineAmbiguous("the reply was lost")]
    controller.engine.taken.append("r-1-0")
    controller.engine.seen["r-1-0"] = RUNNING
    controller.add()
    for _ in range(3):
        controller.tick(1.0)
    assert controller.engine.taken == ["r-1-0"]
    assert controller.state().claims[0].phase is ClaimPhase.SUBMITTED


def test_a_cancel_that_failed_is_repeated(controller):
    controller.add()
    controller.tick()
    controller.start()
    controller.tick(0.1)
    controller.want("r", Wanted.STOP)
    controller.engine.trouble = EngineTransient("no answer")
    controller.tick(0.1)
    assert controller.run().phase is RunPhase.STOPPING
    controller.engine.trouble = None
    controller.tick(SWEEP_EVERY_S / 2)
    assert controller.engine.cancelled == [("r-1-0", False)]


def test_a_claim_whose_reply_was_lost_is_found_and_cancelled(controller):
    """The run is stopped before the engine's answer to submit ever arrived."""
    controller.engine.refusals = [EngineAmbiguous("the reply was lost")]
    controller.add()
    controller.tick()
    controller.engine.seen["r-1-0"] = RUNNING
    controller.want("r", Wanted.STOP)
    for _ in range(3):
        controller.tick(0.1)
    assert ("r-1-0", False) in controller.engine.cancelled
    assert controller.run().phase is RunPhase.STOPPING
    controller.finish()
    controller.tick(1.0)
    assert controller.run().phase is RunPhase.STOPPED


# ---- the fence of writes -------------------------------------------------------------------------


def test_without_the_lease_nothing_is_written_or_done(controller):
    controller.add()
    controller.others.take_lease("another", now=1e12, ttl_s=10.0)
    with pytest.raises(LeaseLost):
        controller.tick()
    assert controller.run().phase is RunPhase.QUEUED
    assert controller.engine.asked == []


class InTheMiddle:
    """A store before whose nth write something happens."""

    def __init__(self, store, number, action):
        self._store = store
        self._left = number
        self._action = action

    def __getattr__(self, name):
        return getattr(self._store, name)

    def write(self, lease, change):
        self._left -= 1
        if self._left == 0:
            self._action()
        return self._store.write(lease, change)


def test_a_run_that_somebody_else_wrote_meanwhile_is_decided_anew(controller):
    controller.add()

    def stop():
        controller.want("r", Wanted.STOP)

    controller.with_store(InTheMiddle(controller.store, 1, stop))
    controller.tick()
    assert controller.engine.asked == [], "nothing is done on what has changed"
    controller.tick()
    assert controller.run().phase is RunPhase.STOPPED


def test_a_run_that_changed_between_submit_and_its_record_is_submitted_again(controller):
    controller.add()
    wish = InTheMiddle(controller.store, 2, lambda: controller.want("r", Wanted.RUN))
    controller.with_store(wish)
    controller.tick()
    controller.tick()
    assert controller.engine.asked == ["r-1-0", "r-1-0"]
    assert controller.engine.taken == ["r-1-0"]
    assert controller.state().claims[0].phase is ClaimPhase.SUBMITTED


def test_losing_the_lease_between_submit_and_its_record_leaves_it_to_the_next(controller):
    controller.add()

    def take_over():
        controller.others.take_lease("another", now=1e12, ttl_s=10.0)

    controller.with_store(InTheMiddle(controller.store, 2, take_over))
    with pytest.raises(LeaseLost):
        controller.tick()
    assert controller.state().claims[0].phase is ClaimPhase.ASKED
    controller.lease = controller.store.take_lease("us", now=1e13, ttl_s=1e9)
    controller.new_loop()
    controller.tick()
    assert controller.engine.taken == ["r-1-0"]
    assert controller.state().claims[0].phase is ClaimPhase.SUBMITTED


@pytest.mark.parametrize("number", [1, 2])
def test_a_store_that_is_busy_is_tried_again(controller, number):
    controller.add()

    def busy():
        raise StoreBusy("locked")

    controller.with_store(InTheMiddle(controller.store, number, busy))
    with pytest.raises(StoreBusy):
        controller.tick()
    for _ in range(3):
        controller.tick(1.0)
    assert controller.state().claims[0].phase is ClaimPhase.SUBMITTED
    assert controller.engine.taken == ["r-1-0"]


def test_a_run_that_was_removed_meanwhile_is_forgotten(controller):
    controller.add()

    def removed():
        raise RunChanged("r was removed meanwhile")

    controller.with_store(InTheMiddle(controller.store, 1, removed))
    controller.tick()
    assert controller.bugs == []
    assert controller.engine.asked == []
