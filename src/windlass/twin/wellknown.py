"""Google's well-known types as its JSON has them: field masks, durations and moments.

Must not know which service asks.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from windlass.twin.refusals import Refusal

DURATION = re.compile(r"(-?\d+(?:\.\d+)?)s")
_UNDERSCORE = re.compile(r"_([a-z0-9])")


def patched(
    resource: dict[str, Any], change: dict[str, Any], mask: str, *, fixed: Sequence[str] = ()
) -> dict[str, Any]:
    """The resource after an update. What the mask names and the change lacks is cleared; without
    a mask, what the change has is replaced. Fields that are `fixed` are refused in a mask."""
    result = copy.deepcopy(resource)
    for path in _paths(mask, change, fixed):
        words = path.split(".")
        if words[0] in fixed:
            raise Refusal(400, f"Field '{path}' in update_mask cannot be updated.")
        _put(result, words, _at(change, words))
    return result


def _paths(mask: str, change: dict[str, Any], fixed: Sequence[str]) -> list[str]:
    named = [_UNDERSCORE.sub(lambda found: found[1].upper(), one) for one in mask.split(",") if one]
    if not named or named == ["*"]:
        return [name for name in change if name not in fixed]
    return named


def _at(value: Any, words: Sequence[str]) -> Any:
    for word in words:
        value = value.get(word) if isinstance(value, dict) else None
    return value


def _put(resource: dict[str, Any], words: Sequence[str], value: Any) -> None:
    *outer, last = words
    for word in outer:
        resource = resource.setdefault(word, {})
    if value is None:
        resource.pop(last, None)
    else:
        resource[last] = copy.deepcopy(value)


def duration_s(text: str) -> float:
    """A duration such as `3600s`."""
    found = DURATION.fullmatch(text)
    if found is None:
        raise Refusal(400, f"Invalid duration: '{text}'.")
    return float(found[1])


def moment(text: str) -> float:
    """A moment in RFC 3339, in seconds since 1970."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as exc:
        raise Refusal(400, f"Invalid timestamp: '{text}'.") from exc
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
