"""Makes the sections of offers of the compact form: by chip, by label, by region and price.

Must not drop a row in silence: what cannot be represented is complained about.
"""

from __future__ import annotations

from typing import Any

from windlass.catalog.model import Buy
from windlass.catalog.pack_tables import Names
from windlass.catalog.query import CPU
from windlass.catalog.tables import Row, Tables


class OffersPacking:
    """Packs offers; adds to `machines` those that only offers describe."""

    def __init__(
        self, tables: Tables, names: Names, *, machines: dict[str, Any], slices: dict[str, Any]
    ) -> None:
        self._tables = tables
        self._names = names
        self._machines = machines
        self._slices = slices

    def packed(self) -> dict[str, Any]:
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
            self._tables.complaints.problems.append(f"dws_prices.csv: {label} is offered nowhere")
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
        chip = self._names.chip(row, "accelerator")
        if chip is None:
            return CPU, None
        machine = row.text("machine_type")
        attached = f"{machine}+{chip}:{row.count('accelerator_count')}"
        label = attached if attached in self._machines else machine
        self._compare(row, label)
        return chip, label

    def _rented_slice(self, row: Row) -> tuple[str, str | None]:
        name = self._names.slice(row, row.text("accelerator"))
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
        if named in self._names.known:
            return row.text("machine_type") if self._names.chip(row, "accelerator") else None
        return self._names.slice(row, named)


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
