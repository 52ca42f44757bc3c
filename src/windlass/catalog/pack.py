"""Makes the compact form of a catalog out of tables.

Must not drop a row in silence: what cannot be represented is complained about.
"""

from __future__ import annotations

from typing import Any

from windlass.catalog.container import compose
from windlass.catalog.load import OFFERS
from windlass.catalog.model import Buy
from windlass.catalog.query import CPU
from windlass.catalog.tables import Complaints, Row, Tables
from windlass.spec.accelerators import accelerators, canonical
from windlass.spec.refused import Refused

_FLAGS = {
    Buy.ON_DEMAND: "supports_on_demand",
    Buy.SPOT: "supports_spot",
    Buy.FLEX_START: "supports_dws_flex",
    Buy.CALENDAR: "supports_dws_calendar",
}


def packed(tables: Tables, *, snapshot: str) -> bytes:
    """The compact file. Complaints are left in `tables.complaints`."""
    return _Packing(tables).file(snapshot)


class _Packing:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._skipped: dict[str, int] = {}
        self._names = {row.text("name"): self._name(row) for row in tables["accelerators"]}
        self._chips = self._packed_chips()
        self._machines = self._packed_machines()
        self._slices = self._packed_slices()

    def file(self, snapshot: str) -> bytes:
        offers = self._packed_offers()
        sections: dict[str, Any] = {
            "chips": self._chips,
            "machines": dict(sorted(self._machines.items())),
            "slices": self._slices,
            "zones": sorted({row.text("zone") for row in self._tables["offers"]}),
            "local_ssd": self._packed_local_ssd(),
            "other_prices": self._packed_other_prices(),
            "images": [self._packed_image(row) for row in self._tables["images"]],
        }
        for chip in (CPU, *self._chips):
            if chip in offers:
                sections[f"{OFFERS}{chip}"] = offers[chip]
        for name, count in sorted(self._skipped.items()):
            self._complaints.notes.append(
                f"this Windlass does not know {name}: {count} rows are left out"
            )
        return compose(snapshot, sections)

    @property
    def _complaints(self) -> Complaints:
        return self._tables.complaints

    def _name(self, row: Row) -> str | None:
        return canonical(row.text("name"))

    def _chip(self, row: Row, column: str) -> str | None:
        """The canonical name of the accelerator in a field; None, and a note, when unknown."""
        named = row.text(column)
        if named not in self._names:
            row.complain(f"{column}: accelerators.csv has no {named!r}")
            return None
        found = self._names[named]
        if found is None:
            self._skipped[named] = self._skipped.get(named, 0) + 1
        return found

    def _packed_chips(self) -> dict[str, Any]:
        packed: dict[str, Any] = {}
        for row in self._tables["accelerators"]:
            name = self._chip(row, "name")
            if name is None:
                continue
            if name in packed:
                row.complain(f"{name} is there twice")
            packed[name] = {
                "kind": row.choice("kind", ("gpu", "tpu")),
                "google_name": row.text("name"),
                "aliases": row.several("aliases"),
                "memory_gib": row.figure("memory_gib_per_chip"),
                "memory_gb_per_s": row.figure("hbm_gb_per_s"),
                "peak_bf16_tflops": row.number("peak_bf16_tflops"),
                "peak_fp16_tflops": row.number("peak_fp16_tflops"),
                "peak_fp8_tflops": row.number("peak_fp8_tflops"),
                "scale_up_gb_per_s": row.number("scale_up_gb_per_s"),
                "quota_on_demand": row.maybe("quota_metric_on_demand"),
                "quota_spot": row.maybe("quota_metric_spot"),
                "gke_label": row.maybe("gke_accelerator_label"),
                "source": row.text("source"),
            }
        return packed

    def _packed_machines(self) -> dict[str, Any]:
        packed: dict[str, Any] = {}
        for row in self._tables["machine_types"]:
            chip = self._chip(row, "accelerator")
            if chip is None:
                continue
            label = _label(row, chip)
            if label in packed:
                row.complain(f"{label} is there twice")
            direct = row.choice("gpu_direct", ("none", "tcpx", "tcpxo", "rdma"))
            packed[label] = [
                row.text("machine_type"),
                row.text("family"),
                chip,
                row.count("accelerator_count"),
                row.count("vcpus"),
                row.figure("memory_gib"),
                row.number("local_ssd_gib"),
                row.number("nic_count"),
                row.number("network_gbps"),
                None if direct == "none" else direct,
                row.number("expected_busbw_gb_per_s"),
                [str(buy) for buy, column in _FLAGS.items() if row.flag(column)],
                row.flag("compact_placement"),
            ]
        return packed

    def _packed_slices(self) -> dict[str, Any]:
        hosts = {
            row.maybe("accelerator"): row.text("machine_type")
            for row in self._tables["offers"]
            if row.maybe("kind") == "tpu"
        }
        packed: dict[str, Any] = {}
        for row in self._tables["tpu_slices"]:
            chip = self._chip(row, "generation")
            type_ = row.text("accelerator_type")
            name = self._slice_name(row, type_) if chip else None
            if name is None:
                continue
            if name in packed:
                row.complain(f"{name} is there twice")
            machine = hosts.get(type_) or row.maybe("gke_machine_type")
            if machine not in self._machines:
                row.complain(f"the machine type of {type_} is not known")
            packed[name] = [
                type_,
                chip,
                row.text("topology"),
                row.count("chips"),
                row.count("cores"),
                row.count("hosts"),
                row.count("chips_per_host"),
                machine,
                row.maybe("gke_machine_type"),
                row.maybe("gke_accelerator_label"),
                row.maybe("gke_topology_label"),
                row.text("runtime_version"),
            ]
        return packed

    def _slice_name(self, row: Row, type_: str) -> str | None:
        try:
            return str(accelerators(type_))
        except Refused as refused:
            row.complain(refused.message)
            return None

    def _packed_local_ssd(self) -> dict[str, Any]:
        return {
            row.text("region"): [
                row.figure("on_demand_usd_per_gib_month"),
                row.price("spot_usd_per_gib_month"),
            ]
            for row in self._tables["local_ssd_prices"]
        }

    def _packed_other_prices(self) -> dict[str, Any]:
        items: dict[str, Any] = {}
        sources: dict[tuple[str, str, str], int] = {}
        for row in self._tables["other_prices"]:
            item, unit, scope = row.text("item"), row.text("unit"), row.text("scope")
            confidence = row.choice("confidence", ("high", "medium", "low"))
            source = (row.text("source"), row.maybe("source_date") or "", confidence)
            number = sources.setdefault(source, len(sources))
            known_unit, rows = items.setdefault(item, [unit, []])
            if unit != known_unit:
                row.complain(f"{item} is in {known_unit!r} elsewhere, here in {unit!r}")
            if any(scope == known for known, _, _ in rows):
                row.complain(f"{item} has two prices for {scope}")
            rows.append([scope, row.figure("price_usd"), number])
        return {"sources": [list(source) for source in sources], "items": items}

    def _packed_image(self, row: Row) -> dict[str, Any]:
        names = [self._names.get(name) for name in row.several("accelerators")]
        return {
            "kind": row.choice("kind", ("vm_image", "vm_image_family", "tpu_runtime")),
            "name": row.text("name"),
            "project": row.maybe("project"),
            "os": row.text("os"),
            "os_version": row.text("os_version"),
            "arch": row.text("arch"),
            "chips": [name for name in names if name],
            "notes": row.maybe("notes") or "",
            "source": row.text("source"),
        }

    # ---- offers ----------------------------------------------------------------------------

    def _packed_offers(self) -> dict[str, Any]:
        """By chip, then by label: a row for each region and price, with its zones."""
        found: dict[str, dict[str, dict[tuple[Any, ...], list[str]]]] = {}
        for row in self._tables["offers"]:
            chip, label = self._rented(row)
            if label is None:
                continue
            region, zone = row.text("region"), row.text("zone")
            if not zone.startswith(f"{region}-"):
                row.complain(f"{zone} is not a zone of {region}")
            price = row.price("on_demand_usd_per_hour"), row.price("spot_usd_per_hour")
            rows = found.setdefault(chip, {}).setdefault(label, {})
            if any(zone in zones for (known, *_), zones in rows.items() if known == region):
                row.complain(f"{label} is offered twice in {zone}")
            rows.setdefault((region, *price), []).append(zone)
        dws = self._packed_dws()
        packed: dict[str, Any] = {}
        for chip, labels in found.items():
            packed[chip] = {
                label: _packed_rows(rows, dws.pop(label, {})) for label, rows in labels.items()
            }
        for label in dws:
            self._complaints.problems.append(f"dws_prices.csv: {label} is offered nowhere")
        return packed

    def _rented(self, row: Row) -> tuple[str, str | None]:
        """The chip of an offer, and its label; no label when it is left out."""
        kind = row.choice("kind", ("gpu", "tpu", "cpu"))
        if kind == "cpu":
            label = row.text("machine_type")
            self._machines.setdefault(label, _cpu_machine(row, label))
            self._compare(row, label)
            return CPU, label
        if kind == "tpu":
            return self._rented_slice(row)
        chip = self._chip(row, "accelerator")
        if chip is None:
            return CPU, None
        machine = row.text("machine_type")
        attached = f"{machine}+{chip}:{row.count('accelerator_count')}"
        label = attached if attached in self._machines else machine
        self._compare(row, label)
        return chip, label

    def _rented_slice(self, row: Row) -> tuple[str, str | None]:
        name = self._slice_name(row, row.text("accelerator"))
        if name is None or name not in self._slices:
            row.complain(f"tpu_slices.csv has no {row.text('accelerator')}")
            return CPU, None
        slice_ = self._slices[name]
        self._compare(row, row.text("machine_type"))
        return slice_[1], name

    def _compare(self, row: Row, label: str) -> None:
        """An offer and its machine type must say the same."""
        machine = self._machines.get(label)
        if machine is None:
            row.complain(f"machine_types.csv has no {label}")
        elif machine[4:6] != [row.count("vcpus"), row.figure("memory_gib")]:
            row.complain(f"{label} has other vcpus or memory_gib elsewhere")

    def _packed_dws(self) -> dict[str, dict[str, list[Any]]]:
        """By label, then by region: list price, flex-start, calendar, basis."""
        packed: dict[str, dict[str, list[Any]]] = {}
        for row in self._tables["dws_prices"]:
            label = self._label_of(row)
            region = row.text("region")
            if label is None:
                continue
            if region in packed.setdefault(label, {}):
                row.complain(f"{label} is there twice in {region}")
            packed[label][region] = [
                row.price("list_usd_per_hour"),
                row.price("flex_start_usd_per_hour"),
                row.price("calendar_usd_per_hour"),
                row.choice("basis", ("published", "derived", "list_only")),
            ]
        return packed

    def _label_of(self, row: Row) -> str | None:
        """A slice is named by its accelerator type, a machine by its own."""
        named = row.text("accelerator")
        if named in self._names:
            return row.text("machine_type") if self._chip(row, "accelerator") else None
        return self._slice_name(row, named)


def _packed_rows(
    rows: dict[tuple[Any, ...], list[str]], dws: dict[str, list[Any]]
) -> list[list[Any]]:
    packed = []
    for (region, on_demand, spot), zones in rows.items():
        suffixes = sorted(zone.removeprefix(f"{region}-") for zone in zones)
        packed.append([region, ",".join(suffixes), on_demand, spot, *dws.get(region, ())])
    offered = {region for region, *_ in rows}
    packed += [[region, "", None, None, *dws[region]] for region in dws if region not in offered]
    return sorted(packed, key=lambda row: (row[0], row[1]))


def _cpu_machine(row: Row, name: str) -> list[Any]:
    """Of a machine without accelerators only its size is known."""
    buys = [
        str(buy)
        for buy, column in (
            (Buy.ON_DEMAND, "on_demand_usd_per_hour"),
            (Buy.SPOT, "spot_usd_per_hour"),
        )
        if row.maybe(column)
    ]
    size = [row.count("vcpus"), row.figure("memory_gib")]
    return [name, name.partition("-")[0], None, 0, *size, *[None] * 5, buys, None]


def _label(row: Row, chip: str) -> str:
    name = row.text("machine_type")
    count = row.count("accelerator_count")
    return f"{name}+{chip}:{count}" if row.maybe("family") == "n1" else name
