"""Looks at a run again and again: what is new in the store and in its folder since last time.

Must not draw, wait or change anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from windlass.controller.logs import Choice, Follower, LogLine, gang_size
from windlass.controller.progress import ProgressFollower, Record
from windlass.state.model import Event, Run
from windlass.state.phases import Outcome, RunPhase, is_ended

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.state.store import Store


BUCKET_PAUSE_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is new since the last look."""

    run: Run
    events: tuple[Event, ...]
    lines: tuple[LogLine, ...]
    records: tuple[Record, ...]
    gang: int
    """Nodes of the newest attempt; 0 before its machines are up."""
    has_more: bool
    """Whether there is more to tell already: look again at once."""

    @property
    def is_any(self) -> bool:
        """Whether anything happened at all."""
        return bool(self.events or self.lines or self.records)

    @property
    def is_last(self) -> bool:
        """Whether the run has ended: nothing will follow."""
        return is_ended(self.run.phase) and not self.has_more


def as_known(store: Store, run: Run) -> Run:
    """A run as it looks to whoever waits for its result. When every rank has ended well, all that
    is left is to see rented machines go: that is the controller's business, and takes minutes."""
    if run.phase is not RunPhase.STOPPING or run.outcome is not Outcome.SUCCEEDED:
        return run
    if not any(claim.offer for claim in store.list_claims(run.id)):
        return run
    ended_at = store.list_attempts(run.id)[-1].ended_at
    return replace(run, phase=RunPhase.SUCCEEDED, ended_at=ended_at)


class Watch:
    """Follows one run. Every event, line and record is told once. A patient one follows it until
    nothing of it is left."""

    def __init__(
        self,
        home: Home,
        run: Run,
        choice: Choice,
        *,
        tail: int | None = None,
        is_patient: bool = False,
    ) -> None:
        self._is_patient = is_patient
        self._store = home.store()
        self._folder = home.folder(run.id)
        self._run = run
        self._logs = Follower(self._folder, choice)
        self._progress = ProgressFollower(self._folder)
        self._version: int | None = None
        self._sequence = 0
        self._gang = (0, 0)
        self._tail = tail
        self._clock = home.world.clock
        self._look_at = float("-inf")

    def look(self) -> News:
        """What is new.

        The store is read before the folder: when it says that the run has ended, everything that
        its ranks printed is there.
        """
        events = self._read_store()
        lines: list[LogLine] = []
        records: list[Record] = []
        if self._is_time():
            lines, records = self._read_folder()
        return News(
            run=self._run,
            events=events,
            lines=tuple(lines),
            records=tuple(records),
            gang=self._gang[1],
            has_more=self._logs.has_more,
        )

    def _is_time(self) -> bool:
        """Whether to look at the folder: a bucket is not asked several times a second."""
        now = self._clock.monotonic()
        if now < self._look_at and not is_ended(self._run.phase) and not self._logs.has_more:
            return False
        self._look_at = now + (0.0 if self._folder.can_append else BUCKET_PAUSE_S)
        return True

    def _read_folder(self) -> tuple[list[LogLine], list[Record]]:
        run = self._run
        lines = self._logs.fresh(run.attempt, is_last=is_ended(run.phase))
        if self._tail is not None:
            lines = lines[max(0, len(lines) - self._tail) :]
            self._tail = None
        self._find_gang_size()
        return lines, self._progress.fresh(run.attempt)

    def skip_events(self) -> None:
        """Take what has happened so far as known."""
        for event in self._store.list_events(self._run.id, after=self._sequence, limit=100_000):
            self._sequence = event.sequence

    def _read_store(self) -> tuple[Event, ...]:
        version = self._store.data_version()
        if version == self._version:
            return ()
        self._version = version
        found = self._store.get_run(self._run.id) or self._run
        self._run = found if self._is_patient else as_known(self._store, found)
        events = tuple(self._store.list_events(self._run.id, after=self._sequence))
        if events:
            self._sequence = events[-1].sequence
        return events

    def _find_gang_size(self) -> None:
        attempt, size = self._gang
        if attempt != self._run.attempt or size == 0:
            attempt = self._run.attempt
            self._gang = (attempt, gang_size(self._folder, attempt) if attempt else 0)
