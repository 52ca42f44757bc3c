"""A spec and a catalog to a plan: ranked candidates, refusals, the front, and where to try next.

Must not read a file, a clock or the network.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, partial

from windlass.catalog.model import Offer
from windlass.catalog.query import Catalog
from windlass.planner.ask import Ask, Circumstances, make_ask
from windlass.planner.candidates import Candidate, Refusal
from windlass.planner.estimate import Basis
from windlass.planner.judge import Judge
from windlass.planner.misses import STAGES
from windlass.planner.ranking import Goal, Ranking, failover, goal_of, ranked
from windlass.spec.model import Spec

FAILOVER_LONG = 32
FAILOVER_EACH = 6
"""So many places a run keeps in all, and of each way to buy at the least."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What can be done, best first."""

    ask: Ask
    snapshot: str
    """The day of the prices."""
    goal: Goal
    basis: Basis
    candidates: Ranking
    """Best first."""
    refusals: tuple[Refusal, ...]

    @property
    def best(self) -> Candidate | None:
        """What to do."""
        return self.candidates[0] if self.candidates else None

    @cached_property
    def front(self) -> tuple[Candidate, ...]:
        """Those that no other beats in both dollars and time; cheapest first."""
        return tuple(self.candidates.front())

    @cached_property
    def failover(self) -> tuple[Candidate, ...]:
        """Where to ask, in order."""
        is_regional = self.ask.circumstances.is_managed
        return tuple(failover(self.candidates, self.goal, is_regional=is_regional))


def all_failover(plan: Plan) -> list[Candidate]:
    """Where to ask while a run lives, in order: a long list, and the best of each way to buy that
    comes too late in it: when all spot is gone, or the deadline is near, on-demand is needed."""
    is_regional = plan.ask.circumstances.is_managed
    ask = partial(failover, plan.candidates, plan.goal, is_regional=is_regional)
    found = ask(length=FAILOVER_LONG)
    for ways in plan.ask.ways.values():
        for way in ways:
            missing = FAILOVER_EACH - sum(one.way.name == way.name for one in found)
            known = {one.id for one in found}
            more = ask(length=FAILOVER_EACH, way=way.name)
            found += [one for one in more if one.id not in known][: max(missing, 0)]
    return found


def make_plan(spec: Spec, catalog: Catalog, circumstances: Circumstances | None = None) -> Plan:
    """Judge every offer that the spec's resources could mean."""
    ask = make_ask(spec, catalog, circumstances or Circumstances())
    lots, refusals = Judge(ask, catalog.other_prices).judge(asked_offers(spec, catalog))
    goal = goal_of(spec.limits)
    return Plan(
        ask=ask,
        snapshot=catalog.snapshot,
        goal=goal,
        basis=_basis(ask),
        candidates=ranked(lots, goal),
        refusals=tuple(refusals),
    )


def asked_offers(spec: Spec, catalog: Catalog) -> list[Offer]:
    """Every offer with the resources that the spec asks for, wherever and however it is sold."""
    wanted = spec.resources
    return catalog.offers(
        accelerators=wanted.accelerators,
        machine=wanted.machine,
        cpus=wanted.cpus,
        memory_bytes=wanted.memory_bytes,
    )


def _basis(ask: Ask) -> Basis:
    if ask.amount is not None:
        return Basis.WORK
    return Basis.HOUR if ask.spec.limits.ttl_s is None else Basis.TTL


def grouped(plan: Plan) -> list[tuple[str, int, Refusal]]:
    """Refusals by reason, those nearest to a candidate first, each with the nearest of them."""
    counts = Counter(refusal.code for refusal in plan.refusals)
    examples: dict[str, Refusal] = {}
    for refusal in plan.refusals:
        known = examples.get(refusal.code)
        if known is None or refusal.ratio < known.ratio:
            examples[refusal.code] = refusal
    order = sorted(counts, key=STAGES.index, reverse=True)
    return [(code, counts[code], examples[code]) for code in order]
