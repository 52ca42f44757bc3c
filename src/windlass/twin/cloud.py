"""The twin's state as a whole: shelves of records, the agenda, the clock, chance, and one lock.

Must not know any Google service: they put their records and appointments here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from windlass.ports.clock import Clock
from windlass.twin.agenda import Agenda
from windlass.twin.journal import Journal, NoJournal
from windlass.twin.settings import Settings
from windlass.twin.shelf import Shelf, documents

T = TypeVar("T")

# Numbers of 19 digits that look unrelated: the stride has no divisor in common with the span.
FIRST_ID = 10**18
SPAN = 8 * 10**18
STRIDE = 2_971_215_073_000_000_007

Reaction = Callable[[str], None]
"""What an appointment does, given its key."""


class Chance(Protocol):
    """Numbers that nobody foresees, unless they know the seed."""

    def random(self) -> float:
        """Between 0 and 1."""

    def expovariate(self, lambd: float) -> float:
        """How long until something that happens `lambd` times a second."""


class Waiting(Protocol):
    """How a call that must wait does so."""

    def until(self, moment: float) -> None:
        """Let time pass until then on the twin's clock, or until something may have changed."""


class NoWaiting:
    """Calls do not wait: what they ask for is answered as it is now."""

    def until(self, moment: float) -> None:
        """See Waiting."""


class Cloud:
    """Everything that a service needs to keep its promises."""

    def __init__(
        self,
        *,
        clock: Clock,
        chance: Chance,
        journal: Journal | None = None,
        settings: Settings | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        self.clock = clock
        self.chance = chance
        self.settings = settings or Settings()
        self.waiting = waiting or NoWaiting()
        self.lock = threading.RLock()
        self._is_kept = journal is not None
        self._journal = journal or NoJournal()
        self._kept: dict[str, dict[str, str]] = {}
        for shelf, key, value in self._journal.records():
            self._kept.setdefault(shelf, {})[key] = value
        self._agenda = Agenda(self._journal.appointments(), is_kept=self._is_kept)
        self._shelves: dict[str, Shelf[Any]] = {}
        self._reactions: dict[str, Reaction] = {}
        self._stamped = (-1.0, "")
        self._last_id = int(self._journal.setting("last_id") or 0)

    def documents(self, name: str) -> Shelf[dict[str, Any]]:
        """A shelf of JSON objects, with what it held before."""
        return self.shelf(documents(name))

    def shelf(self, shelf: Shelf[T]) -> Shelf[T]:
        """Take a shelf in, and put back on it what it held before."""
        if shelf.name in self._shelves:
            raise ValueError(f"there are two shelves named {shelf.name}")
        self._shelves[shelf.name] = shelf
        shelf.is_kept = self._is_kept
        for key, value in self._kept.pop(shelf.name, {}).items():
            shelf.load(key, value)
        return shelf

    def on(self, kind: str, reaction: Reaction) -> None:
        """What appointments of a kind do. The reaction checks that its record still waits for
        it: nothing is ever taken off the agenda."""
        self._reactions[kind] = reaction

    def later(self, seconds: float, kind: str, key: str) -> None:
        """Make an appointment."""
        self._agenda.add(self.clock.now() + seconds, kind, key)

    def at(self, moment: float, kind: str, key: str) -> None:
        """Make an appointment for a moment of the twin's clock."""
        self._agenda.add(moment, kind, key)

    def next_at(self) -> float | None:
        """When something is due."""
        return self._agenda.next_at()

    def advance(self) -> int:
        """Do what is due; how many things that was."""
        done = 0
        now = self.clock.now()
        while (appointment := self._agenda.pop_due(now)) is not None:
            self._reactions[appointment.kind](appointment.key)
            done += 1
        return done

    def commit(self) -> None:
        """Write every change since last time; it is on disk when this returns."""
        if not self._is_kept:
            return
        puts = [put for shelf in self._shelves.values() for put in shelf.changes()]
        made, over = self._agenda.changes()
        if puts or made or over:
            settings = [("last_id", str(self._last_id)), ("time", repr(self.clock.now()))]
            self._journal.write(puts, made=made, kept=over, settings=settings)
        # Only now: what could not be written goes with what comes next.
        for shelf in self._shelves.values():
            shelf.forget_changes()
        self._agenda.forget_changes()

    def new_id(self) -> str:
        """A number of 19 digits, as Google numbers its resources; never the same twice."""
        self._last_id += 1
        return str(FIRST_ID + self._last_id * STRIDE % SPAN)

    def stamp(self, moment: float | None = None) -> str:
        """A moment (now by default) as RFC 3339 in UTC, with milliseconds."""
        when = self.clock.now() if moment is None else moment
        last, text = self._stamped
        if when != last:
            text = datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
            text = text.replace("+00:00", "Z")
            self._stamped = (when, text)
        return text
