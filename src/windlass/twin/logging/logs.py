"""Log entries: the last so many of the project, written in batches.

Must not know who writes: services and callers of the API do, in the same way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from windlass.twin.logging.comparisons import moment

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

MOST = 20_000
"""Entries that are kept; older ones are given up."""
Entry = dict[str, Any]


class Logs:
    """All entries, in the order in which they were written. A batch is one record of the journal,
    because a chatty machine writes thousands of lines."""

    def __init__(self, cloud: Cloud, *, most: int = MOST) -> None:
        self._cloud = cloud
        self._most = most
        self._batches = cloud.documents("logging.batches")
        self._order = deque(key for key, _ in self._batches.items())
        self._count = 0
        self._seen: set[tuple[str, str, str]] = set()
        for _, batch in self._batches.items():
            self._count += len(batch["entries"])
            self._seen.update(_identity(entry) for entry in batch["entries"])

    def log_name(self, log: str) -> str:
        """The full name of a log: its id may hold slashes, which are escaped."""
        return f"projects/{self._cloud.settings.project}/logs/{log.replace('/', '%2F')}"

    def write(self, entry: Entry) -> None:
        """Add one entry; what it lacks is filled in."""
        self.write_all([entry])

    def write_all(self, entries: Iterable[Entry]) -> None:
        """Add several at once. One that was written before, by its time and id, is not added."""
        last = int(self._order[-1]) if self._order else 0
        key = f"{last + 1:015d}"
        fresh = []
        for number, entry in enumerate(entries):
            # Readers take entries of one moment in the order of their ids, and go on after the
            # last they have seen.
            whole = self._completed(entry, f"{last + 1:012x}{number:06x}")
            identity = _identity(whole)
            if identity not in self._seen:
                self._seen.add(identity)
                fresh.append(whole)
        if not fresh:
            return
        self._batches.put(key, {"entries": fresh})
        self._order.append(key)
        self._count += len(fresh)
        while self._count > self._most and len(self._order) > 1:
            self._give_up(self._order.popleft())

    def entries(self) -> Iterator[Entry]:
        """All of them, in the order in which they came."""
        for key in self._order:
            batch = self._batches.get(key)
            assert batch is not None, f"batch {key} of log entries is missing"
            yield from batch["entries"]

    def delete(self, log_name: str) -> bool:
        """Forget a log's entries; whether there were any."""
        found = False
        for key in list(self._order):
            batch = self._batches.get(key)
            assert batch is not None, f"batch {key} of log entries is missing"
            kept = [entry for entry in batch["entries"] if entry["logName"] != log_name]
            if len(kept) == len(batch["entries"]):
                continue
            found = True
            self._count -= len(batch["entries"]) - len(kept)
            self._forget(entry for entry in batch["entries"] if entry["logName"] == log_name)
            self._batches.put(key, {"entries": kept})
        return found

    def _completed(self, entry: Entry, insert_id: str) -> Entry:
        now = self._cloud.stamp()
        return {"timestamp": now, "receiveTimestamp": now, "insertId": insert_id, **entry}

    def _give_up(self, key: str) -> None:
        batch = self._batches.drop(key)
        assert batch is not None, f"batch {key} of log entries is missing"
        self._count -= len(batch["entries"])
        self._forget(batch["entries"])

    def _forget(self, entries: Iterable[Entry]) -> None:
        self._seen.difference_update(_identity(entry) for entry in entries)


def in_order(entries: Sequence[Entry], *, is_newest_first: bool = False) -> list[Entry]:
    """By time, and those of one moment by their ids, which grow."""
    return sorted(
        entries,
        key=lambda one: (moment(one["timestamp"]), one["insertId"]),
        reverse=is_newest_first,
    )


def _identity(entry: Entry) -> tuple[str, str, str]:
    return entry["logName"], entry["timestamp"], entry["insertId"]
