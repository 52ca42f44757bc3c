"""What only a server can do to a store: refuse, forget its clients, and be far away.

Must not repeat what the suite over both stores checks.
"""

from __future__ import annotations

import contextlib
import traceback
from collections import UserDict
from urllib.parse import quote

import pytest

from builders import make_event, make_run
from conformance.stores import add, take
from windlass.errors import InternalError, StoreBusy, StoreUnreachable
from windlass.state.migrate import SHIPPED, bring_up_to_date
from windlass.state.model import Change
from windlass.state.open_store import open_store
from windlass.state.phases import RunPhase, Wanted
from windlass.state.postgres_store import PostgresDatabase
from windlass.state.postgres_url import read_address
from windlass.state.rows import RUNS
from windlass.state.sql_store import LIVE_ATTEMPTS, LIVE_CLAIMS, LIVE_RUNS, SqlStore

OTHERS = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'windlass'"


@pytest.fixture
def url(postgres_server):
    return postgres_server.fresh_url()


def test_a_connection_lost_between_calls_is_made_anew_by_the_next(postgres_server, url):
    with contextlib.closing(open_store(url)) as store:
        run = add(store)
        lease = take(store)
        postgres_server.execute(f"SELECT pg_terminate_backend(pid) {OTHERS}")
        with pytest.raises(StoreBusy):
            store.write(lease, Change(run=run))
        assert store.write(lease, Change(run=run)).version == 1


def test_a_connection_lost_in_the_middle_of_a_write_leaves_nothing_of_it(postgres_server, url):
    class Cutting(UserDict[str, str]):
        def __iter__(self):
            postgres_server.execute(f"SELECT pg_terminate_backend(pid) {OTHERS}")
            return super().__iter__()

    with contextlib.closing(open_store(url)) as store:
        add(store)
        with pytest.raises(StoreBusy):
            store.want("r", Wanted.STOP, make_event(details=Cutting(a="b")))
        assert store.get_run("r") == make_run()
        assert len(store.list_events("r")) == 1
        assert store.want("r", Wanted.STOP, make_event()).version == 1


def test_a_client_that_sleeps_in_a_transaction_is_put_out(postgres_server, url):
    database = PostgresDatabase(read_address(url), lock_timeout_s=1.0)
    with contextlib.closing(database):
        assert database.query("SHOW idle_in_transaction_session_timeout") == [("30s",)]
        bring_up_to_date(database, SHIPPED)
        database.query("SET idle_in_transaction_session_timeout = 50")
        with pytest.raises(StoreBusy), database.writing():
            postgres_server.execute("SELECT pg_sleep(0.3)")
            database.query("SELECT 1")
        assert database.query("SELECT number FROM changes") == [(0,)]


UNREACHABLE = {
    "no server there": "postgresql://ada:s3cr%3At@/postgres?host={folder}/nowhere",
    "no such database": "postgresql://windlass:s3cr%3At@/nobase?host={folder}",
    "no such user": "postgresql://nobody:s3cr%3At@/postgres?host={folder}",
    "a password that is not escaped": "postgresql://windlass:s3/cr:t@/postgres?host={folder}",
    "a password that looks like a host": "postgresql://windlass:x@s3cr:t/postgres?host={folder}",
    "a password in the query": "postgresql://windlass@/nobase?host={folder}&password=s3cr%3At",
    "a port that is none": "postgresql://windlass:s3cr%3At@localhost:s3/postgres",
}


@pytest.mark.parametrize("name", UNREACHABLE)
def test_an_unreachable_server_is_named_with_a_remedy_and_without_the_password(
    postgres_server, name
):
    folder = quote(postgres_server.folder, safe="")
    with pytest.raises(StoreUnreachable) as caught:
        open_store(UNREACHABLE[name].format(folder=folder))
    assert caught.value.remedy
    shown = "".join(traceback.format_exception(caught.value, chain=True))
    frames = [line for line in shown.splitlines() if not line.startswith("    ")]
    for part in ("s3cr", "s3/cr", "cr:t"):
        assert part not in f"{caught.value} {caught.value.remedy} {caught.value.context}"
        assert part not in "\n".join(frames)


def test_a_database_that_cannot_hold_every_text_is_refused(postgres_server):
    postgres_server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(StoreUnreachable) as caught:
        open_store(postgres_server.url(database="latin"))
    assert "UTF8" in caught.value.remedy


def test_a_user_who_may_not_make_tables_is_told_what_to_ask_for(postgres_server, url):
    postgres_server.execute("CREATE ROLE guest LOGIN")
    with pytest.raises(StoreUnreachable) as caught:
        open_store(postgres_server.url().replace("windlass@", "guest@"))
    assert "GRANT" in caught.value.remedy


def test_a_statement_that_can_never_work_is_our_fault(url):
    database = PostgresDatabase(read_address(url), lock_timeout_s=1.0)
    with contextlib.closing(database), pytest.raises(InternalError):
        database.query("SELECT * FROM nowhere")


def test_reading_live_runs_does_not_look_at_those_that_ended(url):
    database = PostgresDatabase(read_address(url), lock_timeout_s=1.0)
    with contextlib.closing(database):
        bring_up_to_date(database, SHIPPED)
        ended = [make_run(f"e{n}", phase=RunPhase.SUCCEEDED, created_at=n) for n in range(5000)]
        with database.writing():
            database.repeat(RUNS.insert, [RUNS.row(run) for run in ended])
        add(SqlStore(database), "live")
        database.query("ANALYZE")
        for sql in (LIVE_RUNS, LIVE_ATTEMPTS, LIVE_CLAIMS):
            plan = "\n".join(row[0] for row in database.query(f"EXPLAIN {sql}"))
            assert "runs_live" in plan
            assert "Seq Scan on runs" not in plan
