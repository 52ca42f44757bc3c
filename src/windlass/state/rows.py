"""How values of the model become rows and come back: one table each, columns named as the fields.

Must not run SQL: it only writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, Generic, TypeVar

from windlass.state.database import Row
from windlass.state.model import Attempt, Charge, Claim, Event, Run
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase, Wanted

Value = TypeVar("Value", bound=Run | Attempt | Claim | Event | Charge)
Decoder = Callable[[Any], Any]


class Table(Generic[Value]):
    """The table of one class. `given` names a column that the database fills itself."""

    def __init__(
        self,
        kind: type[Value],
        name: str,
        *,
        key: tuple[str, ...],
        decoders: Mapping[str, Decoder],
        given: str = "",
    ) -> None:
        self._kind = kind
        columns = [field.name for field in fields(kind)]
        self._written = [column for column in columns if column != given]
        self._decoders = [(columns.index(column), decode) for column, decode in decoders.items()]
        self._columns = columns
        marks = ", ".join("?" * len(self._written))
        others = [column for column in self._written if column not in key]
        self.select = f"SELECT {_quoted(columns)} FROM {name}"
        """Every row, in the order of columns that `value` wants."""
        self.insert = f"INSERT INTO {name} ({_quoted(self._written)}) VALUES ({marks})"
        """Values by `row`."""
        changes = ", ".join(f'"{column}" = excluded."{column}"' for column in others)
        self.upsert = f"{self.insert} ON CONFLICT ({_quoted(key)}) DO UPDATE SET {changes}"
        """Values by `row`; replaces the row of the same key."""

    def columns_of(self, alias: str) -> str:
        """The columns for a SELECT that joins tables, in the order that `value` wants."""
        return ", ".join(f'{alias}."{column}"' for column in self._columns)

    def row(self, value: Value) -> list[object]:
        """The values of `insert` and `upsert`."""
        return [storable(getattr(value, column)) for column in self._written]

    def value(self, row: Row) -> Value:
        """The value that a row stands for."""
        cells = list(row)
        for position, decode in self._decoders:
            cells[position] = decode(cells[position])
        return self._kind(**dict(zip(self._columns, cells, strict=True)))


def storable(value: object) -> object:
    """What both databases take for a value.

    A NUL or half a surrogate pair, as foreign messages may hold, has no place in PostgreSQL's text
    and becomes U+FFFD: a message is worth more than its last odd byte.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        text = value.replace("\0", "\ufffd")
        return text if text.isascii() else _paired(text)
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    return value


def _paired(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
    return text


def _quoted(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _member(kind: type[Enum]) -> Decoder:
    """Finds the member of a value; three times as fast as calling the class, and it is called
    for each row that is read."""
    return {member.value: member for member in kind}.__getitem__


_OUTCOMES: dict[str | None, Outcome | None] = {None: None}
_OUTCOMES.update({outcome.value: outcome for outcome in Outcome})

RUNS = Table(
    Run,
    "runs",
    key=("id",),
    decoders={
        "phase": _member(RunPhase),
        "wanted": _member(Wanted),
        "outcome": _OUTCOMES.__getitem__,
    },
)
ATTEMPTS = Table(
    Attempt,
    "attempts",
    key=("run", "number"),
    decoders={
        "phase": _member(AttemptPhase),
        "outcome": _OUTCOMES.__getitem__,
        "given_up": bool,
    },
)
CLAIMS = Table(
    Claim, "claims", key=("id",), decoders={"phase": _member(ClaimPhase), "is_extra": bool}
)
CHARGES = Table(Charge, "charges", key=("claim",), decoders={"is_extra": bool})
EVENTS = Table(
    Event, "events", key=("sequence",), decoders={"details": json.loads}, given="sequence"
)
