"""Bringing a store's schema forward, over both databases.

Must not know which store it runs over, but for how it is opened.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from builders import make_event
from conformance.stores import add, everything, take
from windlass.errors import InternalError, StoreTooNew
from windlass.state.database import Database
from windlass.state.migrate import SHIPPED, Schema, bring_up_to_date
from windlass.state.model import Change
from windlass.state.phases import AttemptPhase, Wanted
from windlass.state.postgres_store import PostgresDatabase
from windlass.state.postgres_url import read_address
from windlass.state.sql_store import SqlStore
from windlass.state.sqlite_store import SqliteDatabase

OURS = [(1, "first"), (2, "history"), (3, "money"), (4, "clouds")]
"""The migrations that come with Windlass."""
NEXT = SHIPPED.version + 1


@pytest.fixture
def database(store_url: str) -> Iterator[Database]:
    """The database itself, before anything is in it."""
    if store_url.startswith("sqlite://"):
        path = store_url.removeprefix("sqlite://")
        opened: Database = SqliteDatabase(path, busy_timeout_s=10.0)
    else:
        opened = PostgresDatabase(read_address(store_url), lock_timeout_s=10.0)
    with contextlib.closing(opened):
        yield opened


@pytest.fixture
def later(tmp_path: Path) -> Callable[[str], Schema]:
    """The schema of some later Windlass: today's, and one migration more."""

    def with_another(sql: str) -> Schema:
        folder = tmp_path / "migrations"
        shutil.copytree(SHIPPED.folder, folder, dirs_exist_ok=True)
        (folder / f"{NEXT:04}_another.sql").write_text(sql, encoding="utf-8")
        return Schema(folder=folder, version=NEXT)

    return with_another


def applied(database: Database) -> list[tuple[object, ...]]:
    return database.query("SELECT version, name FROM schema_version ORDER BY version")


def test_a_fresh_database_gets_every_migration_once(database):
    assert database.schema_version() == 0
    for _ in range(2):
        bring_up_to_date(database, SHIPPED)
        assert database.schema_version() == SHIPPED.version
        assert applied(database) == OURS


def test_an_old_store_is_brought_forward_with_its_data(database, later):
    bring_up_to_date(database, SHIPPED)
    store = SqlStore(database)
    add(store, name="Größe")
    before = everything(store)
    schema = later("ALTER TABLE runs ADD COLUMN price TEXT NOT NULL DEFAULT 'free';\n")
    bring_up_to_date(database, schema)
    assert applied(database) == [*OURS, (NEXT, "another")]
    assert database.schema_version() == NEXT
    assert database.query("SELECT id, price FROM runs") == [("r", "free")]
    assert everything(store) == before


def test_a_store_of_the_first_schema_keeps_its_claims_and_learns_from_now_on(database):
    bring_up_to_date(database, Schema(folder=SHIPPED.folder, version=1))
    with database.writing():
        database.query(
            "INSERT INTO runs VALUES ('r', 'r', '{}', 'ada', 'local', 1, 'running', 'run', 1, 0,"
            " 0, 0, 1, NULL, NULL, NULL, '', '', '{}', 1)"
        )
        database.query(
            "INSERT INTO attempts VALUES ('r', 1, 'running', 1, 1, NULL, NULL, NULL, NULL, NULL,"
            " '', '', 'r-1-0', ?)",
            (False,),
        )
        database.query(
            "INSERT INTO claims VALUES ('r-1-0', 'r', 1, 0, 'local', 'submitted', 1, 'h', 0, 0, '')"
        )
    bring_up_to_date(database, SHIPPED)
    store = SqlStore(database)
    [state] = store.live()
    assert state.attempt == replace(state.attempt, step_s=None, winner="r-1-0")
    [claim] = state.claims
    assert (claim.offer, claim.buy, claim.accelerators, claim.nodes) == ("", "", "", 0)
    assert store.held(now=100.0) == []
    lease = take(store)
    ended = replace(state.attempt, phase=AttemptPhase.ENDING, ended_at=61.0, step_s=0.5)
    known = replace(claim, accelerators="H100:8", nodes=1)
    store.write(lease, Change(run=state.run, attempts=(ended,), claims=(known,)))
    assert [pace.step_s for pace in store.paces("r")] == [0.5]


def test_a_store_of_a_newer_windlass_is_refused_and_left_alone(database, later):
    bring_up_to_date(database, later("CREATE TABLE prices (id TEXT);\n"))
    with pytest.raises(StoreTooNew) as caught:
        bring_up_to_date(database, SHIPPED)
    assert f"schema {NEXT}" in caught.value.message
    assert "pip install -U windlass" in caught.value.remedy
    assert database.schema_version() == NEXT


@pytest.mark.parametrize("has_data", [False, True], ids=["fresh", "with data"])
def test_a_migration_that_fails_half_way_is_undone_and_can_be_repeated(database, later, has_data):
    if has_data:
        bring_up_to_date(database, SHIPPED)
        add(SqlStore(database))
    broken = later("CREATE TABLE prices (id TEXT);\nINSERT INTO nowhere VALUES (1);\n")
    with pytest.raises(InternalError):
        bring_up_to_date(database, broken)
    assert database.schema_version() == (SHIPPED.version if has_data else 0)
    bring_up_to_date(database, later("CREATE TABLE prices (id TEXT);\n"))
    assert applied(database) == [*OURS, (NEXT, "another")]
    store = SqlStore(database)
    if not has_data:
        add(store)
    assert store.want("r", Wanted.STOP, make_event()).version == 1
