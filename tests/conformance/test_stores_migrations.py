"""Bringing a store's schema forward, over both databases.

Must not know which store it runs over, but for how it is opened.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from builders import make_event
from conformance.stores import add, everything
from windlass.errors import InternalError, StoreTooNew
from windlass.state.database import Database
from windlass.state.migrate import SHIPPED, Schema, bring_up_to_date
from windlass.state.phases import Wanted
from windlass.state.postgres_store import PostgresDatabase
from windlass.state.postgres_url import read_address
from windlass.state.sql_store import SqlStore
from windlass.state.sqlite_store import SqliteDatabase


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

    def with_second(sql: str) -> Schema:
        folder = tmp_path / "migrations"
        shutil.copytree(SHIPPED.folder, folder, dirs_exist_ok=True)
        (folder / "0002_second.sql").write_text(sql, encoding="utf-8")
        return Schema(folder=folder, version=2)

    return with_second


def applied(database: Database) -> list[tuple[object, ...]]:
    return database.query("SELECT version, name FROM schema_version ORDER BY version")


def test_a_fresh_database_gets_every_migration_once(database):
    assert database.schema_version() == 0
    for _ in range(2):
        bring_up_to_date(database, SHIPPED)
        assert database.schema_version() == SHIPPED.version
        assert applied(database) == [(1, "first")]


def test_an_old_store_is_brought_forward_with_its_data(database, later):
    bring_up_to_date(database, SHIPPED)
    store = SqlStore(database)
    add(store, name="Größe")
    before = everything(store)
    schema = later("ALTER TABLE runs ADD COLUMN price TEXT NOT NULL DEFAULT 'free';\n")
    bring_up_to_date(database, schema)
    assert applied(database) == [(1, "first"), (2, "second")]
    assert database.schema_version() == 2
    assert database.query("SELECT id, price FROM runs") == [("r", "free")]
    assert everything(store) == before


def test_a_store_of_a_newer_windlass_is_refused_and_left_alone(database, later):
    bring_up_to_date(database, later("CREATE TABLE prices (id TEXT);\n"))
    with pytest.raises(StoreTooNew) as caught:
        bring_up_to_date(database, SHIPPED)
    assert "schema 2" in caught.value.message
    assert "pip install -U windlass" in caught.value.remedy
    assert database.schema_version() == 2


@pytest.mark.parametrize("has_data", [False, True], ids=["fresh", "with data"])
def test_a_migration_that_fails_half_way_is_undone_and_can_be_repeated(database, later, has_data):
    if has_data:
        bring_up_to_date(database, SHIPPED)
        add(SqlStore(database))
    broken = later("CREATE TABLE prices (id TEXT);\nINSERT INTO nowhere VALUES (1);\n")
    with pytest.raises(InternalError):
        bring_up_to_date(database, broken)
    assert database.schema_version() == (1 if has_data else 0)
    bring_up_to_date(database, later("CREATE TABLE prices (id TEXT);\n"))
    assert applied(database) == [(1, "first"), (2, "second")]
    store = SqlStore(database)
    if not has_data:
        add(store)
    assert store.want("r", Wanted.STOP, make_event()).version == 1
