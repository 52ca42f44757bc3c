"""The buying policy: stay, wait, start on spot in a zone, or on-demand.

Must not remember anything between calls but tables, which are the same whenever they are computed:
the answer is a function of what was seen.
"""

from __future__ import annotations

from windlass.planner.buying.model import Decision, Observation, Place, Terms, Zone
from windlass.planner.buying.net import (
    is_too_late,
    may_start_spot,
    may_stay,
    may_wait,
    promise,
    spare_h,
)
from windlass.planner.buying.options import (
    Habits,
    Option,
    likely_longest,
    options,
    usable,
    wait_less_buy,
)

REVIEW_H = 0.1
"""How long a decision stands while nothing changes and it is not work on spot."""

SPOT_REVIEW_H = 0.5
"""The same while work goes on on spot: another zone may have become the better one."""

USUAL = Habits()


def decide(seen: Observation, terms: Terms, habits: Habits = USUAL) -> Decision:
    """What to hold from now on. Answers whatever it is told, a deadline long past included."""
    place = seen.holding.place
    if seen.work_h <= 0:
        return Decision(
            place=Place.IDLE, zone="", hold_h=terms.look_h, promise=1.0, reason="all work is done"
        )
    if place is Place.ON_DEMAND:
        return _on_demand_held(seen, terms, habits)
    if place is Place.SPOT:
        return _spot_held(seen, terms, habits)
    if not seen.zones:
        return _decision(
            seen, terms, place=Place.IDLE, hold_h=REVIEW_H, reason="there is no zone to buy in"
        )
    return _idle(seen, terms, habits)


def _on_demand_held(seen: Observation, terms: Terms, habits: Habits) -> Decision:
    if not usable(seen):
        return _on_demand(seen, terms, hold_h=seen.time_h, reason="no spot to move to")
    if seen.holding.starting_h > 0:
        return _on_demand(seen, terms, reason="on-demand is starting")
    if not may_start_spot(seen, terms):
        return _on_demand(seen, terms, hold_h=seen.time_h, reason="no time for a move to spot")
    best = min(options(seen, terms, habits), key=_enter)
    if best.enter <= best.costs.keep:
        return _spot(seen, terms, zone=best.zone.name, reason="spot is likely to last")
    return _on_demand(seen, terms, reason="spot is too young for the slack there is")


def must_leave_spot(seen: Observation, terms: Terms) -> bool:
    """Whether spot that works must be left for on-demand: `decide` says so too. It needs no table
    and no zones, so it may be asked at every look."""
    return not is_too_late(seen, terms) and not may_stay(seen, terms)


def _spot_held(seen: Observation, terms: Terms, habits: Habits) -> Decision:
    zone = seen.holding.zone
    if is_too_late(seen, terms) or not seen.zones:
        return _spot(seen, terms, zone=zone, reason="only this spot can still meet the deadline")
    if must_leave_spot(seen, terms):
        return _on_demand(seen, terms, reason="losing spot now would miss the deadline")
    if seen.holding.starting_h > 0:
        hold_h = min(seen.holding.starting_h, spare_h(seen, terms))
        return _spot(seen, terms, zone=zone, hold_h=hold_h, reason="spot is starting")
    held = next((each for each in usable(seen) if each.name == zone), None)
    if held is None or not may_start_spot(seen, terms):
        return _spot(seen, terms, zone=zone, reason="spot works")
    better = _worth_a_move(seen, terms, habits, held=held)
    if better is not None:
        return _spot(seen, terms, zone=better.name, reason="a cheaper zone is worth a restart")
    return _spot(seen, terms, zone=zone, reason="spot works")


def _worth_a_move(seen: Observation, terms: Terms, habits: Habits, *, held: Zone) -> Zone | None:
    # Only for a better price: a longer life is expected too often to be worth a restart.
    if not any(zone.spot_price < held.spot_price for zone in usable(seen)):
        return None
    found = options(seen, terms, habits)
    mine = next(option for option in found if option.zone is held)
    cheaper = [option for option in found if option.zone.spot_price < held.spot_price]
    best = min(cheaper, key=_enter)
    longer = max(0.0, mine.costs.stay - best.costs.stay)
    saved = mine.stay - best.enter - longer
    return best.zone if saved > habits.move_margin * terms.restart_h else None


def _idle(seen: Observation, terms: Terms, habits: Habits) -> Decision:
    if is_too_late(seen, terms):
        return _on_demand(seen, terms, reason="the deadline cannot be met: the soonest end")
    if usable(seen):
        if not may_start_spot(seen, terms):
            return _on_demand(seen, terms, reason="no time for a start on spot that fails")
        best = min(options(seen, terms, habits), key=_enter)
        if best.enter <= best.costs.buy:
            return _spot(seen, terms, zone=best.zone.name, reason="spot is there")
        return _on_demand(seen, terms, reason="spot is too young for the slack there is")
    if not may_wait(seen, terms):
        return _on_demand(seen, terms, reason="the last moment for on-demand")
    if wait_less_buy(seen, terms, habits) >= 0:
        return _on_demand(seen, terms, reason="the outage may last; slack is dearer than on-demand")
    hold_h = max(terms.look_h, min(REVIEW_H, spare_h(seen, terms)))
    return _decision(seen, terms, place=Place.IDLE, hold_h=hold_h, reason="the outage may end soon")


def _enter(option: Option) -> float:
    return option.enter


def _spot(
    seen: Observation, terms: Terms, *, zone: str, reason: str, hold_h: float = SPOT_REVIEW_H
) -> Decision:
    hold_h = max(hold_h, terms.look_h)
    return _decision(seen, terms, place=Place.SPOT, zone=zone, hold_h=hold_h, reason=reason)


def _on_demand(
    seen: Observation, terms: Terms, *, reason: str, hold_h: float = REVIEW_H
) -> Decision:
    zone, hold_h = seen.holding.zone, max(hold_h, terms.look_h)
    if seen.holding.place is not Place.ON_DEMAND:
        zone = min(seen.zones, key=lambda each: each.on_demand_price).name
    return _decision(seen, terms, place=Place.ON_DEMAND, zone=zone, hold_h=hold_h, reason=reason)


def _decision(
    seen: Observation, terms: Terms, *, place: Place, hold_h: float, reason: str, zone: str = ""
) -> Decision:
    is_asked = place is Place.ON_DEMAND and seen.holding.place is Place.IDLE
    up = usable(seen) if is_asked else []
    return Decision(
        place=place,
        zone=zone,
        hold_h=hold_h,
        promise=promise(seen, terms, place=place),
        reason=reason,
        meanwhile=likely_longest(up).name if up else "",
    )
