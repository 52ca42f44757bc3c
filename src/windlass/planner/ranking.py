"""Candidates in order: the ranking, the Pareto front, and where to try next.

Must not drop any candidate from the ranking.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from windlass.planner.candidates import Batch, Candidate
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


def ranked(batches: Sequence[Batch], goal: Goal) -> list[Candidate]:
    """Best first; equal ones in the order of `buy`, and then always in the same order."""
    is_time = goal is Goal.TIME

    def key(batch: Batch) -> tuple[float, int, float, str, str, int]:
        passed = batch.passed
        usd, estimate = passed.usd, passed.estimate
        worth, other = (estimate.wall_s, usd) if is_time else (usd, estimate.wall_s)
        zone = batch.offers[0].zone
        return worth, passed.way.order, other, zone, passed.label, estimate.gang.nodes

    ordered = sorted(batches, key=key)
    found: list[Candidate] = []
    for batch in ordered:
        found += batch.candidates()
    return found


def front(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that no other beats in both expected dollars and expected time; cheapest first."""
    kept: list[Candidate] = []
    fastest = math.inf
    # Sorting is stable, so that of equals the one that ranks first is kept.
    by_dollars = sorted(candidates, key=lambda candidate: candidate.usd)
    for candidate in by_dollars:
        if candidate.estimate.wall_s < fastest:
            fastest = candidate.estimate.wall_s
            kept.append(candidate)
    return kept


def failover(
    ranking: Sequence[Candidate], goal: Goal, *, length: int = FAILOVER
) -> list[Candidate]:
    """Where to ask, in order: the best first, then good ones that do not share its fate."""
    pool: dict[tuple[str, str, str], Candidate] = {}
    for candidate in ranking:
        pool.setdefault((candidate.offer.zone, candidate.label, candidate.way.name), candidate)
        if len(pool) == _LOOKED_AT:
            break
    chosen: list[Candidate] = []
    regions: Counter[str] = Counter()
    zones: Counter[str] = Counter()

    def cost(candidate: Candidate) -> float:
        worth = candidate.estimate.wall_s if goal is Goal.TIME else candidate.usd
        shared = _SAME_REGION * regions[candidate.offer.region]
        return worth * (1 + shared + _SAME_ZONE * zones[candidate.offer.zone])

    while pool and len(chosen) < length:
        key = min(pool, key=lambda key: cost(pool[key]))  # Of equals the first: the ranking's.
        best = pool.pop(key)
        chosen.append(best)
        regions[best.offer.region] += 1
        zones[best.offer.zone] += 1
    return chosen
