"""Why a gang will not do: the reasons of refusals, and those that hold wherever the gang is.

Must not know prices or zones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from windlass.planner.ask import Ask, Way
from windlass.planner.estimate import Basis, Estimate, make_estimate
from windlass.planner.gang import Gang
from windlass.planner.history import HOUR
from windlass.planner.memory import memory_need
from windlass.spec.units import duration_text

FOREVER_S = 100 * 365 * 86_400.0
"""What is expected to take longer than this never ends."""

# Later ones are nearer to a candidate: of several reasons the last is told.
STAGES = (
    "region",
    "buy",
    "memory",
    "speed-unknown",
    "never-ends",
    "too-long",
    "ttl",
    "deadline",
    "quota",
    "budget",
)


class Miss(NamedTuple):
    """Why one number of nodes will not do, and by how much."""

    code: str
    ratio: float
    """How far off; the smallest is the nearest."""
    say: Callable[[], str]
    """Only one of many is told, so the others are never put into words."""


def judge_time(ask: Ask, gang: Gang, way: Way) -> Estimate | Miss:
    """Whether this gang can hold the model and ends in time, wherever it is."""
    params = ask.amount.params if ask.amount else None
    need = memory_need(params, gang, ask.priors) if params is not None else None
    if need is not None and not need.fits:
        return Miss("memory", need.need_gib / need.usable_gib, need.text)
    estimate = make_estimate(ask, gang, way)
    if estimate is None:
        what = gang.chip.name if gang.chip else gang.machine.name
        return Miss("speed-unknown", 1.0, lambda: f"how fast {what} does this is not known")
    return _limit_miss(ask, estimate, way) or estimate


def _limit_miss(ask: Ask, estimate: Estimate, way: Way) -> Miss | None:
    if estimate.basis is not Basis.WORK:
        return None
    nodes = nodes_text(estimate.gang)
    if not estimate.wall_s < FOREVER_S:
        rate = estimate.course.hazard_per_s * HOUR
        said = (
            f"with {rate:.2g} preemptions an hour, work is lost faster than it is done on {nodes}"
        )
        return Miss("never-ends", rate, lambda: said)
    longest = ask.priors.entries.get(f"longest/{way.kind}")
    if longest is not None and estimate.least_held_s > longest.value:
        needed, most = time_text(estimate.least_held_s), time_text(longest.value)
        told = f"it takes {needed} on {nodes}; {way.name} gives machines for {most} at most"
        return Miss("too-long", estimate.least_held_s / longest.value, lambda: told)
    limits = ask.spec.limits
    for code, limit_s in (("ttl", limits.ttl_s), ("deadline", limits.deadline_s)):
        if limit_s is not None and not estimate.ends_within(limit_s):
            return _late(code, estimate, limit_s)
    return None


def _late(code: str, estimate: Estimate, limit_s: float) -> Miss:
    def say() -> str:
        when, nodes = time_text(estimate.p90_s), nodes_text(estimate.gang)
        return f"it takes {when} at P90 on {nodes}; the {code} is {time_text(limit_s)}"

    return Miss(code, estimate.wall_s / limit_s, say)


def quota_miss(gang: Gang, free: str) -> Miss:
    """There is less than this gang needs; `free` says of what and where."""
    said = f"{free} free; {gang.chips} are needed for {nodes_text(gang)}"
    return Miss("quota", float(gang.chips), lambda: said)


def nodes_text(gang: Gang) -> str:
    """`1 node`, `4 slices`."""
    word = "slice" if gang.chip is not None and gang.chip.is_tpu else "node"
    return f"1 {word}" if gang.nodes == 1 else f"{gang.nodes} {word}s"


def time_text(seconds: float, *, up: bool = False) -> str:
    """To minutes, or to hours when it takes days: as exact as anybody wants it."""
    if not math.isfinite(seconds):
        return "forever"
    unit = 3600.0 if seconds > 2 * 86_400 else 60.0
    count = math.ceil(seconds / unit) if up else round(seconds / unit)
    return duration_text(max(1, count) * unit)
