"""What can be rented in a simulated world: zones with stock that runs out, quotas, and prices.

Must not be kinder than a real one: what is refused is refused at once, or only after a while.
"""

from __future__ import annotations

import json
from functools import partial

from windlass.controller.renting import Gang, recorded
from windlass.errors import CapacityError, OutOfStock, QuotaExceeded
from windlass.simulation.luck import Luck
from windlass.simulation.timeline import Timeline

ZONES = ("east-a", "east-b", "west-a", "west-b", "north-a")
SAFE_REGION = "north"
"""Has quota in every world, so that every run can end."""
PRICES = {"spot": 12.0, "on-demand": 36.0}
"""Of one node for an hour."""
MACHINE = "big-machine"


def region_of(zone: str) -> str:
    """As Google names them: a zone is its region and a letter."""
    return zone.rpartition("-")[0]


def offers_for(luck: Luck, *, nodes: int, work_s: float, kinds: tuple[str, ...] = ()) -> str:
    """Options of a run that may rent in some of the zones, in some order, in these ways or some."""
    zones = sorted(ZONES, key=lambda _: luck.between(0.0, 1.0))[: luck.whole(1, len(ZONES))]
    if region_of(ZONES[-1]) not in {region_of(zone) for zone in zones}:
        zones.append(ZONES[-1])
    kinds = kinds or (("spot",), ("on-demand",), ("spot", "on-demand"))[luck.whole(0, 2)]
    gangs = [
        Gang(
            offer=f"{zone}/{MACHINE}/{kind}",
            buy=kind,
            nodes=nodes,
            region=region_of(zone),
            metric=kind,
            usd_per_h=PRICES[kind] * nodes,
            work_s=work_s,
            restart_s=30.0,
        )
        for kind in kinds
        for zone in zones
    ]
    options = {"rented": gangs[0]._asdict(), "offers": recorded(gangs[1:])}
    return json.dumps(options, sort_keys=True)


class Stock:
    """What is there, zone by zone and by how it is bought. After the faults, everything."""

    def __init__(self, timeline: Timeline, luck: Luck) -> None:
        self._timeline = timeline
        self._luck = luck
        self._out: dict[tuple[str, str], int] = {}
        self._capped: set[tuple[str, str]] = set()

    def begin(self) -> None:
        """Some worlds have little from the start, and some projects no quota."""
        for zone in ZONES:
            for kind in PRICES:
                if self._luck.strikes("stockout-at-start", 0.4):
                    self._run_out(zone, kind, self._luck.between(30.0, 1500.0))
                if region_of(zone) != SAFE_REGION and self._luck.strikes("no-quota", 0.1):
                    self._capped.add((region_of(zone), kind))

    def run_out(self, pick: float, seconds: float) -> None:
        """A zone has nothing for a while."""
        zone = ZONES[int(pick * len(ZONES))]
        for kind in PRICES:
            self._run_out(zone, kind, seconds)

    def refusal(self, offer: str) -> CapacityError | None:
        """Why there is none of it now."""
        zone, _, kind = offer.split("/")
        if (region_of(zone), kind) in self._capped:
            self._luck.count("quota-refused")
            return QuotaExceeded(f"no quota for {kind} in {region_of(zone)}")
        if self._out.get((zone, kind)) and not self._luck.is_over:
            self._luck.count("stock-refused")
            return OutOfStock(f"{zone} has no {MACHINE} ({kind})")
        return None

    def _run_out(self, zone: str, kind: str, seconds: float) -> None:
        self._out[zone, kind] = self._out.get((zone, kind), 0) + 1
        self._timeline.after(seconds, partial(self._come_back, zone, kind))

    def _come_back(self, zone: str, kind: str) -> None:
        self._out[zone, kind] -= 1
