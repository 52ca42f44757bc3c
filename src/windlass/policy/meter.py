"""What machines cost: the price of a claim's machines for as long as they are held.

Must not read a clock or a store. Pure. Times are by the wall clock, as a bill is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from windlass.state.model import Claim, Run

TICK_S = 60.0
"""The billing tick: nothing that was had at all costs less than this much of its time."""
HOUR_S = 3600.0


class Meter(NamedTuple):
    """What a run has cost so far, and what it costs now."""

    spent_usd: float
    usd_per_h: float
    """Of all machines that are held now."""
    race_usd: float = 0.0
    """What claims cost that lost a race."""

    def after(self, seconds: float) -> float:
        """What will be spent by then if nothing changes."""
        return self.spent_usd + self.usd_per_h * max(seconds, 0.0) / HOUR_S


def usd_of(usd_per_h: float, *, from_at: float, until_at: float) -> float:
    """What machines cost in that time; a clock that was set back makes it no cheaper."""
    return usd_per_h * max(until_at - from_at, TICK_S) / HOUR_S


def read_meter(run: Run, claims: Iterable[Claim], *, now: float) -> Meter:
    """What is known to be spent, and what the claims add that hold machines."""
    spent, rate, race = run.spent_usd, 0.0, run.race_usd
    for claim in claims:
        if claim.held_from is None or claim.held_until is not None:
            continue
        usd = usd_of(claim.usd_per_h, from_at=claim.held_from, until_at=now)
        spent += usd
        rate += claim.usd_per_h
        race += usd if claim.is_extra else 0.0
    return Meter(spent_usd=spent, usd_per_h=rate, race_usd=race)
