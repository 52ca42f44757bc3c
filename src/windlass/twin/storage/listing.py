"""Lists of objects: prefixes, delimiters, offsets, globs, versions and pages.

Must not render: JSON and XML make their own of the same page.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from windlass.twin.storage import faults
from windlass.twin.storage.database import Reads, Row
from windlass.twin.storage.versions import FIELDS, Version

PAGE_MOST = 1000
LAST = chr(0x10FFFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be listed."""

    bucket: str
    prefix: str = ""
    delimiter: str = ""
    start: str = ""
    """Names from here on."""
    end: str = ""
    """Names before this one; empty for no end."""
    glob: str = ""
    has_versions: bool = False
    has_trailing_delimiter: bool = False
    """Names that end in the delimiter are items too."""
    most: int = PAGE_MOST
    token: str = ""


@dataclass(slots=True, kw_only=True)
class Page:
    """What was found; `entries` has both kinds in their order."""

    items: list[Version] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    token: str = ""
    """Empty on the last page."""

    @property
    def count(self) -> int:
        """Items and prefixes both fill a page."""
        return len(self.items) + len(self.prefixes)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a scan goes on: behind a generation of a name, or at a name."""

    name: str
    generation: int = -1


def token_of(name: str, generation: int = -1) -> str:
    """A page token: where the next page begins."""
    return base64.urlsafe_b64encode(json.dumps([name, generation]).encode()).decode()


def list_page(reads: Reads, question: Question) -> Page:
    """One page."""
    scan = _Scan(reads, question)
    place = _place(question)
    while place is not None:
        place = scan.go_on(place)
    return scan.page


class _Scan:
    """Walks the names of a bucket in order; a common prefix is jumped over, not walked through."""

    def __init__(self, reads: Reads, question: Question) -> None:
        self._reads = reads
        self._question = question
        self._matches = _matcher(question.glob)
        self.page = Page()
        ends = [end for end in (question.end, successor(question.prefix)) if end]
        self._end = min(ends) if ends else ""

    def go_on(self, place: _Place) -> _Place | None:
        """Take rows from a place; where to go on, or None when the page or the list has ended."""
        rows = self._rows(place)
        wanted = self._batch()
        for row in rows:
            version = Version(*row)
            common = self._common(version.name)
            is_item = not common or (
                self._question.has_trailing_delimiter and version.name == common
            )
            if not self._matches(common or version.name):
                continue
            if self.page.count >= self._question.most:
                self.page.token = token_of(common or version.name, version.generation - 1)
                return None
            if is_item:
                self.page.items.append(version)
            if common:
                self.page.prefixes.append(common)
                beyond = successor(common)
                return _Place(beyond) if beyond else None
        if len(rows) < wanted:
            return None
        return _Place(rows[-1][1], rows[-1][2])

    def _batch(self) -> int:
        # With a delimiter most rows of a batch may be jumped over.
        return 64 if self._question.delimiter else self._question.most + 1

    def _rows(self, place: _Place) -> list[Row]:
        sql = f"SELECT {FIELDS} FROM objects WHERE bucket = ? AND (name, generation) > (?, ?)"
        values: list[object] = [self._question.bucket, place.name, place.generation]
        if self._end:
            sql += " AND name < ?"
            values.append(self._end)
        if not self._question.has_versions:
            sql += " AND is_live"
        sql += " ORDER BY name, generation LIMIT ?"
        return self._reads.all(sql, *values, self._batch())

    def _common(self, name: str) -> str:
        if not self._question.delimiter:
            return ""
        at = name.find(self._question.delimiter, len(self._question.prefix))
        return "" if at < 0 else name[: at + len(self._question.delimiter)]


def _place(question: Question) -> _Place | None:
    if question.token:
        try:
            name, generation = json.loads(base64.urlsafe_b64decode(question.token))
            return _Place(str(name), int(generation))
        except (ValueError, TypeError) as exc:
            raise faults.invalid("Invalid argument.", location="pageToken") from exc
    return _Place(max(question.prefix, question.start))


def successor(prefix: str) -> str:
    """The least name that is above every name with this prefix; empty when there is none."""
    stem = prefix.rstrip(LAST)
    if not stem:
        return ""
    following = ord(stem[-1]) + 1
    # The surrogates between are no characters.
    return stem[:-1] + chr(0xE000 if following == 0xD800 else following)


def _matcher(glob: str) -> Callable[[str], bool]:
    if not glob:
        return lambda _: True
    try:
        pattern = re.compile(_expression(glob), re.DOTALL)
    except re.error as exc:
        raise faults.invalid("Invalid argument.", location="matchGlob") from exc
    return lambda name: pattern.fullmatch(name) is not None


def _expression(glob: str) -> str:
    """A regular expression for Cloud Storage's globs."""
    parts: list[str] = []
    depth = 0
    tokens = re.findall(r"\*\*|\[[^\]]+\]|\\.|.", glob, re.DOTALL)
    for token in tokens:
        if token == "**":
            parts.append(".*")
        elif token == "*":
            parts.append("[^/]*")
        elif token == "?":
            parts.append("[^/]")
        elif token.startswith("[") and len(token) > 2:
            parts.append(_characters(token[1:-1]))
        elif token == "{":
            depth += 1
            parts.append("(?:")
        elif token == "}" and depth:
            depth -= 1
            parts.append(")")
        elif token == "," and depth:
            parts.append("|")
        else:
            parts.append(re.escape(token[-1] if token.startswith("\\") else token))
    if depth:
        raise faults.invalid("Invalid argument.", location="matchGlob")
    return "".join(parts)


def _characters(inside: str) -> str:
    is_not = inside[0] in "!^"
    escaped = (inside[1:] if is_not else inside).replace("\\", r"\\").replace("[", r"\[")
    return f"[{'^' if is_not else ''}{escaped}]"
