"""Makes the tables of the compact form: what there is, besides offers.

Must not drop a row in silence: what cannot be represented is complained about.
"""

from __future__ import annotations

from typing import Any

from windlass.catalog.model import Buy
from windlass.catalog.tables import Row, Tables
from windlass.spec.accelerators import accelerators, canonical
from windlass.spec.refused import Refused

_FLAGS = {
    Buy.ON_DEMAND: "supports_on_demand",
    Buy.SPOT: "supports_spot",
    Buy.FLEX_START: "supports_dws_flex",
    Buy.CALENDAR: "supports_dws_calendar",
}


class Names:
    """Google's names of accelerators and slices, and ours for the same."""

    def __init__(self, tables: Tables) -> None:
        self.known = {
            row.text("name"): canonical(row.text("name")) for row in tables["accelerators"]
        }
        self._left_out: dict[str, int] = {}

    def chip(self, row: Row, column: str) -> str | None:
        """Our name of the accelerator in a field; None when this Windlass knows none."""
        named = row.text(column)
        if named not in self.known:
            row.complain(f"{column}: accelerators.csv has no {named!r}")
            return None
        found = self.known[named]
        if found is None:
            self._left_out[named] = self._left_out.get(named, 0) + 1
        return found

    def slice(self, row: Row, type_: str) -> str | None:
        """Our name of a slice; None, and a complaint, when there can be none."""
        try:
            return str(accelerators(type_))
        except Refused as refused:
            row.complain(refused.message)
            return None

    def notes(self) -> list[str]:
        """What was left out, because this Windlass does not know the accelerator."""
        return [
            f"this Windlass does not know {name}: {count} rows are left out"
            for name, count in sorted(self._left_out.items())
        ]


def packed_chips(tables: Tables, names: Names) -> dict[str, Any]:
    """Every accelerator that this Windlass knows."""
    packed: dict[str, Any] = {}
    for row in tables["accelerators"]:
        name = names.chip(row, "name")
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


def packed_machines(tables: Tables, names: Names) -> dict[str, Any]:
    """Every machine type with accelerators, by label."""
    packed: dict[str, Any] = {}
    for row in tables["machine_types"]:
        chip = names.chip(row, "accelerator")
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


def packed_slices(tables: Tables, names: Names, machines: dict[str, Any]) -> dict[str, Any]:
    """Every TPU slice, by our name for it."""
    hosts = {
        row.maybe("accelerator"): row.text("machine_type")
        for row in tables["offers"]
        if row.maybe("kind") == "tpu"
    }
    packed: dict[str, Any] = {}
    for row in tables["tpu_slices"]:
        chip = names.chip(row, "generation")
        type_ = row.text("accelerator_type")
        name = names.slice(row, type_) if chip else None
        if name is None:
            continue
        if name in packed:
            row.complain(f"{name} is there twice")
        machine = hosts.get(type_) or row.maybe("gke_machine_type")
        if machine not in machines:
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


def packed_local_ssd(tables: Tables) -> dict[str, Any]:
    """Local SSD by region."""
    return {
        row.text("region"): [
            row.figure("on_demand_usd_per_gib_month"),
            row.price("spot_usd_per_gib_month"),
        ]
        for row in tables["local_ssd_prices"]
    }


def packed_other_prices(tables: Tables) -> dict[str, Any]:
    """Other prices by item, and their sources apart."""
    items: dict[str, Any] = {}
    sources: dict[tuple[str, str, str], int] = {}
    for row in tables["other_prices"]:
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


def packed_image(row: Row, names: Names) -> dict[str, Any]:
    """One image."""
    found = [names.known.get(name) for name in row.several("accelerators")]
    return {
        "kind": row.choice("kind", ("vm_image", "vm_image_family", "tpu_runtime")),
        "name": row.text("name"),
        "project": row.maybe("project"),
        "os": row.text("os"),
        "os_version": row.text("os_version"),
        "arch": row.text("arch"),
        "chips": [name for name in found if name],
        "notes": row.maybe("notes") or "",
        "source": row.text("source"),
    }


def _label(row: Row, chip: str) -> str:
    name = row.text("machine_type")
    count = row.count("accelerator_count")
    return f"{name}+{chip}:{count}" if row.maybe("family") == "n1" else name
