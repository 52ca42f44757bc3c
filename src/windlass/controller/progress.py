"""What ranks say of their progress: records, and readers that fetch them from a run's folder.

Must not add anything up (report.py does).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from windlass.agent import layout
from windlass.agent.folder import Folder
from windlass.controller.chunks import Chunks, Lines
from windlass.controller.glance import Looks
from windlass.controller.logs import winning_claim

_PROGRESS = re.compile(r"nodes/(\d+)/rank-(\d+)/progress-(\d+)\.jsonl$")
_FIRST_RANK = re.compile(r"nodes/0/rank-0/progress$")
_CHECKPOINT = re.compile(r"checkpoints/(\d+)/manifest\.json$")
_NEWEST_LINES = 1000
_NEWEST_CHUNKS = 20
_OWN_KEYS = frozenset({"step", "time", "attempt", "event"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One line of progress: a step that was done, or a checkpoint saved or restored."""

    attempt: int
    step: int
    """How many steps are done."""
    time: float | None = None
    event: str = ""
    """Empty for a step; `saved`, `restored` or `damaged` for a checkpoint."""
    metrics: Mapping[str, float | str] = field(default_factory=dict)


def parse_record(raw: bytes, attempt: int) -> Record | None:
    """A record, or None when the line is not one (torn, or written by something else)."""
    try:
        value = json.loads(raw)
        step = int(value["step"])
    except (ValueError, KeyError, TypeError):
        return None
    metrics = {
        key: metric
        for key, metric in value.items()
        if key not in _OWN_KEYS and isinstance(metric, int | float | str)
    }
    time = value.get("time")
    return Record(
        attempt=attempt,
        step=step,
        time=float(time) if isinstance(time, int | float) else None,
        event=str(value.get("event", "")),
        metrics=metrics,
    )


class ProgressFollower:
    """Follows the progress of a run over its attempts: of the lowest rank that reports any.

    Another may be the first to report; when a lower one follows, its records come from the start,
    since only the lowest tells of checkpoints.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._attempt = 0
        self._stem: str | None = None
        self._lines: Lines | None = None

    def fresh(self, newest: int) -> list[Record]:
        """Records since the last call."""
        records: list[Record] = []
        while True:
            records += self._fresh_of_attempt()
            if self._lines is not None and self._lines.has_more:
                continue
            if self._attempt >= newest:
                return records
            self._attempt += 1
            self._stem, self._lines = None, None

    def _fresh_of_attempt(self) -> list[Record]:
        if self._attempt and not (self._stem and _FIRST_RANK.search(self._stem)):
            stem = _leading_stem(self._folder, self._attempt)
            if stem != self._stem and stem is not None:
                self._stem, self._lines = stem, Lines(Chunks(self._folder, stem, "jsonl"))
        if self._lines is None:
            return []
        listed = None
        if isinstance(self._folder, Looks) and self._stem is not None:
            place = self._stem.rpartition("/")[0]
            listed = self._folder.look(place, glob="progress-*.jsonl")
        lines = self._lines.fresh(listed=listed)
        parsed = [parse_record(raw, self._attempt) for raw in lines]
        return [record for record in parsed if record is not None]


def read_records(folder: Folder, newest: int) -> list[Record]:
    """Every record of a run."""
    return ProgressFollower(folder).fresh(newest)


def read_last_record(folder: Folder, newest: int) -> Record | None:
    """The last step that was reported; reads one chunk, or two when one has just begun."""
    for number in range(newest, 0, -1):
        claim = winning_claim(folder, number)
        names = _progress_names(folder, number, claim) if claim else []
        for _, name in reversed(names):
            for raw in reversed((folder.read(name) or b"").split(b"\n")):
                record = parse_record(raw, number)
                if record is not None and not record.event:
                    return record
    return None


def read_newest_records(folder: Folder, attempt: int) -> list[Record]:
    """The last records of one attempt: enough to know its pace, however long it was."""
    claim = winning_claim(folder, attempt)
    names = _progress_names(folder, attempt, claim) if claim else []
    lines: list[bytes] = []
    for _, name in reversed(names[-_NEWEST_CHUNKS:]):
        lines = (folder.read(name) or b"").split(b"\n") + lines
        if len(lines) >= _NEWEST_LINES:
            break
    parsed = [parse_record(line, attempt) for line in lines[-_NEWEST_LINES:]]
    return [record for record in parsed if record is not None]


def _progress_names(folder: Folder, attempt: int, claim: str) -> list[tuple[int, str]]:
    """The chunks of the first rank that reports, with their numbers, in order.

    Nearly always that is the first rank of all: the whole claim is only listed when it is not.
    """
    first = layout.rank(attempt, claim, 0, 0)
    for place in (first, layout.claim(attempt, claim)):
        chunks: dict[tuple[int, int], list[tuple[int, str]]] = {}
        for name in folder.list(place):
            match = _PROGRESS.search(name)
            if match is not None:
                who = (int(match[1]), int(match[2]))
                chunks.setdefault(who, []).append((int(match[3]), name))
        if chunks:
            return sorted(chunks[min(chunks)])
    return []


def _leading_stem(folder: Folder, attempt: int) -> str | None:
    claim = winning_claim(folder, attempt)
    names = _progress_names(folder, attempt, claim) if claim else []
    return names[0][1].rpartition("-")[0] if names else None


def checkpoint_steps(folder: Folder) -> list[int]:
    """The steps of the committed checkpoints in the run's own folder, ascending."""
    matches = (_CHECKPOINT.match(name) for name in folder.list("checkpoints"))
    return sorted(int(match[1]) for match in matches if match is not None)
