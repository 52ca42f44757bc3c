"""Asks the buying policy how to buy next and whether to keep what is held, in its own terms.

Must not decide: windlass.planner.buying.policy does. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from windlass.controller.offers import ON_DEMAND, SPOT, Market
from windlass.controller.renting import Gang
from windlass.controller.view import View
from windlass.controller.zones import HOUR_S
from windlass.planner.buying.hazards import Record
from windlass.planner.buying.model import Holding, Observation, Place, Supply, Terms, Zone
from windlass.planner.buying.policy import decide, must_leave_spot

LOOK_S = 5.0
ZONES_MAX = 6
"""So many places are told of, the best: tables are made for what they have in common."""
SUPPLY = Supply(at_once=0.9, mean_wait_h=0.5)
"""How soon on-demand machines come: an assumption, nobody publishes it."""
NOTHING = Holding()


class Advice(NamedTuple):
    """What to ask for, in order."""

    gangs: list[Gang]
    hold_s: float
    """How long it stands: where there is nothing to ask for, wait so long."""
    reason: str


class Need(NamedTuple):
    """Why spot that works must be left."""

    work_s: float
    """What is left to do, on the first offer of the plan."""
    time_s: float
    """Until the deadline."""


def may_buy(view: View) -> bool:
    """Whether there is anything to decide: with a deadline, an estimate of the work, and both ways
    to buy."""
    if view.wishes.deadline_s is None or not all(gang.work_s for gang in view.gangs):
        return False
    return {gang.kind for gang in view.gangs} == {SPOT, ON_DEMAND}


def advise(view: View, market: Market, now: float) -> Advice | None:
    """How to buy now that nothing is held; None where there is nothing to decide. Work that is all
    saved is not over until ranks have started once more and left as they should."""
    if not may_buy(view) or view.measured.saved_share >= 1.0:
        return None
    gangs = view.gangs
    zones = _zones(gangs, market, now, usual=gangs[0])
    seen = _seen(view, market, now, done=view.measured.saved_share, zones=zones)
    decision = decide(seen, _terms(view))
    wanted = _wanted(gangs, decision.place, decision.zone)
    if decision.place is Place.ON_DEMAND and decision.meanwhile:
        wanted += _wanted(gangs, Place.SPOT, decision.meanwhile)
    return Advice(wanted, decision.hold_h * HOUR_S, decision.reason)


def must_leave(view: View, market: Market, now: float) -> Need | None:
    """Whether the spot machines that are held must be left for on-demand ones, though they work;
    None while they may be kept, or nobody knows how far the run is.

    What was done counts, not what is safe: a restart is taken to lose some of it already.
    """
    done = view.measured.done_share
    if done is None or not may_buy(view):
        return None
    seen = _seen(view, market, now, done=done, holding=Holding(place=Place.SPOT))
    if seen.work_h <= 0 or not must_leave_spot(seen, _terms(view)):
        return None
    return Need(work_s=seen.work_h * HOUR_S, time_s=seen.time_h * HOUR_S)


def _terms(view: View) -> Terms:
    usual, deadline_s = view.gangs[0], view.wishes.deadline_s
    assert deadline_s is not None
    return Terms(
        work_h=usual.work_s / HOUR_S,
        deadline_h=deadline_s / HOUR_S,
        restart_h=usual.restart_s / HOUR_S,
        look_h=LOOK_S / HOUR_S,
        supply=SUPPLY,
    )


def _seen(
    view: View,
    market: Market,
    now: float,
    *,
    done: float,
    zones: tuple[Zone, ...] = (),
    holding: Holding = NOTHING,
) -> Observation:
    deadline_s, refused_at = view.wishes.deadline_s, market.refused_at
    assert deadline_s is not None
    return Observation(
        work_h=view.gangs[0].work_s / HOUR_S * max(0.0, 1.0 - done),
        time_h=(view.state.run.created_at + deadline_s - now) / HOUR_S,
        zones=zones,
        holding=holding,
        asked=market.asked,
        refused_h=None if refused_at is None else max(0.0, now - refused_at) / HOUR_S,
    )


def _wanted(gangs: Sequence[Gang], place: Place, zone: str) -> list[Gang]:
    """Those of the kind, the place that the policy names first; else in the order of the plan."""
    kind = {Place.SPOT: SPOT, Place.ON_DEMAND: ON_DEMAND}.get(place)
    found = [gang for gang in gangs if gang.kind == kind]
    return sorted(found, key=lambda gang: _place(gang) != zone)


def _place(gang: Gang) -> str:
    return f"{gang.zone}/{gang.label}/{gang.nodes}"


def _zones(gangs: Sequence[Gang], market: Market, now: float, *, usual: Gang) -> tuple[Zone, ...]:
    """Places with their prices, those of faster gangs lower: for an hour of the usual's work."""
    places: dict[str, list[Gang]] = {}
    for gang in gangs:
        places.setdefault(_place(gang), []).append(gang)
    zones = []
    for name, members in places.items():
        prices = {gang.kind: gang.usd_per_h * gang.work_s / usual.work_s for gang in members}
        spot = next((gang for gang in members if gang.kind == SPOT), None)
        block = market.block_of(spot, now) if spot else None
        record = market.zones.get(members[0].zone)
        zones.append(
            Zone(
                name=name,
                spot_price=prices.get(SPOT, inf),
                on_demand_price=prices.get(ON_DEMAND, inf),
                is_up=spot is not None and (block is None or block.is_soft),
                record=record.record(now) if record else Record(),
            )
        )
    cheapest = sorted(zones, key=lambda zone: (zone.spot_price, zone.name))[:ZONES_MAX]
    if not any(zone.on_demand_price < inf for zone in cheapest):
        cheapest[-1] = min(zones, key=lambda zone: (zone.on_demand_price, zone.name))
    return tuple(cheapest)
