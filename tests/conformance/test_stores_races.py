"""Stores under several writers, and under writers that die in the middle.

Must not know which store it runs over.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from builders import make_attempt, make_event
from conformance import store_process
from conformance.stores import add, everything, take
from windlass.errors import LeaseLost, RunChanged, StoreBusy
from windlass.state.model import Change, Lease
from windlass.state.open_store import open_store
from windlass.state.phases import RunPhase, Wanted
from windlass.state.postgres_store import open_postgres
from windlass.state.sqlite_store import open_sqlite
from windlass.state.store import Store

ROUNDS = 25


def together(*works: tuple[Callable[..., object], *tuple[object, ...]]) -> list[object]:
    """Call each with its arguments at the same moment, in threads; their results."""
    gate = threading.Barrier(len(works))

    def begin(work, *arguments):
        gate.wait()
        return work(*arguments)

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(begin, *work) for work in works]]


def impatient(url: str) -> Store:
    """The store, opened by somebody who does not wait for a lock."""
    if url.startswith("sqlite://"):
        return open_sqlite(url.removeprefix("sqlite://"), busy_timeout_s=0.05)
    return open_postgres(url, lock_timeout_s=0.05)


def test_of_several_controllers_exactly_one_gets_a_free_lease(connect):
    stores = [connect() for _ in range(4)]
    for round_ in range(ROUNDS):
        works = [
            (partial(store.take_lease, f"c{number}", now=round_ * 100.0, ttl_s=10.0),)
            for number, store in enumerate(stores)
        ]
        won = [lease for lease in together(*works) if lease is not None]
        assert [lease.epoch for lease in won] == [round_ + 1]


def test_controllers_that_steal_the_lease_from_each_other_lose_no_write(store, connect):
    add(store)

    def fight(mine: Store, holder: str) -> int:
        written = 0
        for _ in range(ROUNDS):
            lease = take(mine, holder, ttl_s=0.0)
            with contextlib.suppress(LeaseLost, RunChanged):
                run = mine.get_run("r")
                event = make_event(details={"by": holder})
                mine.write(
                    lease, Change(run=replace(run, restarts=run.restarts + 1), events=(event,))
                )
                written += 1
        return written

    counts = together((fight, connect(), "c1"), (fight, connect(), "c2"))
    run = store.get_run("r")
    assert run.version == run.restarts == sum(counts) == len(store.list_events("r")) - 1
    assert take(store, "c3").epoch == 2 * ROUNDS + 1


def test_wishes_and_writes_that_race_are_both_kept(store, connect):
    add(store)
    lease = take(store)

    def step(mine: Store) -> None:
        written = 0
        while written < ROUNDS:
            run = mine.get_run("r")
            with contextlib.suppress(RunChanged):
                mine.write(lease, Change(run=replace(run, restarts=run.restarts + 1)))
                written += 1

    def wish(mine: Store) -> None:
        for number in range(ROUNDS):
            mine.want("r", Wanted.KILL if number == 3 else Wanted.STOP, make_event(code="wish"))

    together((step, connect()), (wish, connect()))
    run = store.get_run("r")
    assert (run.restarts, run.version) == (ROUNDS, 2 * ROUNDS)
    assert run.wanted is Wanted.KILL
    assert [event.code for event in store.list_events("r")].count("wish") == ROUNDS


def test_events_that_race_are_seen_in_their_order_by_whoever_follows(store, connect):
    add(store)
    done = threading.Event()

    def talk(mine: Store) -> None:
        for _ in range(ROUNDS):
            mine.want("r", Wanted.STOP, make_event(code="wish"))

    def follow(mine: Store) -> list[int]:
        seen = [0]
        while not done.is_set() or mine.list_events("r", after=seen[-1]):
            seen += [event.sequence for event in mine.list_events("r", after=seen[-1])]
        return seen[1:]

    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(follow, connect())
        together(*((talk, connect()) for _ in range(3)))
        done.set()
        assert follower.result() == [event.sequence for event in store.list_events("r")]
    assert len(store.list_events("r")) == 3 * ROUNDS + 1


def test_live_runs_are_read_as_of_one_moment(store, connect):
    run = add(store)
    lease = take(store)
    done = threading.Event()

    def write(mine: Store) -> None:
        changed = run
        for number in range(1, 3 * ROUNDS):
            changed = replace(changed, attempt=number)
            change = Change(run=changed, attempts=(make_attempt(number=number),))
            changed = mine.write(lease, change)
        done.set()

    def look(mine: Store) -> bool:
        while not done.is_set():
            [state] = mine.live()
            if state.run.attempt != (state.attempt.number if state.attempt else 0):
                return False
        return True

    assert together((write, connect()), (look, connect())) == [None, True]


def test_a_writer_killed_in_the_middle_leaves_nothing_half_written(store, store_url, connect):
    run = add(store)
    before = everything(store)
    writer = store_process.start("hang", store_url)
    try:
        assert writer.stdout.readline() == "inside\n"
        assert everything(store) == before, "others do not see what is not committed"
        with contextlib.closing(impatient(store_url)) as other, pytest.raises(StoreBusy):
            other.want("r", Wanted.STOP, make_event())
    finally:
        store_process.end(writer)
    assert everything(store) == before
    assert everything(connect()) == before, "nor is it there after a crash"
    ours = take(store, now=1e9)
    hanging = Lease(holder="hanging", epoch=ours.epoch - 1, expires_at=10.0)
    with pytest.raises(LeaseLost):
        store.write(hanging, Change(run=run))
    assert store.write(ours, Change(run=replace(run, phase=RunPhase.STARTING))).version == 1


def test_what_was_written_is_there_for_the_next_process(store_url):
    with contextlib.closing(open_store(store_url)) as store:
        add(store)
        written = store.write(take(store), Change(run=store.get_run("r")))
    with contextlib.closing(open_store(store_url)) as store:
        assert store.get_run("r") == written
        assert store.take_lease("c2", now=5.0, ttl_s=1.0) is None


def test_processes_that_open_a_fresh_store_at_once_all_succeed(fresh_urls):
    urls = fresh_urls(12)
    processes = [store_process.start("open", *urls) for _ in range(4)]
    try:
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * 4
        for _ in urls:
            for process in processes:
                process.stdin.write("go\n")
            assert [process.stdout.readline() for process in processes] == ["0\n"] * 4
    finally:
        for process in processes:
            store_process.end(process)
