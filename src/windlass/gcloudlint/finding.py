"""What a rule is and what it finds.

Must not know any rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is, worst first."""

    ERROR = "error"
    """It fails."""
    WRONG = "wrong"
    """It runs, and does not do what is meant."""
    STALE = "stale"
    """It works; there is a newer form."""
    HINT = "hint"
    """It works; think about whether it is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that is looked for."""

    id: str
    severity: Severity
    summary: str
    """One line for the table of the docs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change of one word of a command."""

    at: int
    """The word's index; END for something new."""
    text: str | None
    """None takes the word away."""


END = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A rule's word about one command, before it is known where the command stands."""

    rule: Rule
    message: str
    at: int = 0
    """The index of the word that is to blame; 0 when none is."""
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something stale or wrong, and where."""

    path: str
    line: int
    rule: str
    severity: Severity
    message: str
    command: str = ""
    """As it is written, on one line; empty for something outside of a command."""
    fixed: str = ""
    """The command with every edit of every finding about it; empty when nobody can tell."""
