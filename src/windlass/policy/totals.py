"""Adds charges up: by team, owner, run or environment, since a time.

Must not read a store: it is given charges. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from windlass.policy.meter import HOUR_S, usd_of
from windlass.state.model import Charge


class By(StrEnum):
    """What costs are added up by."""

    TEAM = "team"
    OWNER = "owner"
    RUN = "run"
    ENV = "env"


class Total(NamedTuple):
    """What all charges of one key come to."""

    key: str
    """Empty for what has no such label."""
    usd: float
    race_usd: float
    """The part of it that went to claims which lost a race."""
    hours: float
    """That claims held their machines."""
    runs: int
    usd_per_h: float
    """What is held now costs this."""


def totals(
    charges: Iterable[Charge], *, by: By, now: float, since: float | None = None
) -> list[Total]:
    """Dearest first."""
    groups: dict[str, list[Charge]] = {}
    for charge in charges:
        groups.setdefault(str(getattr(charge, by)), []).append(charge)
    found = [_total(key, group, now=now, since=since) for key, group in groups.items()]
    return sorted(found, key=lambda total: (-total.usd, total.key))


def usd_since(charge: Charge, *, now: float, since: float | None = None) -> float:
    """What it has cost since then."""
    until_at = now if charge.until_at is None else charge.until_at
    usd = usd_of(charge.usd_per_h, from_at=charge.from_at, until_at=until_at)
    if since is None or since <= charge.from_at:
        return usd
    return min(usd, charge.usd_per_h * max(until_at - since, 0.0) / HOUR_S)


def _total(key: str, charges: list[Charge], *, now: float, since: float | None) -> Total:
    usds = [(charge, usd_since(charge, now=now, since=since)) for charge in charges]
    return Total(
        key=key,
        usd=sum(usd for _, usd in usds),
        race_usd=sum(usd for charge, usd in usds if charge.is_extra),
        hours=sum(usd / charge.usd_per_h for charge, usd in usds if charge.usd_per_h),
        runs=len({charge.run for charge in charges}),
        usd_per_h=sum(charge.usd_per_h for charge in charges if charge.until_at is None),
    )
