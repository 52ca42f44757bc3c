"""Reads a folder of CSV files: the form in which catalogs are made and mended by hand.

Must not know the compact form (pack.py makes it) nor judge prices (check.py does).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from windlass.errors import CatalogRefused

SOURCE_BYTES_MAX = 16 << 20
SHOWN_MAX = 20
_SNAPSHOT = re.compile(r"Snapshot \**(\d{4}-\d{2}-\d{2})")

# The columns that each file must have; others are left alone.
COLUMNS = {
    "accelerators": "name aliases kind memory_gib_per_chip peak_bf16_tflops peak_fp8_tflops "
    "peak_fp16_tflops hbm_gb_per_s scale_up_gb_per_s quota_metric_on_demand quota_metric_spot "
    "gke_accelerator_label source",
    "machine_types": "machine_type family accelerator accelerator_count vcpus memory_gib "
    "local_ssd_gib nic_count network_gbps gpu_direct expected_busbw_gb_per_s supports_on_demand "
    "supports_spot supports_dws_flex supports_dws_calendar compact_placement",
    "tpu_slices": "accelerator_type generation topology chips cores hosts chips_per_host "
    "gke_machine_type gke_accelerator_label gke_topology_label runtime_version",
    "offers": "zone region machine_type vcpus memory_gib accelerator accelerator_count "
    "on_demand_usd_per_hour spot_usd_per_hour kind",
    "dws_prices": "region machine_type accelerator accelerator_count list_usd_per_hour "
    "flex_start_usd_per_hour calendar_usd_per_hour basis",
    "local_ssd_prices": "region on_demand_usd_per_gib_month spot_usd_per_gib_month",
    "other_prices": "item unit price_usd scope source source_date confidence",
    "images": "kind name project os os_version arch accelerators notes source",
}


@dataclass(slots=True)
class Complaints:
    """Everything that is wrong with what was read, so that it can be mended at once."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a person should know and what hinders nothing."""

    def raise_if_any(self, where: str) -> None:
        """Refuse the whole."""
        if not self.problems:
            return
        shown = self.problems[:SHOWN_MAX]
        if len(self.problems) > SHOWN_MAX:
            shown.append(f"and {len(self.problems) - SHOWN_MAX} more")
        count = len(self.problems)
        raise CatalogRefused(
            f"{where}: {count} {'problem' if count == 1 else 'problems'}",
            context="\n".join(shown),
            remedy="Mend what is named above; the catalog in use has not been changed.",
        )


class Row:
    """One line of a CSV file; an empty field is None."""

    __slots__ = ("_cells", "_complaints", "place")

    def __init__(self, cells: dict[str, str], place: str, complaints: Complaints) -> None:
        self._cells = cells
        self._complaints = complaints
        self.place = place

    def text(self, column: str) -> str:
        """The field; a complaint when it is empty."""
        found = self.maybe(column)
        if found is None:
            self.complain(f"{column} is empty")
        return found or ""

    def maybe(self, column: str) -> str | None:
        """The field, or None."""
        return self._cells[column].strip() or None

    def number(self, column: str) -> float | None:
        """The field as a number, whole ones as int; None when it is empty."""
        text = self.maybe(column)
        if text is None:
            return None
        if not re.fullmatch(r"\d{1,12}(\.\d{1,12})?", text):
            self.complain(f"{column}: {text!r} is not a number")
            return None
        return float(text) if "." in text else int(text)

    def count(self, column: str) -> int:
        """The field as a whole number."""
        found = self.number(column)
        if not isinstance(found, int):
            self.complain(f"{column} is not a whole number")
            return 0
        return found

    def figure(self, column: str) -> float:
        """The field as a number; a complaint when it is empty."""
        found = self.number(column)
        if found is None:
            self.complain(f"{column} is empty")
        return found or 0

    def price(self, column: str) -> float | None:
        """The field as dollars, or None."""
        found = self.number(column)
        return None if found is None else float(found)

    def flag(self, column: str) -> bool:
        """The field as true or false."""
        text = self.text(column)
        if text not in ("true", "false"):
            self.complain(f"{column}: {text!r} is neither true nor false")
        return text == "true"

    def choice(self, column: str, choices: Sequence[str]) -> str:
        """The field, which must be one of these."""
        text = self.text(column)
        if text not in choices:
            self.complain(f"{column}: {text!r} is none of {', '.join(choices)}")
        return text

    def several(self, column: str) -> list[str]:
        """The parts of a field that are separated by semicolons."""
        return [part.strip() for part in self._cells[column].split(";") if part.strip()]

    def complain(self, what: str) -> None:
        """Say what is wrong with this line."""
        self._complaints.problems.append(f"{self.place}: {what}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The rows of every file."""

    rows: dict[str, list[Row]]
    complaints: Complaints
    snapshot: str | None
    """The day that the folder's README names, if it does."""

    def __getitem__(self, name: str) -> list[Row]:
        return self.rows[name]


def is_folder_of_tables(path: Path) -> bool:
    """Whether this looks like a folder of CSV files of a catalog."""
    return (path / "offers.csv").is_file()


def read_tables(folder: Path, complaints: Complaints) -> Tables:
    """Every file of the folder.

    Raises:
        CatalogRefused: a file is missing, too large, or not CSV with the columns it must have.
    """
    rows = {name: list(_rows(folder / f"{name}.csv", complaints)) for name in COLUMNS}
    complaints.raise_if_any(str(folder))
    return Tables(rows=rows, complaints=complaints, snapshot=_snapshot(folder / "README.md"))


def _rows(path: Path, complaints: Complaints) -> Iterator[Row]:
    text = _text(path, complaints)
    if text is None:
        return
    reader = csv.DictReader(io.StringIO(text), restval="", restkey="")
    columns = COLUMNS[path.stem].split()
    missing = [name for name in columns if name not in (reader.fieldnames or ())]
    if missing:
        complaints.problems.append(f"{path.name}: the columns {', '.join(missing)} are missing")
        return
    try:
        for cells in reader:
            if "" in cells:
                complaints.problems.append(f"{path.name}:{reader.line_num}: too many fields")
            yield Row(cells, f"{path.name}:{reader.line_num}", complaints)
    except csv.Error as exc:
        complaints.problems.append(f"{path.name}:{reader.line_num}: {exc}")


def _text(path: Path, complaints: Complaints) -> str | None:
    try:
        if path.stat().st_size > SOURCE_BYTES_MAX:
            complaints.problems.append(f"{path.name}: larger than {SOURCE_BYTES_MAX >> 20} MiB")
            return None
        return path.read_text(encoding="utf-8-sig")
    except OSError as exc:
        complaints.problems.append(f"{path.name}: {exc.strerror}")
    except UnicodeDecodeError:
        complaints.problems.append(f"{path.name}: not UTF-8")
    return None


def _snapshot(readme: Path) -> str | None:
    try:
        found = _SNAPSHOT.search(readme.read_text(encoding="utf-8", errors="replace")[:100_000])
    except OSError:
        return None
    return found[1] if found else None
