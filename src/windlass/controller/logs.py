"""Reading what ranks printed: chunk by chunk out of a run's folder, merged by time.

Must not write anything nor know who reads: `logs`, `run` and `explain` all do.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from windlass.agent import layout
from windlass.agent.folder import Folder
from windlass.controller.chunks import Chunks, Lines
from windlass.controller.glance import Looks

_STAMP_LENGTH = len("2026-11-15T06:31:22.123Z")
_LOGS = "nodes/*/*/log-*.txt"
_LOG = re.compile(r"nodes/(\d+)/(?:rank-(\d+)|(setup))/log-00001\.txt$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line that a rank, or `setup`, printed."""

    time: str
    """ISO 8601, as the agent stamped it; empty when the line carries no stamp."""
    attempt: int
    node: int
    rank: int | None
    """None: printed by `setup`."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which lines somebody wants to see. None means all of them."""

    node: int | None = None
    rank: int | None = None
    attempt: int | None = None
    first: int = 1
    """The first attempt to show, when none is named."""
    has_ranks: bool = True
    has_setup: bool = False

    def wants(self, source: Source) -> bool:
        """Whether lines of this source are to be shown."""
        if self.node is not None and source.node != self.node:
            return False
        if source.rank is None:
            return self.has_setup
        return self.has_ranks and self.rank in (None, source.rank)

    def attempts(self, newest: int) -> Sequence[int]:
        """The attempts to read, when `newest` is the number of the newest."""
        if self.attempt is None:
            return range(self.first, newest + 1)
        return (self.attempt,) if self.attempt <= newest else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a stream of lines comes from."""

    attempt: int
    node: int
    rank: int | None
    stem: str
    """Name of its chunks in the run's folder, without number and suffix."""


class Follower:
    """Follows what the ranks of a run print, over all its attempts."""

    def __init__(self, folder: Folder, choice: Choice) -> None:
        self._folder = folder
        self._choice = choice
        self._attempts: dict[int, _AttemptLogs] = {}
        self._closed = 0
        self.has_more = False
        """Whether the last call left lines for the next one: come back at once."""

    def fresh(self, newest: int, *, is_last: bool = False) -> list[LogLine]:
        """Lines since the last call, attempt by attempt, each merged by time.

        `is_last`: the run has ended, so that no unfinished line will be finished.
        """
        lines: list[LogLine] = []
        for number in self._choice.attempts(newest):
            if number <= self._closed:
                continue
            logs = self._attempts.get(number)
            if logs is None:
                logs = self._attempts[number] = _AttemptLogs(self._folder, number, self._choice)
            is_over = is_last or number < newest
            lines += logs.fresh(is_last=is_over)
            self.has_more = logs.has_more
            if self.has_more:
                break
            if is_over:
                self._closed = number
                del self._attempts[number]
        return lines


class _AttemptLogs:
    """The streams of one attempt, found as they appear."""

    def __init__(self, folder: Folder, number: int, choice: Choice) -> None:
        self._folder = folder
        self._number = number
        self._choice = choice
        self._readers: dict[Source, Lines] = {}
        self._claim: str | None = None

    @property
    def has_more(self) -> bool:
        return any(reader.has_more for reader in self._readers.values())

    def fresh(self, *, is_last: bool) -> list[LogLine]:
        if self._claim is None:  # Once there is one it stays.
            self._claim = winning_claim(self._folder, self._number)
        if self._claim is None:
            return []
        place = layout.claim(self._number, self._claim)
        listed = self._folder.look(place, glob=_LOGS) if isinstance(self._folder, Looks) else None
        names = self._folder.list(place) if listed is None else sorted(listed)
        for source in _sources(names, self._number):
            if source not in self._readers and self._choice.wants(source):
                chunks = Chunks(self._folder, source.stem, "txt")
                self._readers[source] = Lines(chunks)
        return _merged(
            _parsed(reader.fresh(is_last=is_last, listed=listed), source)
            for source, reader in self._readers.items()
        )


def winning_claim(folder: Folder, attempt: int) -> str | None:
    """The claim whose ranks may run in this attempt, once there is one."""
    winner = read_json(folder, layout.winner(attempt))
    return winner.get("claim") if winner else None


def gang_size(folder: Folder, attempt: int) -> int:
    """How many nodes the winning claim of an attempt has; 0 before there is one."""
    winner = read_json(folder, layout.winner(attempt))
    return len(winner.get("addresses", ())) if winner else 0


def sources(folder: Folder, attempt: int) -> list[Source]:
    """Every stream of lines of an attempt, in order of node and rank, `setup` first."""
    claim = winning_claim(folder, attempt)
    return _sources(folder.list(layout.claim(attempt, claim)), attempt) if claim else []


def _sources(names: Iterable[str], attempt: int) -> list[Source]:
    found = []
    for name in names:
        match = _LOG.search(name)
        if match is not None:
            rank = None if match[3] else int(match[2])
            stem = name.removesuffix("-00001.txt")
            found.append(Source(attempt=attempt, node=int(match[1]), rank=rank, stem=stem))
    found.sort(key=lambda source: (source.node, -1 if source.rank is None else source.rank))
    return found


def read_lines(folder: Folder, newest: int, choice: Choice) -> Iterator[LogLine]:
    """Every line there is, attempt by attempt, each merged by time. Reads a chunk at a time."""
    for number in choice.attempts(newest):
        streams = [
            _stream(folder, source) for source in sources(folder, number) if choice.wants(source)
        ]
        yield from heapq.merge(*streams, key=_by_time)


def tail_lines(folder: Folder, newest: int, choice: Choice, *, count: int) -> list[LogLine]:
    """The last `count` lines; reads no more chunks than it takes."""
    found: list[LogLine] = []
    for number in reversed(choice.attempts(newest)):
        streams = [
            _stream_tail(folder, source, count)
            for source in sources(folder, number)
            if choice.wants(source)
        ]
        found = _merged(streams) + found
        if len(found) >= count:
            break
    return found[len(found) - count :] if len(found) > count else found


def parse_line(raw: bytes, source: Source) -> LogLine:
    """A line as the agent wrote it: a stamp, a space, and what was printed."""
    text = raw.decode("utf-8", "replace")
    time = ""
    stamped = text[:_STAMP_LENGTH]
    if stamped.endswith("Z") and stamped[10:11] == "T" and text[_STAMP_LENGTH:][:1] in (" ", ""):
        time, text = stamped, text[_STAMP_LENGTH + 1 :]
    return LogLine(time=time, attempt=source.attempt, node=source.node, rank=source.rank, text=text)


def read_json(folder: Folder, name: str) -> dict[str, Any] | None:
    """An object of the run's folder, or None when there is none or it makes no sense."""
    data = folder.read(name)
    if data is None:
        return None
    try:
        value = json.loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _merged(streams: Iterable[Iterable[LogLine]]) -> list[LogLine]:
    """Merged and not sorted: a line without a stamp stays behind the one it followed."""
    return list(heapq.merge(*streams, key=_by_time))


def _by_time(line: LogLine) -> str:
    return line.time


def _chunk_numbers(folder: Folder, source: Source) -> list[int]:
    prefix = source.stem.rpartition("/")[0]
    stem = source.stem + "-"
    return [
        int(name[len(stem) : -len(".txt")])
        for name in folder.list(prefix)
        if name.startswith(stem) and name.endswith(".txt")
    ]


def _stream(folder: Folder, source: Source) -> Iterator[LogLine]:
    rest = b""
    for index in _chunk_numbers(folder, source):
        data = rest + (folder.read(layout.chunk(source.stem, index, "txt")) or b"")
        *lines, rest = data.split(b"\n")
        yield from _parsed(lines, source)
    if rest:
        yield parse_line(rest, source)


def _stream_tail(folder: Folder, source: Source, count: int) -> list[LogLine]:
    data = b""
    for index in reversed(_chunk_numbers(folder, source)):
        data = (folder.read(layout.chunk(source.stem, index, "txt")) or b"") + data
        if data.count(b"\n") > count:
            break
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    return list(_parsed(lines[-count:] if count else [], source))


def _parsed(lines: Iterable[bytes], source: Source) -> Iterator[LogLine]:
    return (parse_line(line, source) for line in lines)
