"""What every store promises its controller: promises 11 to 16 of `windlass.state.store.Store`.

Must not know which store it runs over.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import make_attempt, make_claim, make_event, make_run
from conformance.stores import add, everything, take
from windlass.errors import (
    InternalError,
    LeaseLost,
    PhaseIllegal,
    RunChanged,
    StateError,
)
from windlass.state.model import Change, Lease, RunState
from windlass.state.phases import AttemptPhase, ClaimPhase, RunPhase, Wanted


def test_11_a_lease_is_taken_when_free_or_expired(store, connect):
    other = connect()
    first = store.take_lease("c1", now=0.0, ttl_s=10.0)
    assert first == Lease(holder="c1", epoch=1, expires_at=10.0)
    assert other.take_lease("c2", now=9.99, ttl_s=10.0) is None
    second = other.take_lease("c2", now=10.0, ttl_s=10.0)
    assert second == Lease(holder="c2", epoch=2, expires_at=20.0)


def test_11_a_holder_that_takes_its_lease_again_fences_its_earlier_life(store):
    run = add(store)
    first, second = take(store, "c1"), take(store, "c1")
    assert second.epoch == first.epoch + 1
    with pytest.raises(LeaseLost):
        store.write(first, Change(run=run))


def test_12_renewing_keeps_the_epoch_until_it_has_moved_on(store, connect):
    lease = take(store)
    renewed = store.renew_lease(lease, now=5.0, ttl_s=10.0)
    assert renewed == replace(lease, expires_at=15.0)
    assert connect().take_lease("c2", now=12.0, ttl_s=10.0) is None
    late = store.renew_lease(lease, now=100.0, ttl_s=10.0)
    assert late.expires_at == 110.0, "expired, but nobody took it"
    connect().take_lease("c2", now=200.0, ttl_s=10.0)
    with pytest.raises(LeaseLost):
        store.renew_lease(late, now=201.0, ttl_s=10.0)


def test_13_a_released_lease_is_free_at_once_and_of_no_use(store):
    run = add(store)
    lease = take(store)
    store.release_lease(lease)
    with pytest.raises(LeaseLost):
        store.renew_lease(lease, now=1.0, ttl_s=10.0)
    with pytest.raises(LeaseLost):
        store.write(lease, Change(run=run))
    assert take(store, "c2").epoch == lease.epoch + 1


def test_13_releasing_a_lost_lease_does_nothing(store):
    lost = take(store)
    held = take(store, "c2", now=10.0)
    store.release_lease(lost)
    assert store.renew_lease(held, now=1.0, ttl_s=10.0).epoch == held.epoch


def test_14_live_runs_come_oldest_first_with_newest_attempt_and_open_claims(store):
    lease = take(store)
    old = add(store, "old", created_at=1.0)
    add(store, "new", created_at=3.0)
    add(store, "done", created_at=2.0, phase=RunPhase.SUCCEEDED)
    attempts = (make_attempt("old", 1, phase=AttemptPhase.ENDED), make_attempt("old", 2))
    leaked = make_claim("old", 1, 1, phase=ClaimPhase.CANCELLING)
    current = make_claim("old", 2, 0), make_claim("old", 2, 1, phase=ClaimPhase.GONE)
    gone = make_claim("old", 1, 0, phase=ClaimPhase.GONE)
    old = replace(old, attempt=2, phase=RunPhase.STARTING)
    rows = {"attempts": attempts, "claims": (*reversed(current), gone, leaked)}
    old = store.write(lease, Change(run=old, **rows))
    assert store.live() == [
        RunState(run=old, attempt=attempts[1], claims=(leaked, *current)),
        RunState(run=store.get_run("new"), attempt=None, claims=()),
    ]


def test_14_an_attempt_that_is_held_has_not_begun_but_its_claims_are_known(store):
    lease = take(store)
    run = replace(add(store, "r", phase=RunPhase.RUNNING), attempt=1)
    works = make_attempt("r", 1, phase=AttemptPhase.RUNNING)
    held = make_attempt("r", 2, phase=AttemptPhase.HELD)
    claims = tuple(
        make_claim("r", attempt, index, phase=phase)
        for attempt, index, phase in (
            (1, 0, ClaimPhase.SUBMITTED),
            (2, 0, ClaimPhase.GONE),
            (2, 1, ClaimPhase.SUBMITTED),
        )
    )
    run = store.write(lease, Change(run=run, attempts=(works, held), claims=claims))
    expected = RunState(run=run, attempt=works, claims=claims)
    assert store.live() == store.live(only=["r"]) == [expected]
    assert store.list_attempts("r") == [works]
    begun = replace(held, phase=AttemptPhase.STARTING)
    store.write(lease, Change(run=replace(run, attempt=2), attempts=(begun,)))
    assert store.list_attempts("r") == [works, begun]


def test_14_some_live_runs_are_the_same_as_among_all_of_them(store):
    lease = take(store)
    run = add(store, "run-000", created_at=900.0)
    for number in range(1, 120):
        add(store, f"run-{number:03d}", created_at=float(number % 7))
    add(store, "done", phase=RunPhase.SUCCEEDED)
    run = replace(run, attempt=2, phase=RunPhase.STARTING)
    attempts = (make_attempt(run.id, 1, phase=AttemptPhase.ENDED), make_attempt(run.id, 2))
    leaked = make_claim(run.id, 1, 1, phase=ClaimPhase.CANCELLING)
    gone = make_claim(run.id, 1, 0, phase=ClaimPhase.GONE)
    claims = (gone, make_claim(run.id, 2, 0), leaked)
    store.write(lease, Change(run=run, attempts=attempts, claims=claims))
    everyone = store.live()
    ids = [state.run.id for state in everyone]
    for chosen in (set(), {"done", "nobody"}, {*ids[5:9], "run-000", "done"}, {*ids[20:], "done"}):
        assert store.live(only=chosen) == [s for s in everyone if s.run.id in chosen]


def test_17_versions_of_live_runs_come_oldest_first(store):
    lease = take(store)
    add(store, "new", created_at=3.0)
    old = add(store, "old", created_at=1.0)
    add(store, "done", created_at=2.0, phase=RunPhase.SUCCEEDED)
    store.write(lease, Change(run=old))
    assert list(store.live_versions().items()) == [("old", 1), ("new", 0)]


def test_15_a_write_replaces_by_key_appends_events_and_counts_the_version(store, connect):
    run = replace(add(store), phase=RunPhase.STARTING, attempt=1)
    lease = take(store)
    asked = Change(run=run, attempts=(make_attempt(),), claims=(make_claim(),))
    run = store.write(lease, asked)
    assert run.version == 1
    attempt = make_attempt(phase=AttemptPhase.RUNNING, winner="r-1-0")
    claim = make_claim(phase=ClaimPhase.SUBMITTED, handle="h")
    run = replace(run, phase=RunPhase.RUNNING, reason="Läuft.")
    event = make_event(attempt=1)
    written = store.write(
        lease, Change(run=run, attempts=(attempt,), claims=(claim,), events=(event,))
    )
    assert written == replace(run, version=2)
    seen = everything(connect())
    assert seen[:3] == (written, [attempt], [claim])
    assert [kept.code for kept in seen[3]] == ["submitted", "noted"]


REFUSED = {
    "a lease of an epoch that has passed": (LeaseLost, lambda c: c),
    "a version that has passed": (RunChanged, lambda c: replace(c, run=replace(c.run, version=1))),
    "a version yet to come": (RunChanged, lambda c: replace(c, run=replace(c.run, version=3))),
    "a run that is not there": (RunChanged, lambda c: Change(run=make_run("nobody"))),
    "a run's illegal move": (
        PhaseIllegal,
        lambda c: replace(c, run=replace(c.run, phase=RunPhase.STARTING)),
    ),
    "an attempt's illegal move": (
        PhaseIllegal,
        lambda c: replace(c, attempts=(make_attempt(phase=AttemptPhase.RUNNING),)),
    ),
    "a claim's illegal move": (
        PhaseIllegal,
        lambda c: replace(c, claims=(make_claim(phase=ClaimPhase.SUBMITTED),)),
    ),
    "an event of another run": (
        InternalError,
        lambda c: replace(c, events=(make_event("other"),)),
    ),
    "a claim of another run": (
        InternalError,
        lambda c: replace(c, claims=(make_claim(id="other-1-0"),)),
    ),
    "a claim of an attempt that is not there": (
        InternalError,
        lambda c: replace(c, claims=(make_claim(attempt=9),)),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_15_a_refused_write_writes_nothing(store, name):
    error, spoil = REFUSED[name]
    other, lease = add(store, "other"), take(store)
    store.write(
        lease, Change(run=other, attempts=(make_attempt("other"),), claims=(make_claim("other"),))
    )
    run = store.write(lease, Change(run=replace(add(store), phase=RunPhase.STARTING)))
    attempt, claim = make_attempt(phase=AttemptPhase.ENDED), make_claim(phase=ClaimPhase.GONE)
    run = replace(run, phase=RunPhase.RUNNING)
    run = store.write(lease, Change(run=run, attempts=(attempt,), claims=(claim,)))
    before = everything(store), everything(store, "other")

    good = Change(
        run=replace(run, reason="Written."),
        attempts=(make_attempt(number=2),),
        claims=(make_claim(attempt=2),),
        events=(make_event(),),
    )
    used = replace(lease, epoch=lease.epoch - 1) if error is LeaseLost else lease
    with pytest.raises(error):
        store.write(used, spoil(good))
    assert (everything(store), everything(store, "other")) == before
    assert issubclass(error, StateError) or error is InternalError
    assert store.write(lease, good).version == run.version + 1, "the store is as good as before"


def test_16_the_data_version_changes_when_another_connection_wrote_and_only_then(store, connect):
    other = connect()
    first = store.data_version()
    add(store)
    store.get_run("r")
    assert store.data_version() == first, "its own writes are no news"
    other.want("r", Wanted.STOP, make_event())
    second = store.data_version()
    assert second != first
    assert store.data_version() == second
    other.take_lease("c2", now=0.0, ttl_s=1.0)
    assert store.data_version() != second
