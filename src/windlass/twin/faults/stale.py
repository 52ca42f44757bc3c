"""Lists as they were a while ago, as a service shows them whose index lags behind.

Must not know services: a list is any answer with items that have a name and a time of birth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from windlass.twin.messages import Response, json_response

BORN = ("creationTimestamp", "createTime", "timeCreated", "insertTime")
MOST = 10_000


class Seen(NamedTuple):
    """An item as it was shown once."""

    at: float
    item: dict[str, Any]


class OldLists:
    """Remembers what lists have shown, for as long as that can be shown again."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], list[Seen]] = {}

    def aged(self, place: str, response: Response, *, now: float, behind_s: float) -> Response:
        """The answer of a list as it was so long ago, as far as anybody can know: what was born
        since is not on it, what has gone since still is, and what has changed since is as it was.
        """
        if response.status != 200 or not isinstance(response.content, bytes):
            return response
        document = json.loads(response.content)
        then = now - behind_s
        for where, items in _lists(document):
            shown = {_name(item) for item in items}
            scope = f"{place} {where}"
            old = [
                self._as_of(scope, item, then, behind_s) for item in items if _born(item) <= then
            ]
            gone = self._gone(scope, shown, then)
            for item in items:
                self._remember(scope, item, now)
            items[:] = sorted([*old, *gone], key=_name)
        return json_response(document)

    def _as_of(
        self, scope: str, item: dict[str, Any], then: float, behind_s: float
    ) -> dict[str, Any]:
        seen = self._seen.get((scope, _name(item)), [])
        # What was seen long before that moment says nothing about it.
        fitting = [one.item for one in seen if then - behind_s <= one.at <= then]
        return fitting[-1] if fitting else item

    def _gone(self, scope: str, shown: set[str], then: float) -> list[dict[str, Any]]:
        return [
            seen[-1].item
            for (place, name), seen in sorted(self._seen.items())
            if place == scope and name not in shown and seen[-1].at >= then
            if _born(seen[-1].item) <= then
        ]

    def _remember(self, scope: str, item: dict[str, Any], now: float) -> None:
        if len(self._seen) >= MOST:
            self._seen.clear()
        seen = self._seen.setdefault((scope, _name(item)), [])
        seen.append(Seen(now, item))
        del seen[:-100]


def _lists(document: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The lists of named things in an answer; those of an aggregated list by their place."""
    if not isinstance(document, dict):
        return
    for key, value in document.items():
        if isinstance(value, list) and value and all(_is_named(one) for one in value):
            yield key, value
        elif isinstance(value, list) and not value:
            yield key, value
        elif key == "items" and isinstance(value, dict):
            for place, part in value.items():
                for inner, items in _lists(part):
                    yield f"{place}/{inner}", items


def _is_named(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str)


def _name(item: dict[str, Any]) -> str:
    return str(item["name"])


def _born(item: dict[str, Any]) -> float:
    for field in BORN:
        if field in item:
            return datetime.fromisoformat(str(item[field])).timestamp()
    return 0.0
