"""What can be rented as frozen values: chips, machines, slices, offers, and the catalog of them.

Must not read files (load.py does) nor rank anything (the planner does). What Google does not
publish is None: nothing here is a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from windlass.catalog.prices import Image, LocalSsdPrice, OtherPrices
from windlass.spec.model import ANY_GPU, Accelerators

GIB = 1 << 30
CPU = ""
"""The chip of offers that have none."""


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
        return f"{self.name}+{self.chip}:{self.chips}" if is_attached(self) else self.name


def is_attached(machine: Machine) -> bool:
    """Whether the GPUs are added to a machine type that exists without them."""
    return machine.family == "n1" and machine.chip is not None


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


class Shelf(Protocol):
    """Offers by chip and label, made when they are first asked for."""

    def chips(self) -> Sequence[str]:
        """The chips that have offers; CPU among them."""

    def labels(self, chip: str) -> Sequence[str]:
        """What can be rented with this chip; empty when nothing can."""

    def offers(self, chip: str, label: str) -> Sequence[Offer]:
        """The offers of one label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Everything that can be rented, of one snapshot."""

    snapshot: str
    """The day that the prices are of: `2026-08-21`."""
    chips: Mapping[str, Chip]
    """By canonical name; also those that nobody can rent today."""
    machines: Mapping[str, Machine]
    """By label."""
    slices: Mapping[str, Slice]
    """By name: `v5e-16`."""
    zones: tuple[str, ...]
    other_prices: OtherPrices
    local_ssd: Mapping[str, LocalSsdPrice]
    """By region."""
    images: Sequence[Image]
    shelf: Shelf

    def offers(
        self,
        *,
        accelerators: Sequence[Accelerators] = (),
        machine: str | None = None,
        cpus: float | None = None,
        memory_bytes: float | None = None,
    ) -> list[Offer]:
        """Offers that have one of the accelerators, in exactly that number, in a fixed order.

        With a machine only, those of that type; with neither, those without accelerators. A type
        that takes several GPUs is meant without them unless they are named, or written as its
        label. `cpus` and `memory_bytes` are of one machine, of one host for a slice.
        """
        found: list[Offer] = []
        for chip, label in self._labels(accelerators, machine):
            host = self._host(label)
            if cpus is not None and host.vcpus < cpus:
                continue
            if memory_bytes is not None and host.memory_gib * GIB < memory_bytes:
                continue
            found.extend(self.shelf.offers(chip, label))
        return found

    def all_offers(self) -> Iterator[Offer]:
        """Every offer, in a fixed order."""
        for chip in self.shelf.chips():
            for label in self.shelf.labels(chip):
                yield from self.shelf.offers(chip, label)

    def offer(self, offer_id: str) -> Offer | None:
        """The offer of that id."""
        label = offer_id.partition("/")[2].rpartition("/")[0]
        for chip in self.shelf.chips():
            if label in self.shelf.labels(chip):
                found = self.shelf.offers(chip, label)
                return next((offer for offer in found if offer.id == offer_id), None)
        return None

    def counts(self, chip: str) -> tuple[int, ...]:
        """The numbers in which a chip can be rented: GPUs of a VM, or numbers of slices' names."""
        labels = self.shelf.labels(chip)
        is_tpu = chip in self.chips and self.chips[chip].is_tpu
        if is_tpu:
            return tuple(sorted({int(label.rpartition("-")[2]) for label in labels}))
        return tuple(sorted({self.machines[label].chips for label in labels}))

    def with_offers(self, offers: Iterable[Offer]) -> Catalog:
        """The same catalog with other offers: for what-if questions, and for tests."""
        made = list(offers)
        return Catalog(
            snapshot=self.snapshot,
            chips=self.chips,
            machines={**self.machines, **{o.machine.label: o.machine for o in made}},
            slices={**self.slices, **{o.slice.name: o.slice for o in made if o.slice}},
            zones=tuple(sorted({offer.zone for offer in made})),
            other_prices=self.other_prices,
            local_ssd=self.local_ssd,
            images=self.images,
            shelf=_Given(made),
        )

    def _labels(
        self, accelerators: Sequence[Accelerators], machine: str | None
    ) -> Iterator[tuple[str, str]]:
        """What was meant, each once, as (chip, label)."""
        seen = set()
        for chip in self._meant_chips(accelerators, machine):
            for label in self.shelf.labels(chip):
                is_wanted = not accelerators or self._has_any(label, chip, accelerators)
                if not is_wanted or label in seen:
                    continue
                if machine is None or self._is_of(label, machine, is_named=bool(accelerators)):
                    seen.add(label)
                    yield chip, label

    def _meant_chips(
        self, accelerators: Sequence[Accelerators], machine: str | None
    ) -> Sequence[str]:
        if not accelerators:
            return (CPU,) if machine is None else self.shelf.chips()
        names = [wanted.name for wanted in accelerators]
        if ANY_GPU not in names:
            return names
        return [name for name in self.shelf.chips() if name in names or self._is_gpu(name)]

    def _is_gpu(self, chip: str) -> bool:
        return chip in self.chips and not self.chips[chip].is_tpu

    def _has_any(self, label: str, chip: str, accelerators: Sequence[Accelerators]) -> bool:
        for wanted in accelerators:
            if wanted.is_tpu:
                if label == f"{wanted.name}-{wanted.count}":
                    return True
            elif wanted.name == chip or (wanted.name == ANY_GPU and self._is_gpu(chip)):
                if self.machines[label].chips == wanted.count:
                    return True
        return False

    def _is_of(self, label: str, machine: str, *, is_named: bool) -> bool:
        host = self._host(label)
        if host.name != machine:
            return label == machine
        return is_named or not is_attached(host)

    def _host(self, label: str) -> Machine:
        slice_ = self.slices.get(label)
        return self.machines[slice_.machine if slice_ else label]


class _Given:
    """A shelf of offers that exist already."""

    def __init__(self, offers: Iterable[Offer]) -> None:
        self._by_chip: dict[str, dict[str, list[Offer]]] = {}
        for offer in offers:
            chip = self._by_chip.setdefault(offer.chip.name if offer.chip else CPU, {})
            chip.setdefault(offer.label, []).append(offer)

    def chips(self) -> Sequence[str]:
        return list(self._by_chip)

    def labels(self, chip: str) -> Sequence[str]:
        return list(self._by_chip.get(chip, ()))

    def offers(self, chip: str, label: str) -> Sequence[Offer]:
        return self._by_chip[chip][label]
