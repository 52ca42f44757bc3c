"""The seam between the store's logic and a database: SQL in, rows out, three kinds of transaction.

Must not know what is stored. An adapter translates its driver's exceptions, and only there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


class Database(Protocol):
    """One connection. Statements mark their values with `?`, whatever the driver wants.

    Raises StoreBusy when trying again may help, StoreUnreachable when a person must act, and
    InternalError for a statement that can never work.
    """

    dialect: str
    """Names the migration files that are meant for it."""
    place: str
    """Where it is, for people; never with a password."""

    def query(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run one statement; its rows, or none. On its own outside of a transaction."""

    def repeat(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement once for each row of values."""

    def reading(self) -> AbstractContextManager[None]:
        """All queries inside see the same moment."""

    def writing(self) -> AbstractContextManager[None]:
        """Inside, nobody else writes and every query sees the newest rows. All of it is kept, and
        durable, or (after any exception) none of it."""

    def migrating(self) -> AbstractContextManager[None]:
        """Like `writing`, but works on an empty database too."""

    def schema_version(self) -> int:
        """The newest migration that was applied; 0 for an empty database."""

    def data_version(self) -> int:
        """A number that changes when another connection has written."""

    def close(self) -> None:
        """Let go of the connection."""
