"""Offers to candidates, or to exactly one refusal each.

Must not rank them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from windlass.catalog.model import Offer
from windlass.catalog.prices import OtherPrices
from windlass.planner.ask import Ask, Way, allowed_buys
from windlass.planner.cost import Rates, Tariff, Tariffs, make_rates, unit_usd_per_h, unpriced_of
from windlass.planner.estimate import Basis, Estimate
from windlass.planner.gang import Gang
from windlass.planner.misses import STAGES, Miss, TimeJudge, nodes_text, quota_miss
from windlass.planner.quantiles import P50, P90


class Lot(NamedTuple):
    """Offers that differ in nothing but their zone, bought one way."""

    label: str
    """The offers'."""
    way: Way
    tariff: Tariff
    unit_usd_per_h: float
    """One node, after discounts."""
    offers: Sequence[Offer]
    """In order of their zones."""
    estimates: Sequence[Estimate]
    """For every number of nodes that will do."""
    usds: Sequence[float]
    """The expected dollars of each."""

    def rates(self, estimate: Estimate) -> Rates:
        """What so many nodes cost, part by part."""
        return make_rates(
            self.tariff,
            estimate,
            unit_usd=self.unit_usd_per_h,
            list_usd=self.offers[0].list_usd_per_h or 0.0,
            is_prepaid=self.way.is_prepaid,
        )

    def usd(self, estimate: Estimate) -> float:
        """The expected dollars of so many nodes, in all."""
        return self.rates(estimate).usd(held_s=estimate.held_s, wall_s=estimate.wall_s)


class Candidate(NamedTuple):
    """An offer with a number of nodes that satisfies the spec, and what to expect of it."""

    offer: Offer
    lot: Lot
    estimate: Estimate
    usd: float
    """Expected, in all."""

    @property
    def id(self) -> str:
        """The offer's, in the words of the spec: `us-central1-a/a3-highgpu-8g/spot`."""
        return f"{self.offer.zone}/{self.lot.label}/{self.lot.way.name}"

    @property
    def label(self) -> str:
        """The offer's."""
        return self.lot.label

    @property
    def way(self) -> Way:
        """How it is bought."""
        return self.lot.way

    @property
    def unit_usd_per_h(self) -> float:
        """One node, after discounts."""
        return self.lot.unit_usd_per_h

    @property
    def nodes(self) -> int:
        """Of the gang; slices, for TPUs."""
        return self.estimate.gang.nodes

    @property
    def rates(self) -> Rates:
        """What it costs, part by part."""
        return self.lot.rates(self.estimate)

    @property
    def reserved_usd(self) -> float:
        """What its reserved machines are billed in that time, whether or not they are used."""
        return self.rates.reserved_per_h * self.estimate.held_h

    @property
    def unpriced(self) -> tuple[str, ...]:
        """What the dollars lack; they are a lower bound when there is anything."""
        return unpriced_of(self.lot.tariff, self.offer, self.estimate)

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
    way: Way | None = None
    """How it was to be bought, and on how many nodes, where it came to that."""
    nodes: int | None = None
    ratio: float = 1.0
    """How far off that is; comparable among refusals with the same code."""


class _Missed(NamedTuple):
    """A miss, and of what."""

    miss: Miss
    way: Way
    nodes: int


class Judge:
    """Judges offers; what they share is found once."""

    def __init__(self, ask: Ask, prices: OtherPrices) -> None:
        self._ask = ask
        self._tariffs = Tariffs(ask, prices)
        self._allowed: dict[str, bool] = {}
        self._times: dict[tuple[str, str], tuple[list[_Row], list[_Missed]]] = {}

    def judge(self, offers: Iterable[Offer]) -> tuple[list[Lot], list[Refusal]]:
        """What will do, and refusals; each offer is in exactly one of the two."""
        refusals: list[Refusal] = []
        alike: dict[tuple[str, str, float, float | None, str], list[Offer]] = {}
        quota = self._ask.circumstances.quota
        for offer in offers:
            refusal = self._refused(offer)
            if refusal is not None:
                refusals.append(refusal)
                continue
            place = quota.place_of(offer.zone, offer.region)
            key = (offer.label, offer.buy.value, offer.usd_per_h, offer.list_usd_per_h, place)
            alike.setdefault(key, []).append(offer)
        lots: list[Lot] = []
        for (label, _, _, _, place), zones in alike.items():
            zones.sort(key=lambda offer: offer.zone)
            found, misses = self._lots(label, zones, place=place)
            lots += found
            if not found:
                miss, way, nodes = _nearest(misses)
                said = miss.say()
                refusals += [
                    Refusal(zone, miss.code, said, way, nodes, miss.ratio) for zone in zones
                ]
        return lots, refusals

    def _refused(self, offer: Offer) -> Refusal | None:
        """Where or how the spec does not want it."""
        region = offer.region
        is_allowed = self._allowed.get(region)
        if is_allowed is None:
            is_allowed = self._allowed[region] = self._ask.has_region(region)
        if not is_allowed:
            asked = ", ".join(self._ask.spec.where.regions)
            return Refusal(offer, "region", f"{region} is not in the regions asked for ({asked})")
        if offer.buy not in self._ask.ways:
            asked = ", ".join(allowed_buys(self._ask.spec))
            said = f"{offer.buy.value} is not among the ways to buy ({asked})"
            return Refusal(offer, "buy", said)
        return None

    def _lots(
        self, label: str, zones: Sequence[Offer], *, place: str
    ) -> tuple[list[Lot], list[_Missed]]:
        """What will do of these, and what will not."""
        offer = zones[0]
        lots: list[Lot] = []
        misses: list[_Missed] = []
        tariff = self._tariffs.of(offer.region, offer.machine.family)
        for way in self._ask.ways[offer.buy]:
            rows, missed = self._rows(offer, label, way, tariff=tariff)
            misses += missed
            rows = self._within_quota(rows, offer, place=place, way=way, misses=misses)
            unit = unit_usd_per_h(self._ask, offer, way)
            if self._ask.spec.limits.budget_usd is not None:
                lot = Lot(label, way, tariff, unit, zones, (), ())
                rows = self._within_budget(rows, lot, misses)
            if rows:
                estimates = [row[0] for row in rows]
                usds = _dollars(rows, offer, way, tariff=tariff, unit_usd=unit)
                lots.append(Lot(label, way, tariff, unit, zones, estimates, usds))
        return lots, misses

    def _rows(
        self, offer: Offer, label: str, way: Way, *, tariff: Tariff
    ) -> tuple[list[_Row], list[_Missed]]:
        """For every number of nodes, whatever the zone; also what the same costs everywhere."""
        found = self._times.get((label, way.name))
        if found is None:
            rows: list[_Row] = []
            missed: list[_Missed] = []
            times = TimeJudge(self._ask, gang_with(offer, 1), way)
            for nodes in self._ask.nodes:
                judged = times.on(nodes)
                if isinstance(judged, Miss):
                    missed.append(_Missed(judged, way, nodes))
                else:
                    rows.append(_row(judged, tariff))
            found = self._times[label, way.name] = (rows, missed)
        return found

    def _within_quota(
        self, rows: list[_Row], offer: Offer, *, place: str, way: Way, misses: list[_Missed]
    ) -> list[_Row]:
        metric = offer.quota_metric
        free = self._ask.circumstances.quota.left(place, metric)
        if free is None:
            return rows
        kept = []
        for row in rows:
            gang = row[0].gang
            if gang.chips <= free:
                kept.append(row)
            else:
                miss = quota_miss(gang, f"{place} has {free:g} of {metric}")
                misses.append(_Missed(miss, way, gang.nodes))
        return kept

    def _within_budget(self, rows: list[_Row], lot: Lot, misses: list[_Missed]) -> list[_Row]:
        kept = []
        for row in rows:
            miss = self._budget_miss(lot, row[0])
            if miss is None:
                kept.append(row)
            else:
                misses.append(_Missed(miss, lot.way, row[0].gang.nodes))
        return kept

    def _budget_miss(self, lot: Lot, estimate: Estimate) -> Miss | None:
        budget = self._ask.spec.limits.budget_usd
        if budget is None or estimate.basis is not Basis.WORK:
            return None
        rates = lot.rates(estimate)
        least = rates.usd(held_s=estimate.least_held_s, wall_s=estimate.course.least_s)
        if least <= budget and _usd_at(rates, estimate, P90) <= budget:
            return None

        def say() -> str:
            at_p90 = _usd_at(rates, estimate, P90)
            return (
                f"it costs {at_p90:,.2f} USD at P90 on {nodes_text(estimate.gang)}; the budget is "
                f"{budget:,.2f} USD"
            )

        return Miss("budget", lot.usd(estimate) / budget, say)


_Row = tuple[Estimate, float, float, float, int, float]
"""An estimate with what it is billed by, unpacked, and its NAT in dollars."""


def _row(estimate: Estimate, tariff: Tariff) -> _Row:
    nat = min(tariff.nat_per_host_h * estimate.gang.hosts, tariff.nat_most_per_h)
    billed = (estimate.node_h, estimate.host_h, estimate.kept_gib_h, estimate.files)
    return (estimate, *billed, nat * estimate.held_h)


def _dollars(
    rows: Sequence[_Row], offer: Offer, way: Way, *, tariff: Tariff, unit_usd: float
) -> list[float]:
    """The same as the lot's `usd` for each, in one go: this is most of the work of a plan."""
    fee = (offer.list_usd_per_h or 0.0) * tariff.fee_share
    per_node_h = fee if way.is_prepaid else unit_usd + fee
    disk, storage, per_file = tariff.disk_per_host_h, tariff.storage_per_gib_h, tariff.per_file
    reads = tariff.reads
    return [
        per_node_h * node_h + disk * host_h + storage * gib_h + per_file * files + nat + reads
        for _, node_h, host_h, gib_h, files, nat in rows
    ]


def _nearest(misses: Iterable[_Missed]) -> _Missed:
    """The one that is least far from a candidate."""
    return max(misses, key=lambda one: (STAGES.index(one.miss.code), -one.miss.ratio))


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
