"""Small catalogs as folders of CSV files, and compact files that were tampered with.

Must not hold a test.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from windlass.catalog.container import Container, compose
from windlass.catalog.load import PACKAGED
from windlass.catalog.tables import COLUMNS

SMALL: dict[str, list[dict[str, str]]] = {
    "accelerators": [
        {
            "name": "nvidia-h100-80gb",
            "aliases": "h100;h100-80gb",
            "kind": "gpu",
            "memory_gib_per_chip": "80",
            "peak_bf16_tflops": "989",
            "hbm_gb_per_s": "3350",
            "quota_metric_on_demand": "GPUS_PER_GPU_FAMILY:NVIDIA_H100",
            "quota_metric_spot": "PREEMPTIBLE_NVIDIA_H100_GPUS",
            "source": "a table",
        },
        {
            "name": "tpu-v5e",
            "aliases": "v5e",
            "kind": "tpu",
            "memory_gib_per_chip": "16",
            "peak_bf16_tflops": "197",
            "hbm_gb_per_s": "819",
            "source": "a table",
        },
    ],
    "machine_types": [
        {
            "machine_type": "a3-highgpu-8g",
            "family": "a3-high",
            "accelerator": "nvidia-h100-80gb",
            "accelerator_count": "8",
            "vcpus": "208",
            "memory_gib": "1872",
            "local_ssd_gib": "6000",
            "nic_count": "5",
            "network_gbps": "1000",
            "gpu_direct": "tcpx",
            "expected_busbw_gb_per_s": "71",
            "supports_on_demand": "true",
            "supports_spot": "true",
            "supports_dws_flex": "true",
            "supports_dws_calendar": "false",
            "compact_placement": "true",
        },
        {
            "machine_type": "ct5lp-hightpu-4t",
            "family": "ct5lp",
            "accelerator": "tpu-v5e",
            "accelerator_count": "4",
            "vcpus": "112",
            "memory_gib": "192",
            "local_ssd_gib": "0",
            "gpu_direct": "none",
            "supports_on_demand": "true",
            "supports_spot": "true",
            "supports_dws_flex": "true",
            "supports_dws_calendar": "true",
            "compact_placement": "false",
        },
    ],
    "tpu_slices": [
        {
            "accelerator_type": "v5litepod-16",
            "generation": "tpu-v5e",
            "topology": "4x4",
            "chips": "16",
            "cores": "16",
            "hosts": "4",
            "chips_per_host": "4",
            "gke_machine_type": "ct5lp-hightpu-4t",
            "runtime_version": "v2-alpha-tpuv5-lite",
        }
    ],
    "offers": [
        {
            "zone": "us-central1-a",
            "region": "us-central1",
            "machine_type": "a3-highgpu-8g",
            "vcpus": "208",
            "memory_gib": "1872",
            "accelerator": "nvidia-h100-80gb",
            "accelerator_count": "8",
            "on_demand_usd_per_hour": "88.49",
            "spot_usd_per_hour": "52.962",
            "kind": "gpu",
        },
        {
            "zone": "us-central1-a",
            "region": "us-central1",
            "machine_type": "ct5lp-hightpu-4t",
            "vcpus": "112",
            "memory_gib": "192",
            "accelerator": "v5litepod-16",
            "accelerator_count": "1",
            "on_demand_usd_per_hour": "19.2",
            "spot_usd_per_hour": "",
            "kind": "tpu",
        },
        {
            "zone": "us-central1-b",
            "region": "us-central1",
            "machine_type": "e2-standard-2",
            "vcpus": "2",
            "memory_gib": "8",
            "accelerator_count": "0",
            "on_demand_usd_per_hour": "0.067",
            "spot_usd_per_hour": "0.027",
            "kind": "cpu",
        },
    ],
    "dws_prices": [
        {
            "region": "us-central1",
            "machine_type": "a3-highgpu-8g",
            "accelerator": "nvidia-h100-80gb",
            "accelerator_count": "8",
            "list_usd_per_hour": "88.49",
            "flex_start_usd_per_hour": "38.32",
            "basis": "derived",
        }
    ],
    "local_ssd_prices": [
        {
            "region": "us-central1",
            "on_demand_usd_per_gib_month": "0.08",
            "spot_usd_per_gib_month": "0.032",
        }
    ],
    "other_prices": [
        {
            "item": "gcs_standard",
            "unit": "USD/GiB-month",
            "price_usd": "0.02",
            "scope": "us-central1",
            "source": "a list",
            "source_date": "2026-07-30",
            "confidence": "high",
        }
    ],
    "images": [
        {
            "kind": "tpu_runtime",
            "name": "v2-alpha-tpuv5-lite",
            "os": "ubuntu",
            "os_version": "22.04",
            "arch": "x86_64",
            "accelerators": "tpu-v5e",
            "source": "docs",
        }
    ],
}


def write_tables(folder: Path, *, snapshot: str = "2026-09-01") -> Path:
    """A small catalog that nothing is wrong with."""
    folder.mkdir(exist_ok=True)
    for name, rows in SMALL.items():
        write_table(folder, name, rows)
    (folder / "README.md").write_text(f"# Prices\n\nSnapshot **{snapshot}** of a list.\n")
    return folder


def write_table(folder: Path, name: str, rows: list[dict[str, str]]) -> None:
    """One file of it."""
    with (folder / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS[name].split(), restval="")
        writer.writeheader()
        writer.writerows(rows)


def change_cell(folder: Path, table: str, column: str, value: str, *, row: int = 0) -> None:
    """Write something else into one field."""
    rows = [dict(cells) for cells in SMALL[table]]
    rows[row][column] = value
    write_table(folder, table, rows)


def sections_of(data: bytes) -> dict[str, Any]:
    """Every section of a compact file."""
    container = Container(data, where="a file")
    return {name: container.section(name) for name in container.names}


def tampered(change: Callable[[dict[str, Any]], Any], *, snapshot: str | None = None) -> bytes:
    """The catalog of Windlass with something changed, and checksums that match."""
    data = PACKAGED.read_bytes()
    sections = json.loads(json.dumps(sections_of(data)))
    change(sections)
    return compose(snapshot or Container(data, where="a file").snapshot, sections)
