"""Picks the offers that a person asks for on the command line.

Must not rank by anything but what was asked: `windlass plan` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from windlass.catalog.absent import why_absent
from windlass.catalog.committed import committed_usd_per_h
from windlass.catalog.model import Offer
from windlass.catalog.query import Catalog
from windlass.errors import OptionRefused
from windlass.spec.accelerators import TPUS, canonical
from windlass.spec.accelerators import accelerators as read
from windlass.spec.model import ANY_GPU, Accelerators
from windlass.spec.refused import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What offers must be like; what is empty does not matter."""

    accelerators: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    buys: tuple[str, ...] = ()
    machine: str | None = None
    max_price: float | None = None
    committed: str | None = None
    """Years."""


def matching(catalog: Catalog, asked: Asked) -> list[Offer]:
    """Every offer that passes; all of them when nothing is asked."""
    offers = _with_accelerators(catalog, asked.accelerators)
    if asked.committed is not None:
        offers = _committed(offers, int(asked.committed))
    return [offer for offer in offers if _passes(offer, asked)]


def _passes(offer: Offer, asked: Asked) -> bool:
    if asked.buys and offer.buy.value not in asked.buys:
        return False
    if asked.machine is not None and asked.machine not in (offer.machine.name, offer.label):
        return False
    if asked.max_price is not None and offer.usd_per_h > asked.max_price:
        return False
    return not asked.regions or any(
        fnmatchcase(place, pattern)
        for pattern in asked.regions
        for place in (offer.region, offer.zone)
    )


def _with_accelerators(catalog: Catalog, written: Sequence[str]) -> list[Offer]:
    """Offers with one of these; a name without a number means any number."""
    if not written:
        return list(catalog.all_offers())
    found: dict[str, Offer] = {}
    for text in written:
        name = canonical(text)
        if name is None:
            offers = catalog.offers(accelerators=[_counted(text)])
        elif name == ANY_GPU:
            offers = [o for o in catalog.all_offers() if o.chip and not o.chip.is_tpu]
        else:
            offers = catalog.offers_with(name)
        found.update((offer.id, offer) for offer in offers)
    return list(found.values())


def _committed(offers: Sequence[Offer], years: int) -> list[Offer]:
    """What can be committed to, at the price of whoever does."""
    found = []
    for offer in offers:
        price = committed_usd_per_h(offer, years)
        if price is not None:
            basis = f"{years} year" if years == 1 else f"{years} years"
            found.append(replace(offer, usd_per_h=price, basis=basis))
    return found


def model_name(text: str) -> str:
    """The canonical name of an accelerator that is written with a number or without."""
    return canonical(text) or _counted(text).name


def _counted(text: str) -> Accelerators:
    try:
        return read(text)
    except Refused as refused:
        raise OptionRefused(refused.message, remedy=refused.remedy) from refused


def order(sort: str) -> Callable[[Offer], tuple[Any, ...]]:
    """The key to sort offers by."""
    if sort == "zone":
        return lambda offer: (offer.zone, offer.label, offer.usd_per_h)
    if sort == "chip":
        return lambda offer: (offer.usd_per_h / (offer.chips or 1), offer.id)
    return lambda offer: (offer.usd_per_h, offer.id)


def why_none(catalog: Catalog, asked: Asked) -> str:
    """Why nothing passed, as far as the catalog knows."""
    reasons = []
    for text in asked.accelerators:
        name = canonical(text)
        wanted = _most(name) if name else _counted(text)
        reason = why_absent(catalog, wanted)
        if reason:
            reasons.append(f"{text}: {reason}.")
    return "\n".join(reasons) or "No offer passes all of these; leave one out."


def _most(name: str) -> Accelerators:
    """Any number of a model will do to ask whether it is rented at all."""
    is_tpu = name in TPUS
    return Accelerators(name=name, count=TPUS[name][0] if is_tpu else 8, is_tpu=is_tpu)
