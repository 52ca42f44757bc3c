"""The buying policy: stay, wait, start on spot in a zone, or on-demand.

Must not remember anything between calls but tables, which are the same whenever they are computed:
the answer is a function of what was seen.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

from windlass.planner.buying.hazards import DOWN, UP
from windlass.planner.buying.model import Decision, Observation, Place, Terms, Zone
from windlass.planner.buying.net import may_start_spot, may_stay, may_wait, promise, spare_h
from windlass.planner.buying.table import Assumed, Costs, Table, table_for

REVIEW_H = 0.1
"""How long a decision stands while nothing changes and it is not work on spot."""

SPOT_REVIEW_H = 0.5
"""The same while work goes on on spot: another zone may have become the better one."""

MOVE_MARGIN = 3.0
"""What leaving a spot that works must save, in restarts at the on-demand price."""

OUTLOOK_H = 4.0
"""How far ahead other zones are looked at for the moment when this one is lost."""

# Tables exist for these; the nearest is taken.
PRICE_STEP = 0.05
RETURNS = (0.5, 1.0, 2.0, 4.0)
RELIEFS = (0.0, 0.35, 0.65, 0.85, 0.96)


class _Option(NamedTuple):
    """One zone that is up, with the costs of using it."""

    zone: Zone
    costs: Costs
    stay: float
    enter: float


def decide(seen: Observation, terms: Terms) -> Decision:
    """What to hold from now on."""
    place = seen.holding.place
    if place is Place.ON_DEMAND:
        return _on_demand_held(seen, terms)
    if place is Place.SPOT:
        return _spot_held(seen, terms)
    return _idle(seen, terms)


def _on_demand_held(seen: Observation, terms: Terms) -> Decision:
    if not any(zone.is_up for zone in seen.zones):
        return _on_demand(seen, terms, hold_h=seen.time_h, reason="no spot to move to")
    if seen.holding.starting_h > 0:
        return _on_demand(seen, terms, reason="on-demand is starting")
    if not may_start_spot(seen, terms):
        return _on_demand(seen, terms, hold_h=seen.time_h, reason="no time for a move to spot")
    best = min(_options(seen, terms), key=_enter)
    if best.enter <= best.costs.keep:
        return _spot(seen, terms, zone=best.zone, reason="spot is likely to last")
    return _on_demand(seen, terms, reason="spot is too young for the slack there is")


def _spot_held(seen: Observation, terms: Terms) -> Decision:
    if not may_stay(seen, terms):
        return _on_demand(seen, terms, reason="losing spot now would miss the deadline")
    held = next(zone for zone in seen.zones if zone.name == seen.holding.zone)
    if seen.holding.starting_h > 0:
        hold_h = min(seen.holding.starting_h, spare_h(seen, terms))
        return _spot(seen, terms, zone=held, hold_h=hold_h, reason="spot is starting")
    if not may_start_spot(seen, terms) or sum(zone.is_up for zone in seen.zones) == 1:
        return _spot(seen, terms, zone=held, reason="spot works")
    options = _options(seen, terms)
    mine = next(option for option in options if option.zone is held)
    # Only for a better price: a longer life is expected too often to be worth a restart.
    cheaper = [option for option in options if option.zone.spot_price < held.spot_price]
    best = min(cheaper, key=_enter, default=mine)
    longer = max(0.0, mine.costs.stay - best.costs.stay)
    if best.enter + longer < mine.stay - MOVE_MARGIN * terms.restart_h:
        return _spot(seen, terms, zone=best.zone, reason="a cheaper zone is worth a restart")
    return _spot(seen, terms, zone=held, reason="spot works")


def _idle(seen: Observation, terms: Terms) -> Decision:
    if any(zone.is_up for zone in seen.zones):
        if not may_start_spot(seen, terms):
            return _on_demand(seen, terms, reason="no time for a start on spot that fails")
        best = min(_options(seen, terms), key=_enter)
        if best.enter <= best.costs.buy:
            return _spot(seen, terms, zone=best.zone, reason="spot is there")
        return _on_demand(seen, terms, reason="spot is too young for the slack there is")
    if not may_wait(seen, terms):
        return _on_demand(seen, terms, reason="the last moment for on-demand")
    if _wait_less_buy(seen, terms) >= 0:
        return _on_demand(seen, terms, reason="the outage may last; slack is dearer than on-demand")
    hold_h = max(terms.look_h, min(REVIEW_H, spare_h(seen, terms)))
    return _decision(seen, terms, place=Place.IDLE, hold_h=hold_h, reason="the outage may end soon")


def _wait_less_buy(seen: Observation, terms: Terms) -> float:
    """Where nothing is up: what waiting costs more than on-demand."""
    records = [zone.record for zone in seen.zones]
    youngest_h = min(record.age_h for record in records)
    ends = sum(record.down_factor() * DOWN.hazard(record.age_h) for record in records)
    usual = exp(sum(log(record.up_factor()) for record in records) / len(records))
    table = _table(
        seen,
        terms,
        price=min(zone.spot_price for zone in seen.zones),
        returns=ends / DOWN.hazard(youngest_h),
        relief=0.0 if len(records) == 1 else RELIEFS[1],
    )
    return table.wait_less_buy(
        work_h=seen.work_h, slack_h=seen.slack_h(), factor=usual, age_h=youngest_h
    )


def _options(seen: Observation, terms: Terms) -> list[_Option]:
    """The zones that are up, all judged by the same table, so that its roughness moves nobody."""
    up = [zone for zone in seen.zones if zone.is_up]
    cheapest = min(zone.spot_price for zone in up)
    first = next((zone for zone in up if zone.name == seen.holding.zone), None)
    if first is None:
        first = max(up, key=lambda zone: zone.record.age_h / zone.record.up_factor())
    relief, returns = _others(seen, first)
    table = _table(seen, terms, price=cheapest, returns=returns, relief=relief)
    unit = _on_demand_price(seen)
    return [
        _option(zone, table, seen=seen, dearer=(zone.spot_price - cheapest) / unit, terms=terms)
        for zone in up
    ]


def _option(zone: Zone, table: Table, *, seen: Observation, dearer: float, terms: Terms) -> _Option:
    factor, age_h = zone.record.up_factor(), zone.record.age_h
    costs = table.up(work_h=seen.work_h, slack_h=seen.slack_h(), factor=factor, age_h=age_h)
    lasts_h = UP.mean_within(seen.work_h, age_h=age_h, factor=factor)
    return _Option(
        zone=zone,
        costs=costs,
        stay=costs.stay + dearer * lasts_h,
        enter=costs.enter + dearer * (lasts_h + terms.restart_h),
    )


def _others(seen: Observation, first: Zone) -> tuple[float, float]:
    """When `first` is lost: the chance that another zone is up, and how fast outages end then."""
    record = first.record
    ahead_h = UP.mean_within(
        min(OUTLOOK_H, seen.work_h), age_h=record.age_h, factor=record.up_factor()
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


def _table(
    seen: Observation, terms: Terms, *, price: float, returns: float, relief: float
) -> Table:
    relative = price / _on_demand_price(seen)
    return table_for(
        Assumed(
            restart_h=terms.restart_h,
            price=round(relative / PRICE_STEP) * PRICE_STEP,
            returns=min(RETURNS, key=lambda known: abs(log(known / returns))),
            relief=min(RELIEFS, key=lambda known: abs(known - relief)),
            work_h=terms.work_h,
            slack_h=max(terms.deadline_h - terms.work_h, terms.restart_h),
        )
    )


def _enter(option: _Option) -> float:
    return option.enter


def _on_demand_price(seen: Observation) -> float:
    return min(zone.on_demand_price for zone in seen.zones)


def _spot(
    seen: Observation, terms: Terms, *, zone: Zone, reason: str, hold_h: float = SPOT_REVIEW_H
) -> Decision:
    return _decision(
        seen,
        terms,
        place=Place.SPOT,
        zone=zone.name,
        hold_h=max(hold_h, terms.look_h),
        reason=reason,
    )


def _on_demand(
    seen: Observation, terms: Terms, *, reason: str, hold_h: float = REVIEW_H
) -> Decision:
    zone = seen.holding.zone
    if seen.holding.place is not Place.ON_DEMAND:
        zone = min(seen.zones, key=lambda zone: zone.on_demand_price).name
    return _decision(
        seen,
        terms,
        place=Place.ON_DEMAND,
        zone=zone,
        hold_h=max(hold_h, terms.look_h),
        reason=reason,
    )


def _decision(
    seen: Observation, terms: Terms, *, place: Place, hold_h: float, reason: str, zone: str = ""
) -> Decision:
    chance = promise(seen, terms, place=place)
    return Decision(place=place, zone=zone, hold_h=hold_h, promise=chance, reason=reason)
