"""What the twin has promised, on disk: every record and every appointment.

Must not understand what it keeps: rows are a shelf's name, a key and JSON.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

SCHEMA = """
create table if not exists record (
  shelf text not null, key text not null, value text not null, primary key (shelf, key)
) without rowid;
create table if not exists appointment (
  id integer primary key, at real not null, kind text not null, key text not null
);
create table if not exists setting (name text primary key, value text not null) without rowid;
"""


class Put(NamedTuple):
    """A record as it is now; no value when it is gone."""

    shelf: str
    key: str
    value: str | None


class Appointment(NamedTuple):
    """Something that will happen: `kind` says what, `key` to whom."""

    at: float
    id: int
    kind: str
    key: str


class Journal(Protocol):
    """Where changes go before they are acknowledged."""

    def records(self) -> Iterator[tuple[str, str, str]]:
        """Everything that was kept: shelf, key and value."""

    def appointments(self) -> Iterator[Appointment]:
        """Everything that has yet to happen."""

    def setting(self, name: str) -> str | None:
        """A single value, such as the time at which the twin went down."""

    def write(
        self,
        puts: Iterable[Put],
        *,
        made: Iterable[Appointment] = (),
        kept: Iterable[int] = (),
        settings: Iterable[tuple[str, str]] = (),
    ) -> None:
        """All of it or nothing. `kept` are the ids of appointments that are over."""


class NoJournal:
    """For simulations, which end with their process."""

    def records(self) -> Iterator[tuple[str, str, str]]:
        """See Journal."""
        return iter(())

    def appointments(self) -> Iterator[Appointment]:
        """See Journal."""
        return iter(())

    def setting(self, name: str) -> str | None:
        """See Journal."""
        return None

    def write(
        self,
        puts: Iterable[Put],
        *,
        made: Iterable[Appointment] = (),
        kept: Iterable[int] = (),
        settings: Iterable[tuple[str, str]] = (),
    ) -> None:
        """See Journal."""


class SqliteJournal:
    """One file. A write is on disk when it returns."""

    def __init__(self, path: Path) -> None:
        # Secrets are in it: nobody else may read it, nor what SQLite puts beside it.
        path.touch(mode=0o600)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = full")
        self._db.executescript(SCHEMA)

    def records(self) -> Iterator[tuple[str, str, str]]:
        """See Journal."""
        yield from self._db.execute("select shelf, key, value from record order by shelf, key")

    def appointments(self) -> Iterator[Appointment]:
        """See Journal."""
        for row in self._db.execute("select at, id, kind, key from appointment order by at, id"):
            yield Appointment(*row)

    def setting(self, name: str) -> str | None:
        """See Journal."""
        row = self._db.execute("select value from setting where name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def write(
        self,
        puts: Iterable[Put],
        *,
        made: Iterable[Appointment] = (),
        kept: Iterable[int] = (),
        settings: Iterable[tuple[str, str]] = (),
    ) -> None:
        """See Journal."""
        db = self._db
        db.execute("begin immediate")
        try:
            for put in puts:
                if put.value is None:
                    db.execute("delete from record where shelf = ? and key = ?", put[:2])
                else:
                    db.execute("insert or replace into record values (?, ?, ?)", put)
            db.executemany(
                "insert or replace into appointment (at, id, kind, key) values (?, ?, ?, ?)", made
            )
            db.executemany("delete from appointment where id = ?", ((one,) for one in kept))
            db.executemany("insert or replace into setting values (?, ?)", settings)
            db.execute("commit")
        except BaseException:
            # SQLite may have taken it all back itself, on a full disk for one.
            if db.in_transaction:
                db.execute("rollback")
            raise

    def close(self) -> None:
        """Let the file go."""
        self._db.close()
