"""How the catalog looks: rows of tables for people, documents for programs.

Must not leave keys out of a document: a value that is not there is null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from windlass.catalog.committed import DISCOUNTS, committed_usd_per_h
from windlass.catalog.model import Buy, Chip, Offer
from windlass.catalog.query import CPU, Catalog
from windlass.cli.words import plural

OFFERS_HEADER = (
    *("ZONE", "WHAT", "ACCELERATORS", "BUY", "USD/H", "PER CHIP"),
    *("VCPUS", "MEMORY", "NETWORK", "PRICE"),
)
OFFERS_RIGHT = frozenset({4, 5, 6, 7, 8})
CHIPS_HEADER = (
    *("NAME", "MEMORY", "TFLOP/S", "GB/S", "SCALE-UP", "ON DEMAND", "SPOT", "ZONES"),
    "RENTED AS",
)
CHIPS_RIGHT = frozenset({1, 2, 3, 4, 5, 6, 7})
ZONES_HEADER = ("ZONE", "OFFERS", "ACCELERATORS")
ZONES_RIGHT = frozenset({1})
LISTED_MAX = 6


def usd(amount: float | None) -> str:
    """Dollars, with the digits that matter."""
    if amount is None:
        return "-"
    return f"{amount:,.2f}" if amount >= 10 else f"{amount:.4f}"


def figure(value: float | None, unit: str = "") -> str:
    """A number that may not be known."""
    return "-" if value is None else f"{value:,g}{unit}"


def per_chip(offer: Offer) -> float | None:
    """Dollars an hour for each accelerator."""
    return offer.usd_per_h / offer.chips if offer.chips else None


def offer_row(offer: Offer) -> tuple[str, ...]:
    """One offer."""
    machine = offer.machine
    return (
        offer.zone,
        offer.label,
        _accelerators(offer),
        offer.buy.value,
        usd(offer.usd_per_h),
        usd(per_chip(offer)),
        figure(machine.vcpus * offer.hosts),
        figure(machine.memory_gib * offer.hosts, " GiB"),
        figure(machine.network_gbps, " Gbps"),
        offer.basis,
    )


def _accelerators(offer: Offer) -> str:
    if offer.chip is None:
        return "-"
    if offer.slice is None:
        return f"{offer.chips} x {offer.chip.name}"
    return f"{plural(offer.chips, 'chip')}, {plural(offer.hosts, 'host')}"


def offer_document(offer: Offer) -> dict[str, Any]:
    """One offer as --json shows it. Sizes are of one host; `hosts` says how many there are."""
    machine = offer.machine
    return {
        "id": offer.id,
        "zone": offer.zone,
        "region": offer.region,
        "what": offer.label,
        "machine": machine.name,
        "accelerator": offer.chip.name if offer.chip else None,
        "chips": offer.chips,
        "hosts": offer.hosts,
        "slice": offer.slice.accelerator_type if offer.slice else None,
        "topology": offer.slice.topology if offer.slice else None,
        "buy": offer.buy.value,
        "usd_per_h": offer.usd_per_h,
        "usd_per_chip_h": per_chip(offer),
        "list_usd_per_h": offer.list_usd_per_h,
        "committed_usd_per_h": {
            str(years): committed_usd_per_h(offer, years) for years in DISCOUNTS
        },
        "basis": offer.basis,
        "vcpus": machine.vcpus,
        "memory_gib": machine.memory_gib,
        "local_ssd_gib": machine.local_ssd_gib,
        "network_gbps": machine.network_gbps,
        "busbw_gb_per_s": machine.busbw_gb_per_s,
        "quota_metric": offer.quota_metric,
    }


def chip_document(catalog: Catalog, chip: Chip) -> dict[str, Any]:
    """One accelerator as --json shows it, with the cheapest hour of one chip for each way."""
    offers = catalog.offers_with(chip.name)
    return {
        "name": chip.name,
        "google_name": chip.google_name,
        "aliases": list(chip.aliases),
        "is_tpu": chip.is_tpu,
        "memory_gib": chip.memory_gib,
        "memory_gb_per_s": chip.memory_gb_per_s,
        "peak_tflops": chip.peak_tflops,
        "peak_fp8_tflops": chip.peak_fp8_tflops,
        "has_bf16": chip.has_bf16,
        "scale_up_gb_per_s": chip.scale_up_gb_per_s,
        "rented_as": list(catalog.counts(chip.name)),
        "machines": sorted({offer.machine.name for offer in offers}),
        "zones": len({offer.zone for offer in offers}),
        "usd_per_chip_h_from": {buy.value: _cheapest(offers, buy) for buy in Buy},
        "quota": {buy.value: chip.quota.get(buy) for buy in Buy},
        "gke_label": chip.gke_label,
        "source": chip.source,
    }


def chip_row(catalog: Catalog, chip: Chip) -> tuple[str, ...]:
    """One accelerator; prices are of the cheapest hour of one chip."""
    offers = catalog.offers_with(chip.name)
    return (
        chip.name,
        figure(chip.memory_gib, " GiB"),
        figure(chip.peak_tflops) + ("" if chip.has_bf16 or chip.peak_tflops is None else " fp16"),
        figure(chip.memory_gb_per_s),
        figure(chip.scale_up_gb_per_s),
        usd(_cheapest(offers, Buy.ON_DEMAND)),
        usd(_cheapest(offers, Buy.SPOT)),
        str(len({offer.zone for offer in offers})),
        _rented_as(catalog, chip),
    )


def _cheapest(offers: Iterable[Offer], buy: Buy) -> float | None:
    prices = (offer.usd_per_h / offer.chips for offer in offers if offer.buy is buy)
    return min(prices, default=None)


def _rented_as(catalog: Catalog, chip: Chip) -> str:
    counts = catalog.counts(chip.name)
    if not counts:
        return "no public price"
    shown = [str(count) for count in counts]
    if len(shown) > LISTED_MAX:
        shown = [*shown[: LISTED_MAX - 2], "...", shown[-1]]
    return f"{chip.name}{'-' if chip.is_tpu else ':'}{', '.join(shown)}"


def zone_documents(offers: Sequence[Offer]) -> list[dict[str, Any]]:
    """What each zone offers."""
    counts = Counter((offer.zone, offer.chip.name if offer.chip else CPU) for offer in offers)
    found: dict[str, dict[str, Any]] = {}
    for (zone, chip), count in counts.items():
        document = found.setdefault(
            zone,
            {"zone": zone, "region": zone.rpartition("-")[0], "offers": 0, "accelerators": []},
        )
        document["offers"] += count
        if chip != CPU:
            document["accelerators"].append(chip)
    return [found[zone] for zone in sorted(found)]


def zone_row(document: dict[str, Any]) -> tuple[str, ...]:
    """One zone."""
    return (
        document["zone"],
        str(document["offers"]),
        ", ".join(document["accelerators"]) or "-",
    )
