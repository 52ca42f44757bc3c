"""What a thing at Google costs in a day, by the catalog's prices.

Must not guess: what has no price is None, and is said to be unpriced. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from windlass.catalog.model import Buy, Offer
from windlass.catalog.query import Catalog
from windlass.governance.holdings import Holding

HOURS = 24.0
DAYS_PER_MONTH = 730 / HOURS
BUYS = {
    "STANDARD": Buy.ON_DEMAND,
    "SPOT": Buy.SPOT,
    "FLEX_START": Buy.FLEX_START,
    "RESERVATION_BOUND": Buy.CALENDAR,
}
DISK_ITEMS = {
    "pd-balanced": "pd_balanced",
    "pd-ssd": "pd_ssd",
    "pd-standard": "pd_standard",
    "hyperdisk-balanced": "hyperdisk_balanced_capacity",
    "hyperdisk-ml": "hyperdisk_ml_capacity",
}
FREE = frozenset({"network", "subnetwork", "firewall", "placement", "template", "group", "queued"})
"""What costs nothing by itself: a group's and a queued resource's machines are counted alone."""
OFF = frozenset({"TERMINATED", "STOPPED", "SUSPENDED"})


class Prices:
    """Prices of what is held."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def usd_per_day(self, holding: Holding) -> float | None:
        """Before discounts, and without what flows or is stored."""
        if holding.kind in FREE:
            return 0.0
        kinds = {
            "instance": self._instance,
            "slice": self._slice,
            "training": self._training,
            "disk": self._disk,
            "address": self._address,
            "router": self._router,
        }
        price = kinds.get(holding.kind)
        return price(holding) if price else None

    def _instance(self, holding: Holding) -> float | None:
        raw = holding.raw
        if raw.get("status") in OFF:
            return 0.0  # Its disks are counted alone.
        scheduling = raw.get("scheduling") or {}
        buy = BUYS.get(str(scheduling.get("provisioningModel", "STANDARD")))
        guests = raw.get("guestAccelerators") or ()
        return self._machine(holding.place, _last(raw.get("machineType")), buy, guests)

    def _machine(
        self, zone: str, machine: str, buy: Buy | None, guests: Iterable[Mapping[str, Any]]
    ) -> float | None:
        """N1's accelerators are attached to it: the offer is the one with that many."""
        chips = sum(int(one.get("acceleratorCount", 0)) for one in guests)
        kinds = {_last(one.get("acceleratorType")) for one in guests}
        labels = [
            one.label
            for one in self._catalog.machines.values()
            if one.name == machine and (one.family != "n1" or self._has(one.label, kinds, chips))
        ]
        for label in labels:
            offer = self._offer(zone, label, buy)
            if offer is not None:
                return offer.usd_per_h * HOURS
        return None

    def _has(self, label: str, kinds: set[str], chips: int) -> bool:
        machine = self._catalog.machines[label]
        if machine.chip is None:
            return chips == 0
        return machine.chips == chips and self._catalog.chips[machine.chip].google_name in kinds

    def _offer(self, zone: str, label: str, buy: Buy | None) -> Offer | None:
        return self._catalog.offer(f"{zone}/{label}/{buy.value}") if buy else None

    def _slice(self, holding: Holding) -> float | None:
        scheduling = holding.raw.get("schedulingConfig") or {}
        is_spot = scheduling.get("spot") or scheduling.get("preemptible")
        buy = Buy.SPOT if is_spot else Buy.ON_DEMAND
        kind = str(holding.raw.get("acceleratorType", ""))
        for one in self._catalog.slices.values():
            offer = self._offer(holding.place, one.name, buy)
            if one.accelerator_type == kind and offer is not None:
                return offer.usd_per_h * HOURS
        return None

    def _training(self, holding: Holding) -> float | None:
        """Vertex AI chooses the zone: the cheapest of the region, before its own fee."""
        spec = holding.raw.get("jobSpec") or {}
        strategy = str((spec.get("scheduling") or {}).get("strategy", "STANDARD"))
        buy = BUYS.get("STANDARD" if strategy in ("ON_DEMAND", "") else strategy, Buy.ON_DEMAND)
        total = 0.0
        for pool in spec.get("workerPoolSpecs") or ():
            machine = (pool.get("machineSpec") or {}).get("machineType", "")
            offers = [
                one.usd_per_h
                for one in self._catalog.offers(machine=machine)
                if one.region == holding.place and one.buy is buy
            ]
            if not offers:
                return None
            total += min(offers) * int(pool.get("replicaCount", 1)) * HOURS
        return total

    def _disk(self, holding: Holding) -> float | None:
        item = DISK_ITEMS.get(_last(holding.raw.get("type")))
        region = holding.place.rpartition("-")[0] if _is_zone(holding.place) else holding.place
        price = self._catalog.other_prices.find(item, region, "any") if item else None
        size = float(holding.raw.get("sizeGb", 0))
        return price.usd * size / DAYS_PER_MONTH if price else None

    def _address(self, holding: Holding) -> float | None:
        if holding.raw.get("addressType") == "INTERNAL":
            return 0.0
        is_used = holding.raw.get("status") == "IN_USE"
        item = "external_ipv4_standard_vm" if is_used else "external_ipv4_unused"
        price = self._catalog.other_prices.find(item, holding.place, "any")
        return price.usd * HOURS if price else None

    def _router(self, holding: Holding) -> float | None:
        """At the most: a NAT costs by the machines that use it, up to a cap."""
        nats = len(holding.raw.get("nats") or ())
        price = self._catalog.other_prices.find("cloud_nat_gateway_cap", "any")
        return price.usd * HOURS * nats if price else None


def _last(url: Any) -> str:
    return str(url or "").rpartition("/")[2]


def _is_zone(place: str) -> bool:
    return place.count("-") == 2
