"""Why a gang will not do: the reasons of refusals, and those that hold wherever the gang is.

Must not know prices or zones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from windlass.planner.ask import Ask, Way
from windlass.planner.estimate import Basis, Estimate, Estimator
from windlass.planner.gang import Gang
from windlass.planner.history import HOUR
from windlass.planner.memory import least_nodes, memory_need
from windlass.spec.units import duration_text

FOREVER_S = 100 * 365 * 86_400.0
"""What is expected to take longer than this never ends."""

# Later ones are nearer to a candidate: of several reasons the last is told.
STAGES = (
    "region",
    "buy",
    "unsold",
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


class TimeJudge:
    """Whether gangs of one kind, bought one way, hold the model and end in time, wherever."""

    __slots__ = ("_ask", "_estimator", "_gang", "_limits", "_longest_s", "_roomy", "_way")

    def __init__(self, ask: Ask, gang: Gang, way: Way) -> None:
        self._ask = ask
        self._gang = gang
        self._way = way
        self._estimator = Estimator(ask, gang, way)
        params = ask.amount.params if ask.amount else None
        self._roomy: float = 0
        """From so many nodes on the model fits."""
        if params is not None and gang.chip is not None:
            self._roomy = least_nodes(params, gang, ask.priors) or math.inf
        longest = ask.priors.entries.get(f"longest/{way.kind}")
        self._longest_s = math.inf if longest is None else longest.value
        asked = ask.spec.limits
        named = (("ttl", asked.ttl_s), ("deadline", asked.deadline_s))
        self._limits = [(code, limit_s) for code, limit_s in named if limit_s is not None]

    def on(self, nodes: int) -> Estimate | Miss:
        """What to expect of so many, or why they will not do."""
        if nodes < self._roomy:
            return self._memory_miss(nodes)
        estimate = self._estimator.on(nodes)
        if estimate is None:
            gang = self._gang
            what = gang.chip.name if gang.chip else gang.machine.name
            return Miss("speed-unknown", 1.0, lambda: f"how fast {what} does this is not known")
        if estimate.basis is not Basis.WORK:
            return estimate
        if not estimate.wall_s < FOREVER_S:
            return _endless(estimate)
        if estimate.least_held_s > self._longest_s:
            return self._too_long(estimate)
        for code, limit_s in self._limits:
            if not estimate.ends_within(limit_s):
                return _late(code, estimate, limit_s)
        return estimate

    def _memory_miss(self, nodes: int) -> Miss:
        params = self._ask.amount.params if self._ask.amount else None
        need = memory_need(params or 0.0, self._gang._replace(nodes=nodes), self._ask.priors)
        assert need is not None, "what has no memory is never short of it"
        return Miss("memory", need.need_gib / need.usable_gib, need.text)

    def _too_long(self, estimate: Estimate) -> Miss:
        def say() -> str:
            needed, most = time_text(estimate.least_held_s), time_text(self._longest_s)
            nodes = nodes_text(estimate.gang)
            return (
                f"it takes {needed} on {nodes}; {self._way.name} gives machines for {most} at most"
            )

        return Miss("too-long", estimate.least_held_s / self._longest_s, say)


def _endless(estimate: Estimate) -> Miss:
    rate = estimate.course.hazard_per_s * HOUR

    def say() -> str:
        nodes = nodes_text(estimate.gang)
        lost = "work is lost faster than it is done"
        return f"with {rate:.2g} preemptions an hour, {lost} on {nodes}"

    return Miss("never-ends", rate, say)


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


def hosts_text(gang: Gang) -> str:
    """`1 host`, `64 hosts`."""
    return "1 host" if gang.hosts == 1 else f"{gang.hosts} hosts"


def time_text(seconds: float, *, up: bool = False) -> str:
    """To minutes, or to hours when it takes days: as exact as anybody wants it."""
    if not math.isfinite(seconds):
        return "forever"
    unit = 3600.0 if seconds > 2 * 86_400 else 60.0
    count = math.ceil(seconds / unit) if up else round(seconds / unit)
    return duration_text(max(1, count) * unit)
