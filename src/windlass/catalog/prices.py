"""What a run costs besides its machines, with the source of each price; Local SSD; images.

Must not guess: an item that is not priced for a place is not found. The values are NamedTuples,
not dataclasses: defining one costs an eighth, and every command that plans pays for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol


class Price(NamedTuple):
    """One price of Google's list, and how well it is known."""

    item: str
    """Such as `gcs_standard` or `network_inter_region`."""
    scope: str
    """A region, `any`, a class of location, a named location, or two continents `a|b`."""
    usd: float
    unit: str
    """Such as `USD/GiB-month`; a fraction where the unit says so."""
    source: str
    date: str
    """The day, month or year of the price; empty when it is not known."""
    confidence: str
    """`high`, `medium` or `low`."""


class PriceRows(Protocol):
    """Prices by item, made when they are asked for."""

    def items(self) -> Sequence[str]:
        """Every item that has a price."""

    def scopes(self, item: str) -> Mapping[str, Price]:
        """The prices of an item by scope; empty when it has none."""


class OtherPrices:
    """Prices of storage, network, disks, addresses, logging and managed services."""

    __slots__ = ("_rows",)

    def __init__(self, rows: PriceRows) -> None:
        self._rows = rows

    def find(self, item: str, *scopes: str) -> Price | None:
        """The price of an item in the first of these scopes that has one."""
        priced = self._rows.scopes(item)
        return next((priced[scope] for scope in scopes if scope in priced), None)

    def items(self) -> Sequence[str]:
        """Every item that has a price."""
        return self._rows.items()

    def scopes(self, item: str) -> Sequence[Price]:
        """Every price of an item."""
        return tuple(self._rows.scopes(item).values())

    def __iter__(self) -> Iterator[Price]:
        for item in self._rows.items():
            yield from self._rows.scopes(item).values()


class LocalSsdPrice(NamedTuple):
    """Local SSD of one region, per GiB and month of 730 hours."""

    region: str
    usd_per_gib_month: float
    spot_usd_per_gib_month: float | None


class Image(NamedTuple):
    """A VM image, an image family, or a TPU runtime version."""

    kind: str
    """`vm_image`, `vm_image_family` or `tpu_runtime`."""
    name: str
    project: str | None
    os: str
    os_version: str
    arch: str
    chips: tuple[str, ...]
    """Canonical names of the accelerators that it is for; empty for none."""
    notes: str
    source: str
