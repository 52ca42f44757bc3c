"""Where a training fits, and how long it waits when it fits nowhere.

Must not take anything: the fleet counts what runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from windlass.twin.market import Model, Wanted
from windlass.twin.vertex.specs import Pool, longest_wait

if TYPE_CHECKING:
    from windlass.twin.market import Market
    from windlass.twin.vertex.training import Training

MOST_RESTARTS = 6
"""So often Vertex AI starts a training again whose Spot VMs were taken back."""
RETRY_S = 60.0
"""How long until it looks for machines again."""


def wanted_machine(zone: str, pool: Pool) -> Wanted:
    """One machine of a pool, in a zone."""
    return Wanted(zone, pool.kind.type, pool.kind.chip, pool.kind.chips, pool.model)


def zone_with_room(market: Market, zones: Iterable[str], pools: list[Pool]) -> str:
    """The first zone that has room for all of it; empty where none has."""
    for zone in zones:
        needed: dict[Wanted, int] = {}
        for pool in pools:
            if pool.machines:
                kind = wanted_machine(zone, pool)
                needed[kind] = needed.get(kind, 0) + pool.machines
        if all(market.room(kind) >= count for kind, count in needed.items()):
            return zone
    return ""


def is_flexible(pools: list[Pool]) -> bool:
    """Whether it waits for machines instead of being refused."""
    return any(pool.model is Model.FLEX_START for pool in pools)


def patience(training: Training, pools: list[Pool], *, now: float, search_s: float) -> float:
    """How many seconds it will still wait. A first start is refused when machines were searched
    for in vain; one after a preemption is tried a few times."""
    if not is_flexible(pools) and training.restarts == 0:
        return training.created + search_s - now
    if not is_flexible(pools):
        return math.inf if training.restarts < MOST_RESTARTS else 0.0
    longest = longest_wait(training.spec)
    return math.inf if longest is None else training.created + longest - now
