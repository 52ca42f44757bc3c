"""Reads a catalog file into values, each part when it is first looked at.

Must not check what was checked before it was installed (check.py) nor write anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from windlass.catalog.container import REMEDY, Container
from windlass.catalog.model import Buy, Chip, Machine, Offer, Slice
from windlass.catalog.prices import Image, LocalSsdPrice, OtherPrices, Price
from windlass.catalog.query import CPU, Catalog
from windlass.errors import CatalogUnusable

PACKAGED = Path(__file__).with_name("data") / "gcp.catalog"
NEWER = "newer.catalog"
FORCED = "forced.catalog"
"""An older one that somebody wants all the same."""
OFFERS = "offers:"
"""The sections of offers are named after the chip: `offers:H100`; `offers:` has CPU machines."""

Value = TypeVar("Value")


def load_catalog(path: Path | None = None) -> Catalog:
    """The catalog in a file, or the one that came with Windlass.

    Raises:
        CatalogUnusable: the file cannot be read, is damaged, or is of another version.
    """
    return decoded(Container(_read(path or PACKAGED), where=str(path or PACKAGED)))


def chosen(folder: Path) -> Path:
    """The file to use: one that was installed into this folder, or the one of Windlass.

    One that was installed gives way when Windlass itself comes with newer prices.
    """
    forced, newer = folder / FORCED, folder / NEWER
    if forced.exists():
        return forced
    is_newer = newer.exists() and snapshot_of(newer) >= snapshot_of(PACKAGED)
    return newer if is_newer else PACKAGED


def snapshot_of(path: Path) -> str:
    """The day that the prices of a file are of."""
    return Container(_read(path), where=str(path)).snapshot


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        message = f"the catalog {path} cannot be read: {exc.strerror}"
        raise CatalogUnusable(message, remedy=REMEDY) from exc


def decoded(container: Container) -> Catalog:
    """The catalog of an opened file."""
    facts = _Facts(container)
    return Catalog(facts, _Sections(container, facts))


class _Facts:
    """The tables of a file."""

    def __init__(self, container: Container) -> None:
        self.snapshot = container.snapshot
        self.chips = _Table(container, "chips", _chip)
        self.machines = _Table(container, "machines", _machine)
        self.slices = _Table(container, "slices", _slice)
        self.zones = tuple(container.section("zones"))
        self.other_prices = OtherPrices(_PriceSection(container))
        self.local_ssd = _Table(container, "local_ssd", _local_ssd)
        self.images = _Images(container)


class _Table(Mapping[str, Value], Generic[Value]):
    """One section, whose rows become values when they are asked for."""

    def __init__(
        self, container: Container, section: str, decode: Callable[[str, Any], Value]
    ) -> None:
        self._rows: Callable[[], dict[str, Any]] = cache(lambda: container.section(section))
        self._decode = decode
        self._made: dict[str, Value] = {}

    def __getitem__(self, key: str) -> Value:
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._decode(key, self._rows()[key])
        return made

    def __contains__(self, key: object) -> bool:
        return key in self._rows()

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows())

    def __len__(self) -> int:
        return len(self._rows())


class _Sections:
    """Offers by chip and label, straight from the file."""

    def __init__(self, container: Container, facts: _Facts) -> None:
        self._container = container
        self._facts = facts
        self._chips = tuple(
            name.removeprefix(OFFERS) for name in container.names if name.startswith(OFFERS)
        )
        self._rows: dict[str, dict[str, list[Any]]] = {}
        self._made: dict[str, tuple[Offer, ...]] = {}

    def chips(self) -> Sequence[str]:
        return self._chips

    def labels(self, chip: str) -> Sequence[str]:
        return tuple(self._section(chip))

    def offers(self, chip: str, label: str) -> Sequence[Offer]:
        made = self._made.get(label)
        if made is None:
            made = self._made[label] = tuple(self._decode(chip, label))
        return made

    def _section(self, chip: str) -> dict[str, list[Any]]:
        if chip not in self._rows:
            is_sold = chip in self._chips
            self._rows[chip] = self._container.section(f"{OFFERS}{chip}") if is_sold else {}
        return self._rows[chip]

    def _decode(self, chip: str, label: str) -> Iterator[Offer]:
        model = None if chip == CPU else self._facts.chips[chip]
        slice_ = self._facts.slices[label] if model and model.is_tpu else None
        machine = self._facts.machines[slice_.machine if slice_ else label]
        for region, zones, on_demand, spot, *more in self._section(chip)[label]:
            listed, flex_start, calendar, basis = more or (None, None, None, "")
            listed = on_demand if on_demand is not None else listed
            prices = [
                (buy, usd, said)
                for buy, usd, said in (
                    (Buy.ON_DEMAND, on_demand, "list"),
                    (Buy.SPOT, spot, "list"),
                    (Buy.FLEX_START, flex_start, basis),
                    (Buy.CALENDAR, calendar, basis),
                )
                if usd is not None
            ]
            for suffix in zones.split(",") if zones else ():
                for buy, usd, said in prices:
                    yield Offer(
                        zone=f"{region}-{suffix}",
                        region=region,
                        machine=machine,
                        chip=model,
                        slice=slice_,
                        buy=buy,
                        usd_per_h=usd,
                        list_usd_per_h=listed,
                        basis=said,
                    )


class _PriceSection:
    """Other prices, straight from the file."""

    def __init__(self, container: Container) -> None:
        self._load: Callable[[], dict[str, Any]] = cache(lambda: container.section("other_prices"))

    def items(self) -> Sequence[str]:
        return tuple(self._load()["items"])

    def scopes(self, item: str) -> Mapping[str, Price]:
        section = self._load()
        if item not in section["items"]:
            return {}
        unit, rows = section["items"][item]
        found = {}
        for scope, usd, number in rows:
            source, date, confidence = section["sources"][number]
            found[scope] = Price(
                item=item,
                scope=scope,
                usd=usd,
                unit=unit,
                source=source,
                date=date,
                confidence=confidence,
            )
        return found


class _Images(Sequence[Image]):
    """Images, made together when the first is asked for."""

    def __init__(self, container: Container) -> None:
        self._made: Callable[[], list[Image]] = cache(
            lambda: [_image(row) for row in container.section("images")]
        )

    def __getitem__(self, index: Any) -> Any:
        return self._made()[index]

    def __len__(self) -> int:
        return len(self._made())


def _chip(name: str, row: dict[str, Any]) -> Chip:
    bf16, fp16 = row["peak_bf16_tflops"], row["peak_fp16_tflops"]
    spot = row["quota_spot"]
    return Chip(
        name=name,
        is_tpu=row["kind"] == "tpu",
        google_name=row["google_name"],
        aliases=tuple(row["aliases"]),
        memory_gib=row["memory_gib"],
        memory_gb_per_s=row["memory_gb_per_s"],
        peak_tflops=bf16 if bf16 is not None else fp16,
        peak_fp8_tflops=row["peak_fp8_tflops"],
        has_bf16=bf16 is not None,
        scale_up_gb_per_s=row["scale_up_gb_per_s"],
        # Flex-start spends the quota of spot. What calendar mode spends is not published.
        quota={
            Buy.ON_DEMAND: row["quota_on_demand"],
            Buy.SPOT: spot,
            Buy.FLEX_START: spot,
            Buy.CALENDAR: None,
        },
        gke_label=row["gke_label"],
        source=row["source"],
    )


def _machine(_: str, row: list[Any]) -> Machine:
    name, family, chip, chips, vcpus, memory, ssd, nics, gbps, direct, busbw, buys, compact = row
    return Machine(
        name=name,
        family=family,
        chip=chip,
        chips=chips,
        vcpus=vcpus,
        memory_gib=memory,
        local_ssd_gib=ssd,
        nics=nics,
        network_gbps=gbps,
        gpu_direct=direct,
        busbw_gb_per_s=busbw,
        supports=frozenset(Buy(buy) for buy in buys),
        has_compact_placement=compact,
    )


def _slice(name: str, row: list[Any]) -> Slice:
    type_, chip, topology, chips, cores, hosts, per_host, machine, gke, label, shape, runtime = row
    return Slice(
        name=name,
        accelerator_type=type_,
        chip=chip,
        topology=topology,
        chips=chips,
        cores=cores,
        hosts=hosts,
        chips_per_host=per_host,
        machine=machine,
        gke_machine=gke,
        gke_label=label,
        gke_topology=shape,
        runtime_version=runtime,
    )


def _local_ssd(region: str, row: list[Any]) -> LocalSsdPrice:
    return LocalSsdPrice(region=region, usd_per_gib_month=row[0], spot_usd_per_gib_month=row[1])


def _image(row: dict[str, Any]) -> Image:
    return Image(**{**row, "chips": tuple(row["chips"])})
