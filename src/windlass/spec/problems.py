"""The problems found in one file so far, each with its place and its source line.

Must not decide what is a problem.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from windlass.errors import Problem, SpecInvalid

# A file with more is not a spec; listing thousands would bury the first.
PROBLEMS_MAX = 100
SOURCE_MAX = 200

# What YAML takes for a line break; the marks of its parser count these.
_BREAK = "\r\n|[\n\r\x85\u2028\u2029]"


class Place(Protocol):
    """Anything that knows where in the file it stands, counted from one."""

    @property
    def line(self) -> int:
        """Its line."""

    @property
    def column(self) -> int:
        """Its column in that line, in characters."""


class At(NamedTuple):
    """A place where there is no node."""

    line: int = 1
    column: int = 1


class Problems:
    """Collects the problems of one file; `text` is set once it could be decoded."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.text = ""
        self._found: list[Problem] = []
        self._lines: list[str] | None = None

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def is_full(self) -> bool:
        """Whether looking for more is pointless: they would not be kept."""
        return len(self._found) > PROBLEMS_MAX

    def add(self, code: str, place: Place, *, message: str, remedy: str) -> None:
        """Remember a problem at this place."""
        if self.is_full:
            return
        if len(self._found) == PROBLEMS_MAX:
            code, message = "too-many-problems", f"more than {PROBLEMS_MAX} problems"
            remedy = "Mend those listed and look again."
        self._found.append(
            Problem(
                code=code,
                path=self.path,
                line=place.line,
                column=place.column,
                message=message,
                remedy=remedy,
                source=self.line(place.line),
            )
        )

    def line(self, number: int) -> str:
        """That line of the file, counted from one, made printable and cut to a bearable length."""
        if self._lines is None:
            self._lines = re.split(_BREAK, self.text)
        if not 1 <= number <= len(self._lines):
            return ""
        return printable(self._lines[number - 1])

    def at(self, index: int) -> At:
        """The place of that character of the text."""
        breaks = [match.end() for match in re.finditer(_BREAK, self.text[:index])]
        return At(len(breaks) + 1, index - (breaks[-1] if breaks else 0) + 1)

    def error(self) -> SpecInvalid:
        """Every problem as one error, in the order of the file."""
        in_order = sorted(self._found, key=lambda problem: (problem.line, problem.column))
        return SpecInvalid(self.path, in_order)


def printable(line: str) -> str:
    """The line without anything a terminal would act upon."""
    short = line if len(line) <= SOURCE_MAX else line[: SOURCE_MAX - 3] + "..."
    return "".join(c if c.isprintable() or c == "\t" else repr(c)[1:-1] for c in short)
