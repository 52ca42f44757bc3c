"""Offers to candidates, or to exactly one refusal each.

Must not rank them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from windlass.catalog.model import Offer
from windlass.catalog.prices import OtherPrices
from windlass.planner.ask import Ask, Way, allowed_buys
from windlass.planner.cost import (
    Rates,
    Tariff,
    Tariffs,
    make_rates,
    unit_usd_per_h,
    unpriced_of,
)
from windlass.planner.estimate import Basis, Estimate, make_estimate
from windlass.planner.gang import Gang
from windlass.planner.history import HOUR
from windlass.planner.memory import memory_need
from windlass.planner.quantiles import P50, P90
from windlass.spec.units import duration_text

FOREVER_S = 100 * 365 * 86_400.0
"""What is expected to take longer than this never ends."""

# Later ones are nearer to a candidate: of several reasons the last is told.
STAGES = (
    "not-asked",
    "region",
    "buy",
    "memory",
    "speed-unknown",
    "never-ends",
    "too-long",
    "quota",
    "ttl",
    "deadline",
    "budget",
)


class Candidate(NamedTuple):
    """An offer with a number of nodes that satisfies the spec, and what to expect of it."""

    offer: Offer
    label: str
    """The offer's."""
    way: Way
    estimate: Estimate
    tariff: Tariff
    unit_usd_per_h: float
    """One node, after discounts."""
    usd: float
    """Expected, in all."""

    @property
    def id(self) -> str:
        """The offer's, in the words of the spec: `us-central1-a/a3-highgpu-8g/spot`."""
        return f"{self.offer.zone}/{self.label}/{self.way.name}"

    @property
    def nodes(self) -> int:
        """Of the gang; slices, for TPUs."""
        return self.estimate.gang.nodes

    @property
    def rates(self) -> Rates:
        """What it costs, part by part."""
        return make_rates(
            self.tariff,
            self.estimate,
            unit_usd=self.unit_usd_per_h,
            list_usd=self.offer.list_usd_per_h or 0.0,
        )

    @property
    def unpriced(self) -> tuple[str, ...]:
        """What the dollars lack; they are a lower bound when there is anything."""
        return unpriced_of(self.tariff, self.offer, self.estimate)

    @property
    def usd_p50(self) -> float:
        """Half of all such runs cost at most this."""
        return _usd_at(self.rates, self.estimate, P50)

    @property
    def usd_p90(self) -> float:
        """Nine tenths of all such runs cost at most this."""
        return _usd_at(self.rates, self.estimate, P90)


class Refusal(NamedTuple):
    """Why an offer yields no candidate."""

    offer: Offer
    code: str
    """One of STAGES."""
    sentence: str


class _Miss(NamedTuple):
    """Why one number of nodes will not do, and by how much."""

    code: str
    ratio: float
    """How far off; the smallest is the nearest."""
    say: Callable[[], str]
    """Only one of many is told, so the others are never put into words."""


class _Passed(NamedTuple):
    """What a candidate needs beside its offer, in order."""

    label: str
    way: Way
    estimate: Estimate
    tariff: Tariff
    unit_usd_per_h: float
    usd: float


class _Verdict(NamedTuple):
    """What holds for every zone with the same price and quota."""

    passed: tuple[_Passed, ...]
    code: str = ""
    sentence: str = ""


class Judge:
    """Judges offers; what they share is found once."""

    def __init__(self, ask: Ask, prices: OtherPrices) -> None:
        self._ask = ask
        self._tariffs = Tariffs(ask, prices)
        self._allowed: dict[str, bool] = {}
        self._times: dict[tuple[str, str], list[Estimate | _Miss]] = {}
        self._verdicts: dict[tuple[str, str, float, float | None, str], _Verdict] = {}

    def judge(self, offers: Iterable[Offer]) -> tuple[list[Candidate], list[Refusal]]:
        """Candidates and refusals; each offer is in exactly one of the two."""
        candidates: list[Candidate] = []
        refusals: list[Refusal] = []
        for offer in offers:
            verdict = self._verdict(offer)
            if verdict.passed:
                candidates += [Candidate(offer, *passed) for passed in verdict.passed]
            else:
                refusals.append(Refusal(offer, verdict.code, verdict.sentence))
        return candidates, refusals

    def _verdict(self, offer: Offer) -> _Verdict:
        region = offer.region
        if not self._has_region(region):
            asked = ", ".join(self._ask.spec.where.regions)
            return _Verdict((), "region", f"{region} is not in the regions asked for ({asked})")
        ways = self._ask.ways.get(offer.buy)
        if ways is None:
            asked = ", ".join(allowed_buys(self._ask.spec))
            said = f"{offer.buy.value} is not among the ways to buy ({asked})"
            return _Verdict((), "buy", said)
        place = self._ask.circumstances.quota.place_of(offer.zone, region)
        label = offer.label
        # The region is part of the key through its quota's place, or its zones'.
        key = (label, offer.buy.value, offer.usd_per_h, offer.list_usd_per_h, place)
        found = self._verdicts.get(key)
        if found is None:
            found = self._verdicts[key] = self._judge_ways(offer, label, ways, place=place)
        return found

    def _has_region(self, region: str) -> bool:
        found = self._allowed.get(region)
        if found is None:
            found = self._allowed[region] = self._ask.has_region(region)
        return found

    def _judge_ways(self, offer: Offer, label: str, ways: Sequence[Way], *, place: str) -> _Verdict:
        passed: list[_Passed] = []
        misses: list[_Miss] = []
        metric = offer.quota_metric
        free = self._ask.circumstances.quota.left(place, metric)
        tariff = self._tariffs.of(offer.region)
        for way in ways:
            unit = unit_usd_per_h(self._ask, offer, way)
            for estimate in self._estimates(offer, label, way):
                if isinstance(estimate, _Miss):
                    misses.append(estimate)
                    continue
                if free is not None and estimate.gang.chips > free:
                    misses.append(_quota_miss(estimate.gang, f"{place} has {free:g} of {metric}"))
                    continue
                rates = make_rates(
                    tariff, estimate, unit_usd=unit, list_usd=offer.list_usd_per_h or 0.0
                )
                miss = self._budget_miss(estimate, rates)
                if miss is not None:
                    misses.append(miss)
                    continue
                usd = rates.usd(held_s=estimate.held_s, wall_s=estimate.wall_s)
                passed.append(_Passed(label, way, estimate, tariff, unit, usd))
        if passed:
            return _Verdict(tuple(passed))
        nearest = max(misses, key=lambda miss: (STAGES.index(miss.code), -miss.ratio))
        return _Verdict((), nearest.code, nearest.say())

    def _estimates(self, offer: Offer, label: str, way: Way) -> list[Estimate | _Miss]:
        """For every number of nodes, whatever the zone."""
        found = self._times.get((label, way.name))
        if found is None:
            found = self._times[label, way.name] = [
                judge_time(self._ask, gang_with(offer, nodes), way) for nodes in self._ask.nodes
            ]
        return found

    def _budget_miss(self, estimate: Estimate, rates: Rates) -> _Miss | None:
        budget = self._ask.spec.limits.budget_usd
        if budget is None or estimate.basis is not Basis.WORK:
            return None
        least = rates.usd(held_s=estimate.least_held_s, wall_s=estimate.course.least_s)
        if least <= budget and _usd_at(rates, estimate, P90) <= budget:
            return None

        def say() -> str:
            at_p90 = _usd_at(rates, estimate, P90)
            return (
                f"it costs {at_p90:,.2f} USD at P90 on {nodes_text(estimate.gang)}; the budget is "
                f"{budget:,.2f} USD"
            )

        usd = rates.usd(held_s=estimate.held_s, wall_s=estimate.wall_s)
        return _Miss("budget", usd / budget, say)


def gang_with(offer: Offer, nodes: int) -> Gang:
    """So many of this offer."""
    return Gang(
        machine=offer.machine,
        chip=offer.chip,
        chips_per_node=offer.chips,
        hosts_per_node=offer.hosts,
        nodes=nodes,
    )


def _quota_miss(gang: Gang, free: str) -> _Miss:
    said = f"{free} free; {gang.chips} are needed for {nodes_text(gang)}"
    return _Miss("quota", float(gang.chips), lambda: said)


def judge_time(ask: Ask, gang: Gang, way: Way) -> Estimate | _Miss:
    """Whether this gang can hold the model and ends in time, wherever it is."""
    params = ask.amount.params if ask.amount else None
    need = memory_need(params, gang, ask.priors) if params is not None else None
    if need is not None and not need.fits:
        return _Miss("memory", need.need_gib / need.usable_gib, need.text)
    estimate = make_estimate(ask, gang, way)
    if estimate is None:
        what = gang.chip.name if gang.chip else gang.machine.name
        return _Miss("speed-unknown", 1.0, lambda: f"how fast {what} does this is not known")
    return _limit_miss(ask, estimate, way) or estimate


def _limit_miss(ask: Ask, estimate: Estimate, way: Way) -> _Miss | None:
    if estimate.basis is not Basis.WORK:
        return None
    nodes = nodes_text(estimate.gang)
    if not estimate.wall_s < FOREVER_S:
        rate = estimate.course.hazard_per_s * HOUR
        said = (
            f"with {rate:.2g} preemptions an hour, work is lost faster than it is done on {nodes}"
        )
        return _Miss("never-ends", rate, lambda: said)
    longest = ask.priors.entries.get(f"longest/{way.kind}")
    if longest is not None and estimate.least_held_s > longest.value:
        needed, most = time_text(estimate.least_held_s), time_text(longest.value)
        told = f"it takes {needed} on {nodes}; {way.name} gives machines for {most} at most"
        return _Miss("too-long", estimate.least_held_s / longest.value, lambda: told)
    limits = ask.spec.limits
    for code, limit_s in (("ttl", limits.ttl_s), ("deadline", limits.deadline_s)):
        if limit_s is not None and not estimate.ends_within(limit_s):
            return _late(code, estimate, limit_s)
    return None


def _late(code: str, estimate: Estimate, limit_s: float) -> _Miss:
    def say() -> str:
        when, nodes = time_text(estimate.p90_s), nodes_text(estimate.gang)
        return f"it takes {when} at P90 on {nodes}; the {code} is {time_text(limit_s)}"

    return _Miss(code, estimate.wall_s / limit_s, say)


def _usd_at(rates: Rates, estimate: Estimate, probability: float) -> float:
    return rates.usd(
        held_s=estimate.held_quantile_s(probability), wall_s=estimate.wall_quantile_s(probability)
    )


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
