from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import make_attempt, make_claim, make_event, make_run
from windlass.errors import InternalError, StoreBusy, StoreTooNew, StoreUnreachable
from windlass.state.migrate import SHIPPED, bring_up_to_date
from windlass.state.past import HELD, PACES
from windlass.state.phases import RunPhase, Wanted
from windlass.state.rows import ATTEMPTS, CLAIMS, RUNS
from windlass.state.sql_store import LIVE_ATTEMPTS, LIVE_CLAIMS, LIVE_RUNS, SqlStore
from windlass.state.sqlite_store import MEMORY, SqliteDatabase, open_sqlite

LIVE_QUERIES = (LIVE_RUNS, LIVE_ATTEMPTS, LIVE_CLAIMS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def database(path: Path) -> Iterator[SqliteDatabase]:
    opened = SqliteDatabase(str(path), busy_timeout_s=1.0)
    bring_up_to_date(opened, SHIPPED)
    with contextlib.closing(opened):
        yield opened


class Listening:
    """A database that keeps the questions it is asked."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self.queries: list[tuple[str, object]] = []

    def __getattr__(self, name: str):
        return getattr(self._database, name)

    def query(self, sql, values=()):
        self.queries.append((sql, values))
        return self._database.query(sql, values)


def fill(database: SqliteDatabase, *, live: int, ended: int) -> None:
    """Runs of two attempts with a claim each."""
    runs = [make_run(f"l{n}", attempt=2, created_at=n) for n in range(live)]
    runs += [
        make_run(f"e{n}", attempt=2, created_at=n, phase=RunPhase.SUCCEEDED) for n in range(ended)
    ]
    ids = [run.id for run in runs]
    with database.writing():
        database.repeat(RUNS.insert, [RUNS.row(run) for run in runs])
        for number in (1, 2):
            attempts = [ATTEMPTS.row(make_attempt(run_id, number)) for run_id in ids]
            database.repeat(ATTEMPTS.insert, attempts)
            claims = [CLAIMS.row(make_claim(run_id, number)) for run_id in ids]
            database.repeat(CLAIMS.insert, claims)


def steps(path: Path) -> int:
    """How much SQLite does to read the live runs, counted in its own instructions."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.set_progress_handler(count, 10)
        for sql in LIVE_QUERIES:
            connection.execute(sql).fetchall()
    return counted


def test_the_cost_of_live_runs_does_not_grow_with_ended_ones(database, path):
    fill(database, live=20, ended=0)
    alone = steps(path)
    with database.writing():
        database.query("DELETE FROM runs")
    fill(database, live=20, ended=10_000)
    assert alone <= steps(path) <= alone + 1
    assert len(SqlStore(database).live()) == 20


def test_live_runs_are_read_by_the_index_of_live_runs(database):
    for sql in LIVE_QUERIES:
        plan = [row[3] for row in database.query(f"EXPLAIN QUERY PLAN {sql}")]
        scans = [line for line in plan if line.startswith("SCAN")]
        assert scans
        assert all("USING INDEX runs_live" in line for line in scans), plan


def test_listing_only_live_phases_uses_the_index_of_live_runs(database):
    fill(database, live=20, ended=1000)
    listening = Listening(database)
    assert len(SqlStore(listening).list_runs(phases=[RunPhase.QUEUED])) == 20
    [(sql, values)] = listening.queries
    [plan] = database.query(f"EXPLAIN QUERY PLAN {sql}", values)
    assert "USING INDEX runs_live" in plan[3]


def test_the_past_is_read_by_indexes_and_not_by_looking_at_every_run(database):
    for sql, index in ((HELD, "claims_rented"), (PACES, "runs_by_name")):
        values = [0] * sql.count("?")
        plan = [row[3] for row in database.query(f"EXPLAIN QUERY PLAN {sql}", values)]
        assert any(f"INDEX {index}" in line for line in plan), plan
        assert not any(
            line.startswith(("SCAN runs", "SCAN a", "SCAN c ")) and "INDEX" not in line
            for line in plan
        ), plan


@pytest.mark.parametrize("live", [0, 1, 50])
def test_live_runs_take_three_queries_however_many_there_are(database, live):
    fill(database, live=live, ended=5)
    listening = Listening(database)
    assert len(SqlStore(listening).live()) == live
    assert len(listening.queries) == 3


@pytest.mark.parametrize("name", ["plain", "two words", "?mode=ro", "#a", "100%25", "größe 東京"])
def test_every_path_is_taken_as_it_is_written(tmp_path, name):
    path = tmp_path / name / f"{name}.db"
    with contextlib.closing(open_sqlite(str(path))) as store:
        store.add_run(make_run(), make_event())
        assert sorted(entry.name for entry in path.parent.iterdir())[0] == f"{name}.db"
    with contextlib.closing(open_sqlite(str(path))) as store:
        assert store.get_run("r") is not None


def test_a_new_store_is_for_its_owner_only(tmp_path):
    old = os.umask(0o022)
    try:
        path = tmp_path / "home" / "store.db"
        with contextlib.closing(open_sqlite(str(path))) as store:
            store.add_run(make_run(), make_event())
            modes = {e.name: stat.S_IMODE(e.stat().st_mode) for e in path.parent.iterdir()}
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}


def test_an_intent_is_on_the_disk_before_its_effect(database):
    assert database.query("PRAGMA journal_mode") == [("wal",)]
    assert database.query("PRAGMA synchronous") == [(2,)], "FULL"
    assert database.query("PRAGMA foreign_keys") == [(1,)]


def test_opening_a_store_that_is_up_to_date_changes_nothing(database, path):
    version = database.data_version()
    open_sqlite(str(path)).close()
    assert database.data_version() == version


def test_a_store_locked_for_too_long_is_busy_and_works_afterwards(database, path):
    with contextlib.closing(open_sqlite(str(path), busy_timeout_s=0.02)) as store:
        with database.writing(), pytest.raises(StoreBusy) as caught:
            store.add_run(make_run(), make_event())
        assert str(path) in caught.value.message
        store.add_run(make_run(), make_event())


def test_readers_do_not_wait_for_a_writer(database, path):
    SqlStore(database).add_run(make_run(), make_event())
    with contextlib.closing(open_sqlite(str(path), busy_timeout_s=0.02)) as store:
        with database.writing():
            assert store.get_run("r") == make_run()
            assert len(store.live()) == 1


def test_creating_a_store_waits_for_whoever_reads_the_file(path):
    """A reader of a file that is not in WAL mode yet keeps it from being switched."""
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    with contextlib.closing(reader):
        reader.execute("CREATE TABLE t (a)")
        reader.execute("DROP TABLE t")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM sqlite_master").fetchall()
        with pytest.raises(StoreBusy):
            open_sqlite(str(path), busy_timeout_s=0.02)
        leaving = threading.Timer(0.1, reader.rollback)
        leaving.start()
        open_sqlite(str(path)).close()
        leaving.join()


def test_an_error_inside_a_transaction_undoes_it(database):
    with pytest.raises(ZeroDivisionError), database.writing():
        database.query("UPDATE lease SET epoch = 7")
        raise ZeroDivisionError
    assert database.query("SELECT epoch FROM lease") == [(0,)]


def spoil_with_text(path: Path) -> None:
    path.write_text("This is a shopping list, and a long one." * 100)


def spoil_the_middle(path: Path) -> None:
    open_sqlite(str(path)).close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)


def make_it_a_folder(path: Path) -> None:
    path.mkdir()


def make_its_folder_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


def make_it_another_programs(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
        connection.execute("PRAGMA user_version = 1")


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_with_text,
        spoil_the_middle,
        make_it_a_folder,
        make_its_folder_a_file,
        make_it_another_programs,
    ],
)
def test_a_file_that_cannot_be_a_store_is_refused_with_a_remedy(tmp_path, spoil):
    folder = tmp_path / "home"
    folder.mkdir()
    path = folder / "store.db"
    spoil(path)
    with pytest.raises(StoreUnreachable) as caught:
        with contextlib.closing(open_sqlite(str(path))) as store:
            store.live()
    assert caught.value.remedy
    assert str(folder) in caught.value.message


def test_a_newer_file_is_refused_without_reading_it(path):
    open_sqlite(str(path)).close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreTooNew):
        open_sqlite(str(path))


def test_a_statement_that_can_never_work_is_our_fault(database):
    with pytest.raises(InternalError):
        database.query("SELECT * FROM nowhere")
    with pytest.raises(InternalError):
        database.query("SELECT ?", ())


def test_a_store_in_memory_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(open_sqlite(MEMORY)) as store:
        store.add_run(make_run(), make_event())
        assert store.want("r", Wanted.STOP, make_event()).version == 1
    assert list(tmp_path.iterdir()) == []
