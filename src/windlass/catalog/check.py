"""Judges a catalog file before it is used: whole, well formed, and with prices that can be.

Must not change anything. Every problem is told, not only the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

from windlass.catalog.container import Container, body
from windlass.catalog.load import OFFERS, decoded
from windlass.catalog.model import Buy, Offer
from windlass.catalog.query import CPU, Catalog
from windlass.catalog.shape import problems as problems_of_form
from windlass.catalog.tables import Complaints
from windlass.errors import CatalogUnusable
from windlass.spec.accelerators import canonical

# Nothing that is rented by the hour costs less than the one or more than the other, for each chip
# of an accelerator, or for each vCPU of a machine that has none.
CHIP_USD_PER_H = (0.01, 1_000.0)
VCPU_USD_PER_H = (0.0005, 10.0)
CONFIDENCES = frozenset({"high", "medium", "low"})
OTHER_USD_MAX = 10_000.0
UNITS = frozenset(
    """USD/GiB-month USD/GB-month USD/GiB USD/GB USD/MiB USD/hour USD/VM-hour USD/vCPU-hour
    USD/GiB-hour USD/GPU-hour USD/cluster-hour USD/gateway-hour USD/build-minute USD/run""".split()
) | {
    "USD/1000 operations",
    "USD/1000 objects-month",
    "USD/IOPS-month above 3000",
    "USD/(MiB/s)-month",
    "USD/(MiB/s)-month above 140",
    "fraction of the on-demand Compute Engine price",
}


def check(data: bytes, complaints: Complaints, *, where: str) -> Catalog:
    """The catalog of a file that may be used. What is odd, but can be, is left in the notes.

    Raises:
        CatalogRefused: with everything that is wrong with it.
    """
    container = _opened(data, complaints, where)
    if container.sha256 != sha256(body(data)).hexdigest():
        complaints.problems.append("the checksum does not match: the file is damaged")
    if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", container.snapshot):
        complaints.problems.append(f"{container.snapshot!r} is not the day of a snapshot")
    complaints.problems += problems_of_form(container, OFFERS)
    complaints.raise_if_any(where)
    catalog = decoded(container)
    complaints.problems += _loose_ends(catalog)
    complaints.raise_if_any(where)
    complaints.problems += _bad_prices(catalog)
    complaints.notes += _odd_prices(catalog)
    complaints.raise_if_any(where)
    return catalog


def _opened(data: bytes, complaints: Complaints, where: str) -> Container:
    try:
        return Container(data, where=where)
    except CatalogUnusable as exc:
        complaints.problems.append(exc.message)
        complaints.raise_if_any(where)
        raise


def _loose_ends(catalog: Catalog) -> Iterator[str]:
    """Names that lead nowhere."""
    for name in catalog.chips:
        if canonical(name) != name:
            yield f"this Windlass does not know the accelerator {name}"
    for label, machine in catalog.machines.items():
        if machine.chip is not None and machine.chip not in catalog.chips:
            yield f"{label}: there is no accelerator {machine.chip}"
        if machine.label != label:
            yield f"{label}: the machine is {machine.label}"
    for name, slice_ in catalog.slices.items():
        if slice_.chip not in catalog.chips or slice_.machine not in catalog.machines:
            yield f"{name}: there is no {slice_.chip}, or no {slice_.machine}"
        if slice_.chips != slice_.hosts * slice_.chips_per_host:
            yield f"{name}: {slice_.hosts} hosts do not have {slice_.chips} chips"
    yield from _loose_offers(catalog)
    yield from _loose_sources(catalog)


def _loose_offers(catalog: Catalog) -> Iterator[str]:
    for chip in catalog.shelf.chips():
        if chip != CPU and chip not in catalog.chips:
            yield f"offers of {chip}: there is no such accelerator"
            continue
        is_tpu = chip != CPU and catalog.chips[chip].is_tpu
        for label in catalog.shelf.labels(chip):
            if label not in (catalog.slices if is_tpu else catalog.machines):
                yield f"offers of {label}: it is described nowhere"


def _loose_sources(catalog: Catalog) -> Iterator[str]:
    for item in catalog.other_prices.items():
        try:
            found = catalog.other_prices.scopes(item)
        except IndexError:
            yield f"{item}: a price without a source"
            continue
        for unit in sorted({price.unit for price in found} - UNITS):
            yield f"{item}: {unit!r} is not a unit that Windlass knows"
        for confidence in sorted({price.confidence for price in found} - CONFIDENCES):
            yield f"{item}: a confidence of {confidence!r}"


def _bad_prices(catalog: Catalog) -> Iterator[str]:
    zones = set(catalog.zones)
    seen: set[str] = set()
    for offer in catalog.all_offers():
        if offer.id in seen:
            yield f"{offer.id} is there twice"
        seen.add(offer.id)
        if offer.zone not in zones:
            yield f"{offer.id}: {offer.zone} is not in the list of zones"
        if not _is_possible(offer):
            yield f"{offer.id}: {offer.usd_per_h:g} USD per hour cannot be"
    for price in catalog.other_prices:
        most = 1.0 if price.unit.startswith("fraction") else OTHER_USD_MAX
        if price.usd > most:
            yield f"{price.item} in {price.scope}: {price.usd:g} {price.unit} cannot be"
    for ssd in catalog.local_ssd.values():
        if not 0 < ssd.usd_per_gib_month < 10:
            yield f"Local SSD in {ssd.region}: {ssd.usd_per_gib_month:g} USD cannot be"


def _is_possible(offer: Offer) -> bool:
    least, most = CHIP_USD_PER_H if offer.chip else VCPU_USD_PER_H
    units = offer.chips if offer.chip else offer.machine.vcpus
    return least * units <= offer.usd_per_h <= most * units


def _odd_prices(catalog: Catalog) -> Iterator[str]:
    """What would be strange, and has been seen."""
    odd = [
        offer.id
        for offer in catalog.all_offers()
        if offer.buy is Buy.SPOT
        and offer.list_usd_per_h is not None
        and offer.usd_per_h > offer.list_usd_per_h
    ]
    if odd:
        yield f"{len(odd)} offers cost more on spot than on demand, such as {odd[0]}"
