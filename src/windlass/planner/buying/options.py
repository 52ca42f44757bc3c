"""What each choice is expected to cost: zones that are up, and waiting where none is.

Must not choose, and must not know the safety net but for the slack it keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, isfinite, log
from typing import NamedTuple

from windlass.planner.buying.hazards import DOWN, UP, Record
from windlass.planner.buying.levels import Assumed
from windlass.planner.buying.model import Observation, Terms, Zone
from windlass.planner.buying.net import reserve_h
from windlass.planner.buying.table import Costs, factors_around, table_for

# Tables exist for these; the nearest is taken.
PRICE_STEP, PRICE_MAX = 0.05, 1.5
RETURNS = (0.5, 1.0, 2.0, 4.0)
RELIEFS = (0.0, 0.35, 0.65, 0.85, 0.96)

LEAST_WORK_H = 0.01
"""The least work a table is made for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What no formula gives: chosen over many traces at once, see docs/design/buying.md."""

    move_margin: float = 3.0
    """What leaving a spot that works must save, in restarts at the on-demand price."""
    outlook_h: float = 4.0
    """How far ahead other zones are looked at for the moment when this one is lost."""
    relief_age: int = 2
    """Index in AGES_H of what is found when another zone takes over: not the best there was."""


class Option(NamedTuple):
    """One zone that is up, with the costs of using it."""

    zone: Zone
    costs: Costs
    stay: float
    enter: float


def usable(seen: Observation) -> list[Zone]:
    """The zones in which spot can be started now."""
    return [zone for zone in seen.zones if zone.is_up and isfinite(zone.spot_price)]


def likely_longest(zones: list[Zone]) -> Zone:
    """The zone whose spot capacity is likely to last longest."""
    return max(zones, key=lambda zone: zone.record.age_h / zone.record.up_factor())


def options(seen: Observation, terms: Terms, habits: Habits) -> list[Option]:
    """The zones that are up, all judged by the same table, so that its roughness moves nobody."""
    up = usable(seen)
    cheapest = min(zone.spot_price for zone in up)
    held = next((zone for zone in up if zone.name == seen.holding.zone), None)
    relief, returns = _others(seen, held or likely_longest(up), outlook_h=habits.outlook_h)
    assumed = _assumed(seen, terms, habits, price=cheapest, returns=returns, relief=relief)
    unit = _on_demand_price(seen)
    slack_h = _free_slack_h(seen, terms)
    return [
        _option(
            zone,
            _costs(assumed, zone.record, work_h=seen.work_h, slack_h=slack_h),
            dearer=(zone.spot_price - cheapest) / unit,
            work_h=seen.work_h,
            restart_h=terms.restart_h,
        )
        for zone in up
    ]


def wait_less_buy(seen: Observation, terms: Terms, habits: Habits) -> float:
    """Where nothing is up: what waiting costs more than on-demand."""
    records = [zone.record for zone in seen.zones]
    youngest_h = min(record.age_h for record in records)
    ends = sum(record.down_factor() * DOWN.hazard(record.age_h) for record in records)
    usual = exp(sum(log(record.up_factor()) for record in records) / len(records))
    assumed = _assumed(
        seen,
        terms,
        habits,
        price=min(zone.spot_price for zone in seen.zones),
        returns=ends / DOWN.hazard(youngest_h),
        relief=0.0 if len(records) == 1 else RELIEFS[1],
    )
    return sum(
        part
        * table_for(replace(assumed, factor=known))
        .costs(work_h=seen.work_h, slack_h=_free_slack_h(seen, terms), age_h=youngest_h)
        .wait_less_buy
        for known, part in factors_around(usual)
    )


def _option(zone: Zone, costs: Costs, *, dearer: float, work_h: float, restart_h: float) -> Option:
    record = zone.record
    lasts_h = UP.mean_within(work_h, age_h=record.age_h, factor=record.up_factor())
    return Option(
        zone=zone,
        costs=costs,
        stay=costs.stay + dearer * lasts_h,
        enter=costs.enter + dearer * (lasts_h + restart_h),
    )


def _costs(assumed: Assumed, record: Record, *, work_h: float, slack_h: float) -> Costs:
    found = [
        (
            part,
            table_for(replace(assumed, factor=known)).costs(
                work_h=work_h, slack_h=slack_h, age_h=record.age_h
            ),
        )
        for known, part in factors_around(record.up_factor())
    ]
    return Costs._make(
        sum(part * costs[number] for part, costs in found) for number in range(len(Costs._fields))
    )


def _others(seen: Observation, first: Zone, *, outlook_h: float) -> tuple[float, float]:
    """When `first` is lost: the chance that another zone is up, and how fast outages end then."""
    record = first.record
    ahead_h = UP.mean_within(
        min(outlook_h, seen.work_h), age_h=record.age_h, factor=record.up_factor()
    )
    none_up, ends = 1.0, record.down_factor()
    for zone in seen.zones:
        if zone is first:
            continue
        other = zone.record
        if zone.is_up:
            lasts = UP.chance_to_last(ahead_h, age_h=other.age_h, factor=other.up_factor())
            up = lasts + (1 - lasts) * other.up_share()
            age_h = ahead_h / 2
        else:
            lasts = DOWN.chance_to_last(ahead_h, age_h=other.age_h, factor=other.down_factor())
            up = (1 - lasts) * other.up_share()
            age_h = other.age_h + ahead_h
        none_up *= 1 - up
        ends += (1 - up) * other.down_factor() * DOWN.hazard(age_h) / DOWN.hazard(0.0)
    return 1 - none_up, ends


def _assumed(
    seen: Observation,
    terms: Terms,
    habits: Habits,
    *,
    price: float,
    returns: float,
    relief: float,
) -> Assumed:
    relative = min(price / _on_demand_price(seen), PRICE_MAX) if isfinite(price) else PRICE_MAX
    return Assumed(
        restart_h=terms.restart_h,
        price=round(relative / PRICE_STEP) * PRICE_STEP,
        factor=1.0,
        returns=min(RETURNS, key=lambda known: abs(log(known / returns))),
        relief=min(RELIEFS, key=lambda known: abs(known - relief)),
        relief_age=habits.relief_age,
        work_h=max(terms.work_h, LEAST_WORK_H),
        slack_h=max(terms.deadline_h - terms.work_h, terms.restart_h),
    )


def _free_slack_h(seen: Observation, terms: Terms) -> float:
    """The slack that choices may use; a table keeps one restart of it by itself."""
    return seen.slack_h() - (reserve_h(seen, terms) - terms.restart_h)


def _on_demand_price(seen: Observation) -> float:
    """The unit of all prices; where there is none to compare with, 1."""
    price = min(zone.on_demand_price for zone in seen.zones)
    return price if isfinite(price) and price > 0 else 1.0
