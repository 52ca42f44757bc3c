"""The store in one SQLite file: opening it, its transactions, and what its errors mean.

Must not hold the store's logic, which is in `sql_store`. Needs SQLite 3.26 or newer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from windlass.errors import InternalError, StoreBusy, StoreUnreachable, WindlassError
from windlass.state.database import Row
from windlass.state.migrate import SHIPPED, Schema, bring_up_to_date
from windlass.state.sql_store import SqlStore

MEMORY = ":memory:"

APPLICATION_ID = 0x57_4E_44_4C
"""Marks a file as ours ("WNDL"), so that another program's database is not taken for a store."""

BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
REMEDIES = {
    sqlite3.SQLITE_FULL: "Free some space on its disk.",
    sqlite3.SQLITE_READONLY: "Make the file and its folder writable for you.",
    sqlite3.SQLITE_PERM: "Make the file and its folder writable for you.",
    sqlite3.SQLITE_CANTOPEN: "Check that its folder is there and writable for you.",
    sqlite3.SQLITE_IOERR: "Check its disk, and that the file is not on a network file system.",
    sqlite3.SQLITE_CORRUPT: "Restore the file from a backup, or move it away to begin anew.",
    sqlite3.SQLITE_NOTADB: "Restore the file from a backup, or move it away to begin anew.",
}


def open_sqlite(path: str, *, busy_timeout_s: float = 10.0, schema: Schema = SHIPPED) -> SqlStore:
    """Open the store in this file, which is made when it is not there; `:memory:` for none."""
    database = SqliteDatabase(path, busy_timeout_s=busy_timeout_s)
    try:
        bring_up_to_date(database, schema)
    except WindlassError:
        database.close()
        raise
    return SqlStore(database)


class SqliteDatabase:
    """See Database. Writers wait for each other up to `busy_timeout_s`; readers never wait."""

    dialect = "sqlite"

    def __init__(self, path: str, *, busy_timeout_s: float) -> None:
        self.place = path
        is_new = path != MEMORY and not Path(path).exists()
        if is_new:
            _make_folder(Path(path).parent)
        with self._translated():
            # No `detect_types`, no implicit transactions: what is sent is what is written here.
            # The thread that opens a store may hand it to the one that uses it.
            self._connection = sqlite3.connect(
                path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
            )
            # An intent must be on the disk before its effect: FULL syncs the log at each commit.
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
        if is_new:
            # SQLite gives its log the mode of the file. Never open the file itself: closing it
            # again would drop the locks that other connections of this process hold.
            Path(path).chmod(0o600)

    def query(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """See Database."""
        with self._translated():
            return self._connection.execute(sql, values).fetchall()

    def repeat(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """See Database."""
        with self._translated():
            self._connection.executemany(sql, rows)

    def reading(self) -> AbstractContextManager[None]:
        """See Database."""
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[None]:
        """See Database."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def migrating(self) -> Iterator[None]:
        """See Database."""
        self._use_write_ahead_log()
        with self._transaction("BEGIN IMMEDIATE"):
            yield
            [(version,)] = self.query("SELECT max(version) FROM schema_version")
            # A copy in the file's header: the next start reads it without touching a table.
            self.query(f"PRAGMA user_version = {version}")
            self.query(f"PRAGMA application_id = {APPLICATION_ID}")

    def schema_version(self) -> int:
        """See Database."""
        # Its mark is looked at once more after its tables: another process may make it just now.
        if not self._is_marked() and self._has_tables() and not self._is_marked():
            raise StoreUnreachable(
                f"{self.place} is the database of another program",
                remedy="Name another file for the store.",
            )
        [(version,)] = self.query("PRAGMA user_version")
        return int(version)

    def data_version(self) -> int:
        """See Database."""
        [(version,)] = self.query("PRAGMA data_version")
        return int(version)

    def close(self) -> None:
        """See Database."""
        self._connection.close()

    def _is_marked(self) -> bool:
        return self.query("PRAGMA application_id") == [(APPLICATION_ID,)]

    def _has_tables(self) -> bool:
        return bool(self.query("SELECT 1 FROM sqlite_master LIMIT 1"))

    def _use_write_ahead_log(self) -> None:
        """Switch the file to WAL, which lasts. SQLite does not wait for a lock here; so wait until
        nobody else is in the file, and try again: the other one may be switching it too."""
        while True:
            try:
                self.query("PRAGMA journal_mode = WAL")
            except StoreBusy:
                with self._transaction("BEGIN EXCLUSIVE"):
                    continue
            return

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        try:
            self.query(begin)
            yield
            self.query("COMMIT")
        except BaseException:
            # SQLite ends the transaction itself after some errors, such as a full disk.
            with suppress(sqlite3.Error):
                self._connection.rollback()
            raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as exc:
            raise self._meaning(exc) from exc

    def _meaning(self, exc: sqlite3.Error) -> WindlassError:
        # The low byte is the kind; the rest says more about it. Misuse of Python's API has none.
        kind = getattr(exc, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & 0xFF
        if kind in BUSY:
            return StoreBusy(f"{self.place} stayed locked by another process ({exc})")
        if kind in REMEDIES:
            return StoreUnreachable(
                f"the store {self.place} cannot be used: {exc}", remedy=REMEDIES[kind]
            )
        return InternalError(f"the store {self.place} failed: {exc}")


def _make_folder(folder: Path) -> None:
    """Make the folder, for this user only; one that is there already is left as it is."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise StoreUnreachable(
            f"the folder {folder} cannot be made: {exc.strerror}",
            remedy="Name another place for the store, or make the folder writable for you.",
        ) from exc
