"""What a gang costs besides and including its machines: tariffs by region, rates by gang.

Must not invent a price: what the catalog has none for is named as unpriced, and makes the total a
lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from windlass.catalog.committed import committed_usd_per_h
from windlass.catalog.model import Offer
from windlass.catalog.prices import OtherPrices, Price
from windlass.planner.ask import Ask, Way
from windlass.planner.disks import Disk, boot_disk
from windlass.planner.egress import read_usd_per_gib
from windlass.planner.estimate import Estimate
from windlass.planner.history import HOUR

MONTH_H = 730.0
GIB = 2.0**30
BUCKET = "gs://"


class Tariff(NamedTuple):
    """What a region charges for what this spec needs beside machines; 0 for what is unpriced."""

    disk: str
    """What machines boot from."""
    disk_per_host_h: float
    nat_per_host_h: float
    """The same in every region; so the next."""
    nat_most_per_h: float
    storage_per_gib_h: float
    """Of a checkpoint's size: as many as are kept."""
    per_file: float
    reads: float
    """All datasets, once."""
    fee_share: float
    """Of the on-demand price."""
    unpriced: tuple[str, ...]


class Rates(NamedTuple):
    """What a gang costs, by what each part grows with."""

    machines_per_h: float
    """While machines are held; so the next three."""
    fee_per_h: float
    disk_per_h: float
    nat_per_h: float
    storage_per_h: float
    """From submit to the end."""
    operations: float
    """Once; so the next."""
    reads: float
    reserved_per_h: float = 0.0
    """Of machines that are billed whether or not they are used: no part of any total."""

    def usd(self, *, held_s: float, wall_s: float) -> float:
        """The total for these times."""
        held = self.machines_per_h + self.fee_per_h + self.disk_per_h + self.nat_per_h
        once = self.operations + self.reads
        return (held * held_s + self.storage_per_h * wall_s) / HOUR + once


class Tariffs:
    """Tariffs by region and boot disk, each made when it is first asked for."""

    def __init__(self, ask: Ask, prices: OtherPrices) -> None:
        self._ask = ask
        self._prices = prices
        self._made: dict[tuple[str, Disk], Tariff] = {}
        self._items: dict[str, Mapping[str, Price]] = {}

    def of(self, region: str, family: str) -> Tariff:
        """The tariff of a region for machines of a family."""
        key = region, boot_disk(family)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(*key)
        return made

    def _find(self, item: str, scope: str) -> Price | None:
        """The same as the catalog's, which makes all prices of an item each time it is asked."""
        found = self._items.get(item)
        if found is None:
            found = {price.scope: price for price in self._prices.scopes(item)}
            self._items[item] = found
        return found.get(scope)

    def _make(self, region: str, kind: Disk) -> Tariff:
        unpriced: list[str] = []
        find = self._find
        disk = find(kind.item, region)
        if disk is None:
            unpriced.append(f"boot disks ({kind.name}) in {region}")
        nat, cap = find("cloud_nat_gateway", "any"), find("cloud_nat_gateway_cap", "any")
        storage, per_file = self._checkpoints(region, unpriced)
        return Tariff(
            disk=kind.name,
            disk_per_host_h=disk_gib(self._ask) * disk.usd / MONTH_H if disk else 0.0,
            nat_per_host_h=nat.usd if nat else 0.0,
            nat_most_per_h=cap.usd if cap else 0.0,
            storage_per_gib_h=storage,
            per_file=per_file,
            reads=self._reads(region, unpriced),
            fee_share=self._fee_share(unpriced),
            unpriced=tuple(unpriced),
        )

    def _checkpoints(self, region: str, unpriced: list[str]) -> tuple[float, float]:
        checkpoint = self._ask.spec.checkpoint
        if checkpoint is None or self._ask.amount is None:
            return 0.0, 0.0
        price = self._find("gcs_standard", region)
        if checkpoint.to is not None and not checkpoint.to.startswith(BUCKET):
            unpriced.append(f"checkpoints in {checkpoint.to}")
        elif price is None:
            unpriced.append(f"checkpoints in {region}")
        else:
            write = self._find("gcs_class_a_standard", "region")
            return checkpoint.keep * price.usd / MONTH_H, write.usd / 1000 if write else 0.0
        return 0.0, 0.0

    def _reads(self, region: str, unpriced: list[str]) -> float:
        total = 0.0
        for name, url in self._ask.spec.data.items():
            place = self._ask.circumstances.places.get(name)
            price = read_usd_per_gib(place.location, region, self._prices) if place else None
            if "://" not in url:
                continue  # It travels with the run, or is there already.
            if not url.startswith(BUCKET) or place is None:
                unpriced.append(f"reading {url}: neither its place nor its size is known")
            elif price is None:
                unpriced.append(f"reading {url} from {place.location}")
            else:
                total += place.gib * price
        return total

    def _fee_share(self, unpriced: list[str]) -> float:
        if not self._ask.circumstances.is_managed:
            return 0.0
        fee = self._find("vertex_training_management_fee", "any")
        if fee is None:
            unpriced.append("the fee of the managed service")
        return fee.usd if fee else 0.0


def disk_gib(ask: Ask) -> float:
    """The disk of one host."""
    wanted = ask.spec.resources.disk_bytes
    return ask.priors.value("boot_disk") if wanted is None else wanted / GIB


def unit_usd_per_h(ask: Ask, offer: Offer, way: Way) -> float:
    """One VM or slice, with the discount of a commitment where there is one."""
    years = ask.circumstances.commitment_years
    if years is None or way.kind != way.buy.value:
        return offer.usd_per_h
    committed = committed_usd_per_h(offer, years)
    return offer.usd_per_h if committed is None else committed


def make_rates(
    tariff: Tariff, estimate: Estimate, *, unit_usd: float, list_usd: float, is_prepaid: bool
) -> Rates:
    """What this gang costs per hour and once, at this price of one node."""
    nodes, hosts = estimate.gang.nodes, estimate.gang.hosts
    size = estimate.checkpoint_gib or 0.0
    machines = unit_usd * nodes
    return Rates(
        0.0 if is_prepaid else machines,
        list_usd * tariff.fee_share * nodes,
        tariff.disk_per_host_h * hosts,
        min(tariff.nat_per_host_h * hosts, tariff.nat_most_per_h),
        tariff.storage_per_gib_h * size,
        tariff.per_file * estimate.files,
        tariff.reads,
        machines if is_prepaid else 0.0,
    )


def unpriced_of(tariff: Tariff, offer: Offer, estimate: Estimate) -> tuple[str, ...]:
    """What the total of this offer lacks."""
    found = tariff.unpriced
    if tariff.fee_share and offer.list_usd_per_h is None:
        found = (*found, "the fee of the managed service")
    if tariff.storage_per_gib_h and estimate.checkpoint_gib is None:
        found = (*found, "checkpoints of unknown size")
    return found
