"""What the twin's machines have cost, by the catalog's prices.

Must not guess: what has no price is counted apart, in hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from windlass.catalog.model import Buy
from windlass.twin.market import Model, Wanted

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.cloud import Cloud

HOUR = 3600.0
MANAGEMENT_FEE = "vertex_training_management_fee"
BUYS = {
    Model.STANDARD: Buy.ON_DEMAND,
    Model.SPOT: Buy.SPOT,
    Model.FLEX_START: Buy.FLEX_START,
    Model.RESERVED: Buy.ON_DEMAND,
}


class Billing:
    """Adds up what machines cost when they end."""

    def __init__(self, cloud: Cloud, *, catalog: Catalog) -> None:
        self._lines = cloud.documents("bill")
        self._catalog = catalog
        self._prices: dict[tuple[Wanted, bool], float | None] = {}
        fees = (one.usd for one in catalog.other_prices if one.item == MANAGEMENT_FEE)
        self._fee_share = next(fees, 0.0)

    def usd_per_h(self, wanted: Wanted, *, is_managed: bool = False) -> float | None:
        """The price of one such machine; None where the catalog has none. For those that a service
        manages with its fee, which is a share of what they cost on demand, however bought."""
        key = (wanted, is_managed)
        if key not in self._prices:
            self._prices[key] = self._looked_up(wanted, self._fee_share if is_managed else 0.0)
        return self._prices[key]

    def charge(
        self,
        wanted: Wanted,
        *,
        seconds: float,
        labels: Mapping[str, str],
        is_managed: bool = False,
    ) -> None:
        """A machine ran for so long."""
        price = self.usd_per_h(wanted, is_managed=is_managed)
        run = labels.get("windlass-run", "")
        key = f"{wanted.zone}/{wanted.type}/{wanted.model.value}/{run}"
        line = self._lines.get(key) or {"hours": 0.0, "usd": 0.0, "is_priced": price is not None}
        line["hours"] += seconds / HOUR
        line["usd"] += seconds / HOUR * (price or 0.0)
        self._lines.put(key, line)

    def lines(self) -> list[dict[str, Any]]:
        """Hours and dollars by zone, type, model and run."""
        found = []
        for key, line in self._lines.items():
            zone, type_, model, run = key.split("/", 3)
            found.append({"zone": zone, "type": type_, "model": model, "run": run, **line})
        return found

    def total_usd(self) -> float:
        """Of everything that has a price."""
        return sum(float(line["usd"]) for _, line in self._lines.items())

    def _looked_up(self, wanted: Wanted, fee_share: float) -> float | None:
        buy = BUYS[wanted.model]
        for label in self._labels(wanted):
            offer = self._catalog.offer(f"{wanted.zone}/{label}/{buy.value}")
            if offer is not None:
                return offer.usd_per_h + fee_share * (offer.list_usd_per_h or 0.0)
        return None

    def _labels(self, wanted: Wanted) -> list[str]:
        """What the catalog may call it: a machine, one with GPUs attached, or a TPU slice."""
        chips = {chip.google_name: chip.name for chip in self._catalog.chips.values()}
        slices = (
            one.name for one in self._catalog.slices.values() if one.accelerator_type == wanted.type
        )
        return [f"{wanted.type}+{chips.get(wanted.chip)}:{wanted.chips}", wanted.type, *slices]
