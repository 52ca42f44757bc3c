"""Judges offers: each becomes candidates, or exactly one refusal.

Must not rank them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from windlass.catalog.model import Offer
from windlass.catalog.prices import OtherPrices
from windlass.planner.ask import Ask, Way, allowed_buys
from windlass.planner.candidates import Lot, Refusal, gang_with, usd_at
from windlass.planner.cost import Tariff, Tariffs, unit_usd_per_h
from windlass.planner.estimate import Basis, Estimate
from windlass.planner.misses import STAGES, Miss, TimeJudge, nodes_text, quota_miss
from windlass.planner.quantiles import P90


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
        unsold = self._ask.circumstances.unsold
        if unsold is not None and (said := unsold(offer)):
            return Refusal(offer, "unsold", said)
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
        if least <= budget and usd_at(rates, estimate, P90) <= budget:
            return None

        def say() -> str:
            at_p90 = usd_at(rates, estimate, P90)
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
