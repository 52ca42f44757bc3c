"""What a store tells of money, over every store: promise 20.

Must not know which store it runs over.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import make_charge
from conformance.stores import add, take
from windlass.errors import InternalError
from windlass.state.model import Change
from windlass.state.phases import RunPhase


def charge(store, run, *charges):
    lease = take(store)
    written = store.write(lease, Change(run=run, charges=charges))
    store.release_lease(lease)
    return written


def test_20_a_charge_is_written_and_ended_by_its_claim(store):
    run = add(store)
    held = make_charge(from_at=10.0)
    run = charge(store, run, held)
    assert store.charges() == [held]
    ended = replace(held, until_at=70.0, is_extra=True)
    charge(store, run, ended)
    assert store.charges() == [ended]


def test_20_charges_are_found_by_run_and_by_time(store):
    early = make_charge("a", from_at=10.0, until_at=20.0)
    late = make_charge("b", from_at=15.0, until_at=40.0)
    held = make_charge("b", attempt=2, from_at=50.0)
    charge(store, add(store, "a"), early)
    charge(store, add(store, "b"), held, late)
    assert store.charges() == [early, late, held]
    assert store.charges(run_id="b") == [late, held]
    assert store.charges(since=20.0) == [late, held]
    assert store.charges(run_id="a", since=20.0) == []


def test_20_what_was_spent_stays_when_its_run_is_removed(store):
    spent = make_charge(from_at=10.0, until_at=20.0)
    run = charge(store, add(store), spent)
    lease = take(store)
    store.write(lease, Change(run=replace(run, phase=RunPhase.STOPPED)))
    store.delete_run(run.id)
    assert store.charges() == [spent]


def test_20_a_charge_of_another_run_is_refused(store):
    with pytest.raises(InternalError):
        charge(store, add(store, "a"), make_charge("b", from_at=1.0))
