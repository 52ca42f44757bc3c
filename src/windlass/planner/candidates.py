"""Offers to candidates, or to exactly one refusal each.

Must not rank them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from windlass.catalog.model import Offer
from windlass.catalog.prices import OtherPrices
from windlass.planner.ask import Ask, Way, allowed_buys
from windlass.planner.cost import (
    Rates,
    Tariff,
    Tariffs,
    expected_usd,
    make_rates,
    unit_usd_per_h,
    unpriced_of,
)
from windlass.planner.estimate import Basis, Estimate
from windlass.planner.gang import Gang
from windlass.planner.misses import STAGES, Miss, judge_time, nodes_text, quota_miss
from windlass.planner.quantiles import P50, P90


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


class Passed(NamedTuple):
    """What a candidate is beside its offer, in the same order."""

    label: str
    way: Way
    estimate: Estimate
    tariff: Tariff
    unit_usd_per_h: float
    usd: float


class _Verdict(NamedTuple):
    """What holds for every zone with the same price and quota."""

    passed: tuple[Passed, ...]
    offers: list[Offer]
    """Those zones' offers."""
    code: str = ""
    sentence: str = ""


class Batch(NamedTuple):
    """Candidates that differ in nothing but their zone."""

    passed: Passed
    offers: Sequence[Offer]
    """In order of their zones."""

    def candidates(self) -> list[Candidate]:
        """One for each zone."""
        passed = self.passed
        return [Candidate._make((offer, *passed)) for offer in self.offers]


class Judge:
    """Judges offers; what they share is found once."""

    def __init__(self, ask: Ask, prices: OtherPrices) -> None:
        self._ask = ask
        self._tariffs = Tariffs(ask, prices)
        self._allowed: dict[str, bool] = {}
        self._times: dict[tuple[str, str], list[Estimate | Miss]] = {}
        self._verdicts: dict[tuple[str, str, float, float | None, str], _Verdict] = {}

    def judge(self, offers: Iterable[Offer]) -> tuple[list[Batch], list[Refusal]]:
        """Candidates and refusals; each offer is in exactly one of the two."""
        refusals: list[Refusal] = []
        for offer in offers:
            verdict = self._verdict(offer)
            if verdict.passed:
                verdict.offers.append(offer)
            else:
                refusals.append(Refusal(offer, verdict.code, verdict.sentence))
        batches: list[Batch] = []
        for verdict in self._verdicts.values():
            in_order = sorted(verdict.offers, key=lambda offer: offer.zone)
            batches += [Batch(passed, in_order) for passed in verdict.passed]
        return batches, refusals

    def _verdict(self, offer: Offer) -> _Verdict:
        region = offer.region
        if not self._has_region(region):
            asked = ", ".join(self._ask.spec.where.regions)
            return _refused("region", f"{region} is not in the regions asked for ({asked})")
        ways = self._ask.ways.get(offer.buy)
        if ways is None:
            asked = ", ".join(allowed_buys(self._ask.spec))
            return _refused("buy", f"{offer.buy.value} is not among the ways to buy ({asked})")
        place = self._ask.circumstances.quota.place_of(offer.zone, region)
        label = offer.label
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
        passed: list[Passed] = []
        misses: list[Miss] = []
        metric = offer.quota_metric
        free = self._ask.circumstances.quota.left(place, metric)
        tariff = self._tariffs.of(offer.region)
        list_usd = offer.list_usd_per_h or 0.0
        has_budget = self._ask.spec.limits.budget_usd is not None
        for way in ways:
            unit = unit_usd_per_h(self._ask, offer, way)
            for estimate in self._estimates(offer, label, way):
                if isinstance(estimate, Miss):
                    misses.append(estimate)
                    continue
                if free is not None and estimate.gang.chips > free:
                    misses.append(quota_miss(estimate.gang, f"{place} has {free:g} of {metric}"))
                    continue
                miss = has_budget and self._budget_miss(
                    offer, estimate, tariff=tariff, unit_usd=unit
                )
                if miss:
                    misses.append(miss)
                    continue
                usd = expected_usd(tariff, estimate, unit_usd=unit, list_usd=list_usd)
                passed.append(Passed(label, way, estimate, tariff, unit, usd))
        if passed:
            return _Verdict(tuple(passed), [])
        nearest = max(misses, key=lambda miss: (STAGES.index(miss.code), -miss.ratio))
        return _refused(nearest.code, nearest.say())

    def _estimates(self, offer: Offer, label: str, way: Way) -> list[Estimate | Miss]:
        """For every number of nodes, whatever the zone."""
        found = self._times.get((label, way.name))
        if found is None:
            found = self._times[label, way.name] = [
                judge_time(self._ask, gang_with(offer, nodes), way) for nodes in self._ask.nodes
            ]
        return found

    def _budget_miss(
        self, offer: Offer, estimate: Estimate, *, tariff: Tariff, unit_usd: float
    ) -> Miss | None:
        budget = self._ask.spec.limits.budget_usd
        if budget is None or estimate.basis is not Basis.WORK:
            return None
        list_usd = offer.list_usd_per_h or 0.0
        rates = make_rates(tariff, estimate, unit_usd=unit_usd, list_usd=list_usd)
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
        return Miss("budget", usd / budget, say)


def _refused(code: str, sentence: str) -> _Verdict:
    return _Verdict((), [], code, sentence)


def gang_with(offer: Offer, nodes: int) -> Gang:
    """So many of this offer."""
    return Gang(
        machine=offer.machine,
        chip=offer.chip,
        chips_per_node=offer.chips,
        hosts_per_node=offer.hosts,
        nodes=nodes,
    )


def _usd_at(rates: Rates, estimate: Estimate, probability: float) -> float:
    return rates.usd(
        held_s=estimate.held_quantile_s(probability), wall_s=estimate.wall_quantile_s(probability)
    )
