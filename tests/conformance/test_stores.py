"""What every store promises its users: promises 1 to 10 of `windlass.state.store.Store`.

Must not know which store it runs over.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import make_attempt, make_claim, make_event, make_run
from conformance.stores import add, everything, take
from windlass.errors import (
    InternalError,
    PhaseIllegal,
    RunChanged,
    RunNotReady,
    RunUnknown,
)
from windlass.state.model import Change
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase, Wanted

FULL_RUN = make_run(
    "größe-東京",
    name="Größe 東京 🚀 'quoted' \"twice\" %s ? -- ;",
    spec='{"env": {"LOG": "ünï"}}',
    created_at=1234.000001,
    phase=RunPhase.RUNNING,
    wanted=Wanted.STOP,
    attempt=3,
    restarts=2,
    quick_losses=1,
    next_attempt_at=5.5,
    started_at=6.5,
    ended_at=7.5,
    expires_at=8.5,
    outcome=Outcome.USER_ERROR,
    code="lost-node",
    reason="Node 1\nwas lost\t…",
    options='{"emulate": true}',
    version=7,
)


def test_1_an_added_run_comes_back_with_every_field_and_its_event(store, connect):
    event = make_event(FULL_RUN.id, "submitted", details={"who": "Ada ✓", "n": [1, {"a": None}]})
    store.add_run(FULL_RUN, event)
    other = connect()
    assert other.get_run(FULL_RUN.id) == FULL_RUN
    [kept] = other.list_events(FULL_RUN.id)
    assert kept == replace(event, sequence=kept.sequence)
    assert kept.sequence > 0


def test_1_a_taken_id_is_refused_and_nothing_is_written(store):
    add(store, name="first")
    with pytest.raises(RunChanged):
        add(store, name="second")
    assert store.get_run("r").name == "first"
    assert len(store.list_events("r")) == 1


def test_1_text_that_a_database_cannot_hold_is_kept_as_far_as_it_can(store):
    add(store, reason="a\0b\ud800c")
    assert store.get_run("r").reason == "a\ufffdb\ufffdc"
    assert store.get_run("a\0b") is None


def test_2_a_run_is_got_by_exactly_its_id(store):
    add(store, "abc")
    assert store.get_run("abc").id == "abc"
    assert [store.get_run(text) for text in ("ab", "ABC", "abc ", "")] == [None] * 4


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("train-a", ["train-a"], id="an id before a name"),
        pytest.param("My run", ["train-b", "train-a"], id="a name, newest first"),
        pytest.param("train", ["train-c", "train-b", "train-a"], id="the beginning of ids"),
        pytest.param("train-%", [], id="no pattern"),
        pytest.param("train_", [], id="no wildcard"),
        pytest.param("my run", [], id="not another case"),
        pytest.param("rain", [], id="not the middle"),
    ],
)
def test_3_runs_are_found_by_id_else_name_else_beginning(store, text, found):
    add(store, "train-a", name="My run", created_at=1.0)
    add(store, "train-b", name="My run", created_at=2.0)
    add(store, "train-c", name="train-a", created_at=3.0)
    assert [run.id for run in store.find_runs(text)] == found
    assert [run.id for run in store.find_runs(text, limit=1)] == found[:1]


def test_4_runs_are_listed_newest_first_by_phase_and_by_page(store):
    phases = [RunPhase.QUEUED, RunPhase.FAILED, RunPhase.RUNNING, RunPhase.STOPPED]
    for number, phase in enumerate(phases):
        add(store, f"r{number}", phase=phase, created_at=float(number))

    def listed(**options):
        return [run.id for run in store.list_runs(**options)]

    assert listed() == ["r3", "r2", "r1", "r0"]
    assert listed(limit=2) == ["r3", "r2"]
    assert listed(limit=2, before=2.0) == ["r1", "r0"]
    assert listed(phases=[RunPhase.RUNNING, RunPhase.QUEUED]) == ["r2", "r0"]
    assert listed(phases=[RunPhase.FAILED, RunPhase.RUNNING]) == ["r2", "r1"]
    assert listed(phases=[RunPhase.SUCCEEDED]) == []


def test_5_and_6_attempts_and_claims_come_in_order_with_every_field(store):
    run = add(store)
    attempts = [
        make_attempt(number=1, phase=AttemptPhase.ENDED, winner="r-1-0", given_up=True),
        make_attempt(number=2, outcome=Outcome.LOST, exit_status=-9, failed_node=0, failed_rank=3),
        make_attempt(number=10, started_at=1.5, ended_at=2.5, code="c", reason="Grün", step_s=0.25),
    ]
    claims = [
        make_claim(attempt=1, index=0, phase=ClaimPhase.GONE),
        make_claim(attempt=2, index=0, handle="pid:7", tries=3, retry_at=9.25, error="no röom"),
        make_claim(attempt=2, index=1, offer="z/m/spot", buy="spot"),
        make_claim(attempt=10, index=0, accelerators="H100:8", nodes=4),
    ]
    change = Change(run=run, attempts=tuple(reversed(attempts)), claims=tuple(reversed(claims)))
    store.write(take(store), change)
    assert store.list_attempts("r") == attempts
    assert store.list_claims("r") == claims
    assert store.list_attempts("other") == store.list_claims("other") == []


def test_7_events_come_in_order_after_a_sequence(store):
    run = add(store)
    add(store, "other")
    lease = take(store)
    for number in range(3):
        event = make_event(code=f"e{number}", details={"n": number})
        run = store.write(lease, Change(run=run, events=(event, event)))
    events = store.list_events("r")
    assert [event.code for event in events] == ["submitted", *("e0", "e0", "e1", "e1", "e2", "e2")]
    sequences = [event.sequence for event in events]
    assert sequences == sorted(set(sequences))
    assert store.list_events("r", after=sequences[2]) == events[3:]
    assert store.list_events("r", after=sequences[2], limit=2) == events[3:5]
    assert store.list_events("r", after=sequences[-1]) == []


def test_8_a_wish_counts_the_version_up_so_that_a_step_looks_again(store):
    run = add(store)
    lease = take(store)
    wished = store.want("r", Wanted.STOP, make_event(code="stop-asked"))
    assert wished == replace(run, wanted=Wanted.STOP, version=1) == store.get_run("r")
    with pytest.raises(RunChanged):
        store.write(lease, Change(run=run))
    assert [event.code for event in store.list_events("r")] == ["submitted", "stop-asked"]


def test_8_kill_is_never_taken_back_by_stop(store):
    add(store)
    for wanted in (Wanted.STOP, Wanted.KILL, Wanted.STOP):
        store.want("r", wanted, make_event())
    assert store.get_run("r").wanted is Wanted.KILL
    assert store.get_run("r").version == 3


def test_8_a_wish_about_an_unknown_run_is_refused(store):
    with pytest.raises(RunUnknown) as caught:
        store.want("nobody", Wanted.STOP, make_event("nobody"))
    assert caught.value.remedy
    assert store.list_events("nobody") == []


@pytest.mark.parametrize("phase", [RunPhase.FAILED, RunPhase.STOPPED])
def test_9_an_ended_run_is_queued_again(store, phase):
    run = add(store, phase=phase, outcome=Outcome.LOST, ended_at=5.0)
    again = store.requeue(replace(run, outcome=None, ended_at=None), make_event(code="retried"))
    assert again == make_run(phase=RunPhase.QUEUED, version=1) == store.get_run("r")
    assert [state.run.id for state in store.live()] == ["r"]
    with pytest.raises(RunChanged):
        store.requeue(run, make_event())
    assert [event.code for event in store.list_events("r")] == ["submitted", "retried"]


@pytest.mark.parametrize(
    "phase", [*(p for p in RunPhase if p not in (RunPhase.FAILED, RunPhase.STOPPED))]
)
def test_9_no_other_run_is_queued_again(store, phase):
    run = add(store, phase=phase)
    before = everything(store)
    with pytest.raises(PhaseIllegal):
        store.requeue(run, make_event())
    assert everything(store) == before


def test_9_a_removed_run_is_not_queued_again(store):
    with pytest.raises(RunChanged):
        store.requeue(make_run(phase=RunPhase.FAILED), make_event())
    assert store.get_run("r") is None


def test_10_an_ended_run_is_forgotten_with_all_that_belongs_to_it(store):
    run = add(store)
    add(store, "other")
    lease = take(store)
    rows = {"attempts": (make_attempt(),), "claims": (make_claim(),), "events": (make_event(),)}
    run = store.write(lease, Change(run=run, **rows))
    with pytest.raises(RunNotReady) as caught:
        store.delete_run("r")
    assert "windlass stop r" in caught.value.remedy
    assert len(store.list_claims("r")) == 1
    store.write(lease, Change(run=replace(run, phase=RunPhase.FAILED)))
    last = store.list_events("r")[-1].sequence
    store.delete_run("r")
    assert everything(store) == (None, [], [], [])
    assert store.get_run("other") is not None
    with pytest.raises(RunUnknown):
        store.delete_run("r")
    add(store, "r")
    assert store.list_events("r")[0].sequence > last, "a number is never given twice"


def test_a_closed_store_says_so_and_can_be_closed_again(store):
    store.close()
    store.close()
    with pytest.raises(InternalError):
        store.live()
