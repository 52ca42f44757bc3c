"""A scenario: what a twin's world is like, and what will happen in it.

Must not read or apply anything. Times are seconds since the scenario began.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from windlass.twin.faults.rules import FaultRule
from windlass.twin.market import Rule


class QuotaLimit(NamedTuple):
    """So much may be used."""

    scope: str
    metric: str
    limit: float


class Planned(NamedTuple):
    """An incident and when it happens."""

    incident: Mapping[str, Any]
    at: float | None = None
    """Since the scenario began."""
    after: float | None = None
    """Since the machine that it names runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All of it."""

    digest: str
    """Of the file, so that another one is noticed."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the usual settings: `project`, `notice_s`, and `delays` by name."""
    apis_off: tuple[str, ...] = ()
    market: tuple[Rule, ...] = ()
    quotas: tuple[QuotaLimit, ...] = ()
    denied: tuple[tuple[str, str], ...] = ()
    """Members and permissions."""
    rules: tuple[FaultRule, ...] = ()
    planned: tuple[Planned, ...] = ()
