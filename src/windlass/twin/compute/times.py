"""Durations and moments as Compute Engine's API writes them.

Must not ask what time it is.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from windlass.twin.compute.scopes import invalid


def seconds_of(duration: dict[str, Any] | None) -> float:
    """A duration; none is 0."""
    if not duration:
        return 0.0
    return float(duration.get("seconds", 0)) + float(duration.get("nanos", 0)) / 1e9


def moment_of(text: str, field: str) -> float:
    """A moment in RFC 3339, or a refusal that names the field."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as exc:
        raise invalid(field, text, "Must be a timestamp in RFC 3339.") from exc
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
