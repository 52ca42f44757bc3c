"""The store in a PostgreSQL database: connecting, its transactions, and what its errors mean.

Must not hold the store's logic, which is in `sql_store`, nor be imported before it is needed:
psycopg takes longer to import than most commands take to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache

import psycopg
from psycopg import errors

from windlass.errors import InternalError, StoreBusy, StoreUnreachable, WindlassError
from windlass.state.database import Row
from windlass.state.migrate import SHIPPED, Schema, bring_up_to_date
from windlass.state.postgres_url import Address, read_address
from windlass.state.sql_store import SqlStore

MIGRATION_LOCK = 0x57_4E_44_4C
"""Key of the advisory lock ("WNDL") under which one process at a time migrates a database."""

BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"

# Reads the catalog itself: `to_regclass` would answer from a cache that a wait for an advisory
# lock does not refresh, so the second of two processes that create a store would miss the first's.
HAS_SCHEMA = """
    SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = 'schema_version' AND n.nspname = ANY (current_schemas(false))"""

# Lost connections, and refusals that are over soon: a restart, too many clients, a lock.
PASSING = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    errors.IdleInTransactionSessionTimeout,
    errors.SerializationFailure,
)


def open_postgres(url: str, *, lock_timeout_s: float = 10.0, schema: Schema = SHIPPED) -> SqlStore:
    """Open the store in this database, which must be there; its tables are made when missing."""
    database = PostgresDatabase(read_address(url), lock_timeout_s=lock_timeout_s)
    try:
        bring_up_to_date(database, schema)
    except WindlassError:
        database.close()
        raise
    return SqlStore(database)


class PostgresDatabase:
    """See Database. A connection that was lost is made anew by the next call."""

    dialect = "postgres"

    def __init__(self, address: Address, *, lock_timeout_s: float) -> None:
        self.place = address.shown
        self._address = address
        self._lock_timeout_s = lock_timeout_s
        self._own_writes = 0
        self._is_closed = False
        try:
            self._connection = self._connect()
        except psycopg.Error as exc:
            raise StoreUnreachable(
                f"the store {self.place} cannot be reached: {address.redacted(exc)}",
                remedy="Check that the server runs, and the host, user and password in its URL.",
            ) from (exc if address.is_plain else None)

    def query(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """See Database."""
        with self._translated():
            cursor = self._open().execute(_marked(sql), values or None)
            return cursor.fetchall() if cursor.description else []

    def repeat(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """See Database."""
        if not rows:
            return
        with self._translated(), self._open().cursor() as cursor:
            cursor.executemany(_marked(sql), rows)

    def reading(self) -> AbstractContextManager[None]:
        """See Database."""
        return self._transaction(BEGIN_READING)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See Database."""
        with self._transaction(BEGIN_WRITING):
            # Locks the row until the commit, so that writers go one after the other: no deadlock,
            # events become visible in their order, and nothing that was checked can change.
            self.query("UPDATE changes SET number = number + 1")
            yield
        self._own_writes += 1

    @contextmanager
    def migrating(self) -> Iterator[None]:
        """See Database."""
        with self._transaction(BEGIN_WRITING):
            self.query("SELECT pg_advisory_xact_lock(?)", (MIGRATION_LOCK,))
            [(encoding,)] = self.query("SHOW server_encoding")
            if encoding != "UTF8":
                raise StoreUnreachable(
                    f"{self.place} keeps text as {encoding}",
                    remedy="Make a database with `CREATE DATABASE ... ENCODING 'UTF8'`.",
                )
            yield

    def schema_version(self) -> int:
        """See Database."""
        if not self.query(HAS_SCHEMA):
            return 0
        [(version,)] = self.query("SELECT coalesce(max(version), 0) FROM schema_version")
        return int(version)

    def data_version(self) -> int:
        """See Database."""
        [(number,)] = self.query("SELECT number FROM changes")
        return int(number) - self._own_writes

    def close(self) -> None:
        """See Database."""
        self._is_closed = True
        self._connection.close()

    def _connect(self) -> psycopg.Connection[Row]:
        # Transactions are opened and closed by name in this file, never by the driver.
        connection = psycopg.connect(
            self._address.url, autocommit=True, client_encoding="utf8", **self._address.defaults
        )
        # A client that hangs or sleeps in a transaction must not keep the others out for long.
        connection.execute(
            f"SET lock_timeout = {int(self._lock_timeout_s * 1000)};"
            " SET idle_in_transaction_session_timeout = 30000"
        )
        return connection

    def _open(self) -> psycopg.Connection[Row]:
        if self._is_closed:
            raise InternalError(f"the store {self.place} was closed")
        if self._connection.closed:
            self._connection = self._connect()
        return self._connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        try:
            self.query(begin)
            yield
            self.query("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        """Leave the transaction, or the connection if that is what is broken."""
        try:
            self._connection.rollback()
        except psycopg.Error:
            self._connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as exc:
            raise self._meaning(exc) from exc

    def _meaning(self, exc: psycopg.Error) -> WindlassError:
        said = self._address.redacted(exc)
        if isinstance(exc, PASSING):
            return StoreBusy(f"the store {self.place} is busy or its connection was lost: {said}")
        if isinstance(exc, errors.InsufficientPrivilege):
            return StoreUnreachable(
                f"the store {self.place} refuses: {said}",
                remedy="Let the database's owner run `GRANT ALL ON SCHEMA public TO` your user.",
            )
        return InternalError(f"the store {self.place} failed: {said}")


@lru_cache(maxsize=256)
def _marked(sql: str) -> str:
    """The statement with psycopg's marks for values. No statement of ours holds `?` or `%`."""
    return sql.replace("?", "%s")
