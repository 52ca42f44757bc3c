"""Asks the buying policy how to buy next: what this run has seen, in the policy's own terms.

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
from windlass.planner.buying.policy import decide

LOOK_S = 5.0
ZONES_MAX = 6
"""So many places are told of, the best: tables are made for what they have in common."""
SUPPLY = Supply(at_once=0.9, mean_wait_h=0.5)
"""How soon on-demand machines come: an assumption, nobody publishes it."""


class Advice(NamedTuple):
    """What to ask for, in order."""

    gangs: list[Gang]
    hold_s: float
    """How long it stands: where there is nothing to ask for, wait so long."""
    reason: str


def advise(view: View, market: Market, now: float) -> Advice | None:
    """How to buy now that nothing is held; None where there is nothing to decide: without a
    deadline, without an estimate of the work, or with only one way to buy."""
    gangs, deadline_s = view.gangs, view.wishes.deadline_s
    kinds = {gang.kind for gang in gangs}
    if deadline_s is None or kinds != {SPOT, ON_DEMAND} or not all(one.work_s for one in gangs):
        return None
    usual = gangs[0]
    work_h = usual.work_s / HOUR_S
    terms = Terms(
        work_h=work_h,
        deadline_h=deadline_s / HOUR_S,
        restart_h=usual.restart_s / HOUR_S,
        look_h=LOOK_S / HOUR_S,
        supply=SUPPLY,
    )
    seen = Observation(
        work_h=work_h * max(0.0, 1.0 - view.measured.saved_share),
        time_h=(view.state.run.created_at + deadline_s - now) / HOUR_S,
        zones=_zones(gangs, market, now, usual=usual),
        holding=Holding(),
        asked=market.asked,
        refused_h=None if market.refused_at is None else max(0.0, now - market.refused_at) / HOUR_S,
    )
    decision = decide(seen, terms)
    wanted = _wanted(gangs, decision.place, decision.zone)
    if decision.place is Place.ON_DEMAND and decision.meanwhile:
        wanted += _wanted(gangs, Place.SPOT, decision.meanwhile)
    return Advice(wanted, decision.hold_h * HOUR_S, decision.reason)


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
