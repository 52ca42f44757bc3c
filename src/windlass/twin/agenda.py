"""What will happen, and when: a heap of appointments.

Must not hold functions: an appointment is a word and a key, so that it outlives the process.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from windlass.twin.journal import Appointment


class Agenda:
    """Appointments in the order of their time; those of one moment in the order they were made."""

    def __init__(self, appointments: Iterable[Appointment] = (), *, is_kept: bool = True) -> None:
        self._heap = list(appointments)
        heapq.heapify(self._heap)
        self._last = max((one.id for one in self._heap), default=0)
        self._is_kept = is_kept
        self._made: list[Appointment] = []
        self._over: list[int] = []

    def add(self, at: float, kind: str, key: str) -> None:
        """Something will happen. Whoever handles it checks that it still should: nothing is
        ever taken off."""
        self._last += 1
        appointment = Appointment(at, self._last, kind, key)
        heapq.heappush(self._heap, appointment)
        if self._is_kept:
            self._made.append(appointment)

    def next_at(self) -> float | None:
        """When there is something to do."""
        return self._heap[0].at if self._heap else None

    def pop_due(self, now: float) -> Appointment | None:
        """The next that is due, once."""
        if not self._heap or self._heap[0].at > now:
            return None
        appointment = heapq.heappop(self._heap)
        if self._is_kept:
            self._over.append(appointment.id)
        return appointment

    def changes(self) -> tuple[list[Appointment], list[int]]:
        """What was made and what is over since it was last written; what was both needs no
        writing."""
        over = set(self._over)
        made = [one for one in self._made if one.id not in over]
        fresh = {one.id for one in self._made}
        gone = [one for one in self._over if one not in fresh]
        return made, gone

    def forget_changes(self) -> None:
        """They are written."""
        self._made.clear()
        self._over.clear()
