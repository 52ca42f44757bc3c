"""A shelf: the records of one kind, by key, in memory; what changed is known until it is written.

Must not write by itself: the cloud takes all shelves' changes at once.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from windlass.twin.journal import Put

T = TypeVar("T")
LAST = "\U0010ffff"
"""Sorts behind every letter."""


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
        self._order: list[str] | None = None
        self._changed: dict[str, None] = {}
        self.is_kept = True
        """Somebody writes its changes down: without that it does not remember them."""

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def get(self, key: str) -> T | None:
        """The record, or None."""
        return self._records.get(key)

    def put(self, key: str, record: T) -> None:
        """Keep it, or say that it was changed in place."""
        if key not in self._records:
            self._order = None
        self._records[key] = record
        if self.is_kept:
            self._changed[key] = None

    def drop(self, key: str) -> T | None:
        """It is gone."""
        record = self._records.pop(key, None)
        if record is not None:
            self._order = None
            if self.is_kept:
                self._changed[key] = None
        return record

    def values(self) -> Iterable[T]:
        """All of them, in the order in which they came; cheap, and not to be changed meanwhile."""
        return self._records.values()

    def items(self) -> Iterator[tuple[str, T]]:
        """All of them, in the order of their keys: lists are paged by it."""
        return self.under("")

    def under(self, prefix: str) -> Iterator[tuple[str, T]]:
        """Those whose key starts with the prefix, in order."""
        if self._order is None:
            self._order = sorted(self._records)
        order = self._order
        first = bisect_left(order, prefix)
        for key in order[first : bisect_left(order, prefix + LAST, lo=first)]:
            record = self._records.get(key)
            if record is not None:
                yield key, record

    def load(self, key: str, text: str) -> None:
        """As it was written before."""
        self._order = None
        self._records[key] = self._decode(json.loads(text))

    def changes(self) -> list[Put]:
        """What has to be written since it was last."""
        return [Put(self.name, key, self._text(key)) for key in self._changed]

    def forget_changes(self) -> None:
        """They are written."""
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
