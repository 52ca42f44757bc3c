"""Builders for tests of the buying policy: small markets and what they cost.

Must not hold a second copy of any rule of the policy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windlass.planner.buying.hazards import Record
from windlass.planner.buying.model import Holding, Observation, Place, Supply, Terms, Zone
from windlass.planner.buying.study.replay import STEP_H, Market


def market(*zones: str, spot: Sequence[float] = (), on_demand: Sequence[float] = ()) -> Market:
    """Zones drawn as text, one sign per step: `#` is up, anything else down."""
    up = np.array([[sign == "#" for sign in zone] for zone in zones])
    prices = list(spot) or [0.3] * len(zones)
    return Market(
        names=tuple(f"zone-{number}" for number in range(len(zones))),
        up=up,
        spot=np.repeat(np.array(prices)[:, None], up.shape[1], axis=1),
        on_demand=tuple(on_demand) or (1.0,) * len(zones),
    )


def terms(
    *, work: int, steps: int, restart: int, supply: Supply | None = None, chance: float = 0.95
) -> Terms:
    """The terms of a run measured in steps."""
    return Terms(
        work_h=work * STEP_H,
        deadline_h=steps * STEP_H,
        restart_h=restart * STEP_H,
        look_h=STEP_H,
        supply=supply or Supply(),
        chance=chance,
    )


def zone(name: str = "a", *, is_up: bool = True, age_h: float = 1.0, price: float = 0.3) -> Zone:
    """A zone of which nothing else is known."""
    return Zone(
        name=name,
        spot_price=price,
        on_demand_price=1.0,
        is_up=is_up,
        record=Record(age_h=age_h),
    )


def seen(
    *zones: Zone, work_h: float, time_h: float, place: Place = Place.IDLE, at: str = ""
) -> Observation:
    """What the policy is told."""
    return Observation(
        work_h=work_h, time_h=time_h, zones=zones, holding=Holding(place=place, zone=at)
    )
