"""When a queued resource may be granted, and how long it may then run.

Must not look at a clock: it is told what time it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

WEEK = 7 * 86_400.0


class Window(NamedTuple):
    """Between which moments a request may be granted."""

    after: float | None
    until: float | None


def window(policy: dict[str, Any], now: float) -> Window:
    """What a `queueingPolicy` comes to."""
    interval = policy.get("validInterval") or {}
    after = _moment(policy.get("validAfterTime") or interval.get("startTime"))
    until = _moment(policy.get("validUntilTime") or interval.get("endTime"))
    if "validAfterDuration" in policy:
        after = now + seconds(policy["validAfterDuration"])
    if "validUntilDuration" in policy:
        until = now + seconds(policy["validUntilDuration"])
    return Window(after, until)


def run_seconds(duration: dict[str, Any], now: float) -> float | None:
    """What a `runDuration` comes to; None for as long as one likes."""
    if duration.get("maxRunDuration"):
        return seconds(duration["maxRunDuration"])
    end = _moment(duration.get("terminationTime"))
    return None if end is None else max(0.0, end - now)


def seconds(duration: str) -> float:
    """`14400s` in seconds."""
    return float(duration.removesuffix("s"))


def _moment(text: str | None) -> float | None:
    if not text:
        return None
    return datetime.fromisoformat(text).timestamp()
