"""What can be rented as frozen values: chips, machines, slices, offers.

Must not read files (load.py does) nor look anything up (query.py does). What Google does not
publish is None: nothing here is a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Buy(StrEnum):
    """How an offer is paid for, and what Google may do to it."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    FLEX_START = "flex-start"
    CALENDAR = "calendar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One model of accelerator. Figures are of one chip; peaks are dense."""

    name: str
    """Canonical, as a spec names it: `H100`, `A100-80`, `v5e`."""
    is_tpu: bool
    google_name: str
    """As Google's APIs name it: `nvidia-h100-80gb`, `tpu-v5e`."""
    aliases: tuple[str, ...] = ()
    memory_gib: float
    memory_gb_per_s: float
    peak_tflops: float | None
    """bf16 where the chip has it, else fp16; None where neither is published."""
    peak_fp8_tflops: float | None = None
    has_bf16: bool = True
    scale_up_gb_per_s: float | None
    """NVLink or ICI, both directions added; None where there is none or it is not known."""
    quota: Mapping[Buy, str | None] = field(hash=False)
    """The metric that is spent, by how it is bought; None where it is not known."""
    gke_label: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One machine type with its accelerators; one host, for TPUs."""

    name: str
    """As Google names it: `a3-highgpu-8g`."""
    family: str
    chip: str | None
    chips: int
    """GPUs in the VM, TPU chips on the host, or 0."""
    vcpus: int
    memory_gib: float
    local_ssd_gib: float | None
    """Only what comes with the type."""
    nics: int | None
    network_gbps: float | None
    """The ceiling of what leaves the machine, over all its NICs."""
    gpu_direct: str | None
    """`tcpx`, `tcpxo` or `rdma`: how GPUs of two machines talk; None when through the host."""
    busbw_gb_per_s: float | None
    """Expected of NCCL's all_gather between two machines; None where nobody has published it."""
    supports: frozenset[Buy]
    """How Google sells the type at all; where, and at what price, is in the offers."""
    has_compact_placement: bool | None

    @property
    def label(self) -> str:
        """Unique among machines: N1 takes several GPUs, so `n1-standard-8+T4:2`."""
        is_attached = self.family == "n1" and self.chip is not None
        return f"{self.name}+{self.chip}:{self.chips}" if is_attached else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A TPU slice: chips with their own interconnect, over one host or many."""

    name: str
    """As a spec names it: `v5e-16`."""
    accelerator_type: str
    """As Cloud TPU names it: `v5litepod-16`."""
    chip: str
    topology: str
    chips: int
    cores: int
    hosts: int
    chips_per_host: int
    machine: str
    """The machine type of each host."""
    gke_machine: str | None
    gke_label: str | None
    gke_topology: str | None
    runtime_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What can be rented: a machine or a whole slice, in one zone, bought in one way."""

    zone: str
    region: str
    machine: Machine
    """One host, for a slice."""
    chip: Chip | None
    slice: Slice | None
    buy: Buy
    usd_per_h: float
    """Of one VM, or of one whole slice; before discounts and tax."""
    list_usd_per_h: float | None
    """What Google's list asks on demand for the same in this region, also where it cannot be
    ordered so; None where the list has no price."""
    basis: str
    """`list`, or for flex-start and calendar `published` or `derived`."""

    @property
    def label(self) -> str:
        """What is rented: the slice, or the machine with its accelerators."""
        return self.slice.name if self.slice else self.machine.label

    @property
    def id(self) -> str:
        """Unique in a catalog: `us-central1-a/a3-highgpu-8g/spot`."""
        return f"{self.zone}/{self.label}/{self.buy.value}"

    @property
    def chips(self) -> int:
        """Accelerators of one VM or one whole slice."""
        return self.slice.chips if self.slice else self.machine.chips

    @property
    def hosts(self) -> int:
        """Machines of one unit of this offer."""
        return self.slice.hosts if self.slice else 1

    @property
    def quota_metric(self) -> str | None:
        """What it is counted against; None for CPU machines, or where it is not known."""
        return self.chip.quota.get(self.buy) if self.chip else None
