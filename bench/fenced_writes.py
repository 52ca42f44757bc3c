"""The store's fenced write, beside a bare insert and commit in a SQLite file on the same disk.

Both sync the log at each commit.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from clocks import in_turn, median, seconds
from figures import Figure, Result
from populate import SPEC, add, event, new_run

from windlass.state.model import Attempt, Change, Claim, Lease, Run
from windlass.state.open_store import open_store
from windlass.state.phases import AttemptPhase, ClaimPhase
from windlass.state.store import Store

WRITES = 100
REPETITIONS = 9
FOREVER_S = 1e9


def measure() -> Result:
    """Batches of writes in turn."""
    with tempfile.TemporaryDirectory(prefix="windlass-bench-") as folder:
        store = open_store(f"sqlite://{Path(folder, 'windlass.db')}")
        lease = store.take_lease("bench", now=0.0, ttl_s=FOREVER_S)
        assert lease is not None
        bare = _bare(Path(folder, "bare.db"))
        sides = {
            "sync": _syncs(Path(folder, "synced")),
            "bare": lambda: [_insert(bare) for _ in range(WRITES)],
            "fenced": _fenced(store, lease),
        }
        timed = {name: lambda side=side: seconds(side) for name, side in sides.items()}
        found = in_turn(timed, repetitions=REPETITIONS)
        store.close()
        bare.close()
    rates = {name: WRITES / median(times) for name, times in found.items()}
    return Result(
        title="Writes to the store (SQLite, synced at each commit)",
        baseline="a bare sqlite3 insert of the same bytes and commit, same file system",
        limit="1 x is one commit; it cannot be faster than the disk syncs",
        figures=(
            Figure(name="append 4 KiB and fdatasync", value=rates["sync"], unit="/s"),
            Figure(name="bare insert and commit", value=rates["bare"], unit="/s", ratio=1.0),
            Figure(
                name="fenced write of a step",
                value=rates["fenced"],
                unit="/s",
                ratio=rates["bare"] / rates["fenced"],
                note="lease, version and phases checked; run, attempt, claim, event written",
            ),
        ),
    )


def _syncs(path: Path) -> Callable[[], object]:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    block = b"x" * 4096

    def sync() -> None:
        for _ in range(WRITES):
            os.write(file, block)
            os.fdatasync(file)

    return sync


def _bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE kept (id INTEGER PRIMARY KEY, text TEXT)")
    return connection


def _insert(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO kept (text) VALUES (?)", (SPEC,))
    connection.execute("COMMIT")


def _fenced(store: Store, lease: Lease) -> Callable[[], object]:
    run = new_run(0)
    add(store, run)
    run = store.write(lease, Change(run=replace(run, attempt=1)))
    attempt = Attempt(run=run.id, number=1, phase=AttemptPhase.STARTING, created_at=1.0)
    claim = Claim(
        id=f"{run.id}-1-0",
        run=run.id,
        attempt=1,
        index=0,
        engine="local",
        phase=ClaimPhase.ASKED,
        created_at=1.0,
    )
    held: list[Run] = [run]

    def write() -> None:
        for _ in range(WRITES):
            change = Change(
                run=held[0], attempts=(attempt,), claims=(claim,), events=(event(held[0]),)
            )
            held[0] = store.write(lease, change)

    return write
