"""A shelf: the records of one kind, by key, in memory; what changed is known until it is written.

Must not write by itself: the cloud takes all shelves' changes at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from windlass.twin.journal import Put

T = TypeVar("T")


class Shelf(Generic[T]):
    """Records of one kind. Keys are paths such as `project/zone/name`, so that those of one place
    stand together."""

    def __init__(
        self, name: str, *, encode: Callable[[T], Any], decode: Callable[[Any], T]
    ) -> None:
        self.name = name
        self._encode = encode
        self._decode = decode
        self._records: dict[str, T] = {}
        self._changed: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def get(self, key: str) -> T | None:
        """The record, or None."""
        return self._records.get(key)

    def put(self, key: str, record: T) -> None:
        """Keep it, or say that it was changed in place."""
        self._records[key] = record
        self._changed[key] = None

    def drop(self, key: str) -> T | None:
        """It is gone."""
        record = self._records.pop(key, None)
        if record is not None:
            self._changed[key] = None
        return record

    def items(self) -> Iterator[tuple[str, T]]:
        """All of them, in the order of their keys: lists are paged by it."""
        for key in sorted(self._records):
            yield key, self._records[key]

    def under(self, prefix: str) -> Iterator[tuple[str, T]]:
        """Those whose key starts with the prefix, in order."""
        found = [key for key in self._records if key.startswith(prefix)]
        for key in sorted(found):
            yield key, self._records[key]

    def load(self, key: str, text: str) -> None:
        """As it was written before."""
        self._records[key] = self._decode(json.loads(text))

    def take_changes(self) -> list[Put]:
        """What has to be written since last asked."""
        puts = [Put(self.name, key, self._text(key)) for key in self._changed]
        self._changed.clear()
        return puts

    def forget_changes(self) -> None:
        """Nothing is to be written: nobody keeps it."""
        self._changed.clear()

    def _text(self, key: str) -> str | None:
        record = self._records.get(key)
        if record is None:
            return None
        return json.dumps(self._encode(record), ensure_ascii=False, separators=(",", ":"))


def documents(name: str) -> Shelf[dict[str, Any]]:
    """A shelf of JSON objects as they are."""
    return Shelf(name, encode=_same, decode=_same)


def _same(value: Any) -> Any:
    return value
