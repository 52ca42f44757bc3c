"""What offers become: candidates, in lots that share all but the zone, or refusals.

Must not judge (judge.py does) nor rank (ranking.py does).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from windlass.catalog.model import Offer
from windlass.planner.ask import Way
from windlass.planner.cost import Rates, Tariff, make_rates, unpriced_of
from windlass.planner.estimate import Estimate
from windlass.planner.gang import Gang
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
        return usd_at(self.rates, self.estimate, P50)

    @property
    def usd_p90(self) -> float:
        """Nine tenths of all such runs cost at most this."""
        return usd_at(self.rates, self.estimate, P90)


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


def gang_with(offer: Offer, nodes: int) -> Gang:
    """So many of this offer."""
    return Gang(
        machine=offer.machine,
        chip=offer.chip,
        chips_per_node=offer.chips,
        hosts_per_node=offer.hosts,
        nodes=nodes,
    )


def usd_at(rates: Rates, estimate: Estimate, probability: float) -> float:
    """P50 or P90 of the dollars: those of the same quantile of its times."""
    return rates.usd(
        held_s=estimate.held_quantile_s(probability), wall_s=estimate.wall_quantile_s(probability)
    )
