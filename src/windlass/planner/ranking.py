"""Candidates in order: the ranking, the Pareto front, and where to try next.

Must not drop any candidate from the ranking.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate
from operator import itemgetter
from typing import overload

from windlass.planner.candidates import Candidate, Lot
from windlass.planner.estimate import Estimate
from windlass.spec.model import Limits

FAILOVER = 10
_SAME_REGION = 0.05
_SAME_ZONE = 0.15
"""How much worse a place may seem for each one before it in the list that shares its fate."""
_LOOKED_AT = 80


class Goal(StrEnum):
    """What the best candidate has least of."""

    DOLLARS = "dollars"
    TIME = "time"


def goal_of(limits: Limits) -> Goal:
    """With a budget and no deadline time counts, otherwise dollars."""
    is_time = limits.budget_usd is not None and limits.deadline_s is None
    return Goal.TIME if is_time else Goal.DOLLARS


_Entry = tuple[float, int, float, float, str, str, int, Lot, Estimate, float]
"""What it is ranked by, then what it is: a lot, a number of its nodes, and their dollars."""


class Ranking(Sequence[Candidate]):
    """Candidates, best first. Thousands are ranked and few are looked at, so each is made then."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self._entries = entries
        self._ends = list(accumulate([len(entry[7].offers) for entry in entries]))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Candidate, ...]: ...

    def __getitem__(self, index: int | slice) -> Candidate | tuple[Candidate, ...]:
        if isinstance(index, slice):
            return tuple(self._at(number) for number in range(len(self))[index])
        return self._at(range(len(self))[index])

    def _at(self, number: int) -> Candidate:
        """Whatever the order, the last offer of an entry is the one before the entry's end."""
        place = bisect_right(self._ends, number)
        *_, lot, estimate, usd = self._entries[place]
        return Candidate(lot.offers[number - self._ends[place]], lot, estimate, usd)

    def __iter__(self) -> Iterator[Candidate]:
        for *_, lot, estimate, usd in self._entries:
            for offer in lot.offers:
                yield Candidate(offer, lot, estimate, usd)

    def front(self) -> list[Candidate]:
        """Those that no other beats in both expected dollars and expected time; cheapest first."""
        kept: list[Candidate] = []
        fastest = math.inf
        # Sorting is stable, so that of equals the one that ranks first is kept.
        for entry in sorted(self._entries, key=itemgetter(-1)):
            if entry[8].wall_s < fastest:
                *_, lot, estimate, usd = entry
                fastest = estimate.wall_s
                kept.append(Candidate(lot.offers[0], lot, estimate, usd))
        return kept

    def places(self, count: int, *, way: str = "", is_regional: bool = False) -> list[Candidate]:
        """The best of each zone, label and way to buy, until there are so many; of one way only,
        when it is named. Of each region, where zones are not for us to choose: a reservation is in
        its zone all the same."""
        pool: dict[tuple[str, str, str], Candidate] = {}
        only = way
        for *_, lot, estimate, usd in self._entries:
            label, way = lot.label, lot.way.name
            if only and way != only:
                continue
            for offer in lot.offers:
                is_anywhere = is_regional and not lot.way.is_prepaid
                key = (offer.region if is_anywhere else offer.zone, label, way)
                if key not in pool:
                    pool[key] = Candidate(offer, lot, estimate, usd)
                if len(pool) == count:
                    return list(pool.values())
        return list(pool.values())


def ranked(lots: Iterable[Lot], goal: Goal) -> Ranking:
    """Best first; equal ones in the order of `buy`, and then always in the same order."""
    is_time = goal is Goal.TIME
    entries: list[_Entry] = []
    for lot in lots:
        order, zone, label = lot.way.order, lot.offers[0].zone, lot.label
        # What is billed anyway may tell those apart that add the same to it.
        unit = lot.unit_usd_per_h
        for estimate, usd in zip(lot.estimates, lot.usds, strict=True):
            wall_s, nodes = estimate.wall_s, estimate.gang.nodes
            if is_time:
                entries.append((wall_s, order, usd, unit, zone, label, nodes, lot, estimate, usd))
            else:
                entries.append((usd, order, wall_s, unit, zone, label, nodes, lot, estimate, usd))
    # No two have the same zone, label, way and number of nodes: lots are never compared.
    entries.sort()
    return Ranking(entries)


def failover(
    ranking: Ranking,
    goal: Goal,
    *,
    length: int = FAILOVER,
    way: str = "",
    is_regional: bool = False,
) -> list[Candidate]:
    """Where to ask, in order: the best first, then good ones that do not share its fate; of one way
    to buy only, when it is named; once in each region, where zones are not for us to choose."""
    is_time = goal is Goal.TIME
    # With what it is worth, and where it is, at hand: each is looked at many times.
    waiting = [
        (one.estimate.wall_s if is_time else one.usd, one.offer.region, one.offer.zone, one)
        for one in ranking.places(_LOOKED_AT, way=way, is_regional=is_regional)
    ]
    chosen: list[Candidate] = []
    regions: dict[str, int] = dict.fromkeys((region for _, region, _, _ in waiting), 0)
    zones: dict[str, int] = dict.fromkeys((zone for _, _, zone, _ in waiting), 0)
    while waiting and len(chosen) < length:
        costs = [
            worth * (1 + _SAME_REGION * regions[region] + _SAME_ZONE * zones[zone])
            for worth, region, zone, _ in waiting
        ]
        # Of equals the first: the ranking's.
        _, region, zone, best = waiting.pop(costs.index(min(costs)))
        chosen.append(best)
        regions[region] += 1
        zones[zone] += 1
    return chosen
