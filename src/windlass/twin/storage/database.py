"""The tables of Cloud Storage: one SQLite file, whose writes are on the disk when they return.

Must not know what buckets and objects are for: it carries out what it is given, several callers'
work in one transaction when they come at once.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
Row = tuple[Any, ...]

SPARE_READERS = 8
CHECKPOINT_PAGES = 4000

SCHEMA = """
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS buckets (
  name TEXT PRIMARY KEY, project TEXT NOT NULL, document TEXT NOT NULL, policy TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects (
  bucket TEXT NOT NULL, name TEXT NOT NULL, generation INTEGER NOT NULL, is_live INTEGER NOT NULL,
  content INTEGER NOT NULL, document TEXT NOT NULL, PRIMARY KEY (bucket, name, generation)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS contents (
  id INTEGER PRIMARY KEY, uses INTEGER NOT NULL, size INTEGER NOT NULL, crc32c TEXT NOT NULL,
  md5 TEXT, file TEXT, inline BLOB
);
CREATE TABLE IF NOT EXISTS sessions (
  id TEXT PRIMARY KEY, bucket TEXT NOT NULL, name TEXT NOT NULL, wish TEXT NOT NULL,
  received INTEGER NOT NULL, file TEXT, state TEXT NOT NULL, generation INTEGER,
  created REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS multiparts (
  id TEXT PRIMARY KEY, bucket TEXT NOT NULL, name TEXT NOT NULL, wish TEXT NOT NULL,
  created REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS parts (
  upload TEXT NOT NULL, number INTEGER NOT NULL, content INTEGER NOT NULL, etag TEXT NOT NULL,
  created REAL NOT NULL, PRIMARY KEY (upload, number)
) WITHOUT ROWID;
INSERT OR IGNORE INTO counters VALUES ('generation', 0);
"""


class Reads(Protocol):
    """What looks into the tables: the database, or a transaction that sees its own writes."""

    def one(self, sql: str, *values: Any) -> Row | None:
        """The first row."""

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Every row."""


class Transaction:
    """Writes that happen together or not at all."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.afterwards: list[Callable[[], None]] = []
        """What is done once the writes are on the disk."""

    def one(self, sql: str, *values: Any) -> Row | None:
        """See Reads."""
        row: Row | None = self._connection.execute(sql, values).fetchone()
        return row

    def all(self, sql: str, *values: Any) -> list[Row]:
        """See Reads."""
        return self._connection.execute(sql, values).fetchall()

    def run(self, sql: str, *values: Any) -> int:
        """Change something; the id of the row that was inserted last."""
        return self._connection.execute(sql, values).lastrowid or 0


class _Entry(Generic[T]):
    """One caller's work, waiting for its turn."""

    def __init__(self, work: Callable[[Transaction], T]) -> None:
        self.work = work
        self.is_done = False
        self.result: T
        self.error: BaseException | None = None

    def carry_out(self, connection: sqlite3.Connection) -> list[Callable[[], None]]:
        """Do the work inside the open transaction; take back all of it when it fails."""
        transaction = Transaction(connection)
        connection.execute("SAVEPOINT work")
        try:
            self.result = self.work(transaction)
        except BaseException as exc:  # noqa: BLE001 - it is raised where it belongs, by its caller
            self.error = exc
            connection.execute("ROLLBACK TO work")
            transaction.afterwards.clear()
        connection.execute("RELEASE work")
        return transaction.afterwards


class Database:
    """Reads from any thread; writes one after the other."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = self._connect()
        self._writer.execute("PRAGMA journal_mode = WAL")
        self._writer.execute("PRAGMA synchronous = FULL")
        self._writer.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        self._writer.executescript(SCHEMA)
        self._writing = threading.Lock()
        self._waiting: deque[_Entry[Any]] = deque()
        self._readers: list[sqlite3.Connection] = []

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, timeout=60.0
        )

    def one(self, sql: str, *values: Any) -> Row | None:
        """See Reads."""
        rows = self._read(sql, values, most=1)
        return rows[0] if rows else None

    def all(self, sql: str, *values: Any) -> list[Row]:
        """See Reads."""
        return self._read(sql, values, most=-1)

    def _read(self, sql: str, values: Sequence[Any], *, most: int) -> list[Row]:
        try:
            reader = self._readers.pop()
        except IndexError:
            reader = self._connect()
            reader.execute("PRAGMA query_only = ON")
        try:
            cursor = reader.execute(sql, values)
            rows = cursor.fetchmany(most) if most > 0 else cursor.fetchall()
            # An unfinished statement would keep its reader in the past.
            cursor.close()
        except BaseException:
            reader.close()
            raise
        if len(self._readers) < SPARE_READERS:
            self._readers.append(reader)
        else:
            reader.close()
        return rows

    def write(self, work: Callable[[Transaction], T]) -> T:
        """What `work` returns, once all that it wrote is on the disk.

        Whoever holds the lock carries out everything that waits, in one commit: the disk is asked
        once for many callers. `work` may run on another caller's thread and must only use its
        transaction.
        """
        entry = _Entry(work)
        self._waiting.append(entry)
        with self._writing:
            if not entry.is_done:
                self._carry_out()
        if entry.error is not None:
            raise entry.error
        return entry.result

    def _carry_out(self) -> None:
        entries: list[_Entry[Any]] = []
        while self._waiting:
            entries.append(self._waiting.popleft())
        afterwards: list[Callable[[], None]] = []
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            for entry in entries:
                afterwards += entry.carry_out(self._writer)
            self._writer.execute("COMMIT")
        except sqlite3.Error as exc:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            for entry in entries:
                entry.error = entry.error or exc
            afterwards = []
        finally:
            for entry in entries:
                entry.is_done = True
        for then in afterwards:
            then()

    def close(self) -> None:
        """Let go of the file."""
        with self._writing:
            while self._readers:
                self._readers.pop().close()
            self._writer.close()
