"""Fills a home folder's store with runs that nobody carries out.

Must not start a controller.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from windlass.spec.canonical import to_json
from windlass.spec.model import Resources, Spec
from windlass.state.model import Attempt, Change, Claim, Event, Lease, Run
from windlass.state.open_store import open_store
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase
from windlass.state.store import Store

MODEL = "model"
SPEC = to_json(Spec(name="bench", run="python train.py --config base.yaml", resources=Resources()))


def new_run(number: int, *, engine: str = "local") -> Run:
    """A run as `windlass run` would write it."""
    return Run(
        id=f"bench-{number:05d}",
        name=f"bench {number}",
        spec=SPEC,
        owner="bench",
        engine=engine,
        created_at=1_000_000.0 + number,
        code="submitted",
        reason="waiting for the controller",
    )


def add(store: Store, run: Run) -> None:
    """Add a run with its first event."""
    store.add_run(run, event(run))


def event(run: Run) -> Event:
    """An event of the usual size."""
    return Event(
        run=run.id, attempt=0, at=run.created_at, code="submitted", message="submitted by a bench"
    )


def add_queued(home: Path, count: int) -> None:
    """Make a home with so many queued runs."""
    store = open_store(f"sqlite://{home / 'windlass.db'}")
    for number in range(count):
        add(store, new_run(number))
    store.close()


def add_ended(path: Path, count: int, *, engine: str) -> None:
    """So many runs that ended long ago, each with an attempt, a claim and events.

    One goes through the store; the others are copies of its rows, since ten thousand runs written
    one by one take longer than what is measured.
    """
    store = open_store(f"sqlite://{path}")
    lease = store.take_lease("populate", now=0.0, ttl_s=1e9)
    assert lease is not None
    model = _write_ended(store, lease, replace(new_run(0, engine=engine), id=MODEL))
    store.release_lease(lease)
    store.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in ("runs", "attempts", "claims", "events"):
            _copy(connection, table, count)
        connection.execute("DELETE FROM runs WHERE id = ?", (model.id,))


def _write_ended(store: Store, lease: Lease, run: Run) -> Run:
    add(store, run)
    attempt = Attempt(run=run.id, number=1, phase=AttemptPhase.STARTING, created_at=1.0)
    claim = Claim(
        id=f"{run.id}-1-0",
        run=run.id,
        attempt=1,
        index=0,
        engine=run.engine,
        phase=ClaimPhase.GONE,
        created_at=1.0,
    )
    run = replace(run, attempt=1, phase=RunPhase.STOPPING, outcome=Outcome.STOPPED)
    run = store.write(lease, Change(run=run, attempts=(attempt,), claims=(claim,)))
    ended = replace(attempt, phase=AttemptPhase.ENDING, outcome=Outcome.STOPPED)
    run = store.write(lease, Change(run=run, attempts=(ended,), events=(event(run),)))
    run = replace(run, phase=RunPhase.STOPPED, ended_at=run.created_at + 1.0)
    done = replace(ended, phase=AttemptPhase.ENDED)
    return store.write(lease, Change(run=run, attempts=(done,), events=(event(run),)))


def _copy(connection: sqlite3.Connection, table: str, count: int) -> None:
    """Copy the model's rows under the ids of other runs."""
    told = connection.execute(f"PRAGMA table_info({table})").fetchall()
    columns = [f'"{column[1]}"' for column in told if column[1] != "sequence"]
    chosen = [
        f"replace({column}, '{MODEL}', printf('ended-%05d', n))"
        if column in ('"id"', '"run"')
        else column
        for column in columns
    ]
    owner = "id" if table == "runs" else "run"
    connection.execute(
        "WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted LIMIT ?) "
        f"INSERT INTO {table} ({', '.join(columns)}) "
        f"SELECT {', '.join(chosen)} FROM counted, {table} WHERE {owner} = ?",
        (count, MODEL),
    )
