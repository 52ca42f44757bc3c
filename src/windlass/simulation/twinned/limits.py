"""Limits of runs that rent from a simulated twin: some of them now and then.

Must not choose what is rented.
"""

from __future__ import annotations

from dataclasses import replace

from windlass.simulation.gang import Training
from windlass.simulation.luck import Luck
from windlass.spec.model import Spec, Where, Work

TTL_S = (60.0, 900.0)


def limited(
    luck: Luck, spec: Spec, training: Training, *, budget_usd: tuple[float, float] | None
) -> Spec:
    """The spec with races, and now and then a budget, a time to live, a deadline."""
    limits = replace(
        spec.limits,
        budget_usd=luck.between(*budget_usd) if budget_usd and luck.whole(1, 2) == 1 else None,
        ttl_s=luck.between(*TTL_S) if luck.whole(1, 6) == 1 else None,
        deadline_s=luck.between(1.0, 8.0) * training.steps if luck.whole(1, 20) == 1 else None,
    )
    where = Where(race=luck.whole(1, 3))
    return replace(spec, limits=limits, where=where, work=Work(steps=training.steps))
