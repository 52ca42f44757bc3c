"""The catalog: answers which offers there are for what a spec asks.

Must not read files (load.py does) nor rank anything (the planner does).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from windlass.catalog.model import Chip, Machine, Offer, Slice
from windlass.catalog.prices import Image, LocalSsdPrice, OtherPrices
from windlass.spec.model import ANY_GPU, Accelerators

GIB = 1 << 30
CPU = ""
"""The chip of offers that have none."""


class Shelf(Protocol):
    """Offers by chip and label, made when they are first asked for."""

    def chips(self) -> Sequence[str]:
        """The chips that have offers; CPU among them."""

    def labels(self, chip: str) -> Sequence[str]:
        """What can be rented with this chip; empty when nothing can."""

    def offers(self, chip: str, label: str) -> Sequence[Offer]:
        """The offers of one label."""


class Facts(Protocol):
    """What a catalog knows besides offers: tables whose rows are made when they are asked for."""

    @property
    def snapshot(self) -> str:
        """The day of the prices."""

    @property
    def chips(self) -> Mapping[str, Chip]:
        """By canonical name."""

    @property
    def machines(self) -> Mapping[str, Machine]:
        """By label."""

    @property
    def slices(self) -> Mapping[str, Slice]:
        """By name."""

    @property
    def zones(self) -> tuple[str, ...]:
        """Every zone, sorted."""

    @property
    def other_prices(self) -> OtherPrices:
        """Besides machines."""

    @property
    def local_ssd(self) -> Mapping[str, LocalSsdPrice]:
        """By region."""

    @property
    def images(self) -> Sequence[Image]:
        """Every image."""


class Catalog:
    """Everything that can be rented, of one snapshot."""

    def __init__(self, facts: Facts, shelf: Shelf) -> None:
        self.snapshot = facts.snapshot
        """The day that the prices are of: `2026-08-21`."""
        self.chips = facts.chips
        """By canonical name; also those that nobody can rent today."""
        self.machines = facts.machines
        """By label."""
        self.slices = facts.slices
        """By name: `v5e-16`."""
        self.zones = facts.zones
        self.other_prices = facts.other_prices
        self.local_ssd = facts.local_ssd
        """By region."""
        self.images = facts.images
        self.shelf = shelf

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
            host = self._host(chip, label)
            if cpus is not None and host.vcpus < cpus:
                continue
            if memory_bytes is not None and host.memory_gib * GIB < memory_bytes:
                continue
            found.extend(self.shelf.offers(chip, label))
        return found

    def offers_with(self, chip: str) -> list[Offer]:
        """Every offer with this chip, in whatever number; CPU for those without one."""
        labels = self.shelf.labels(chip)
        return [offer for label in labels for offer in self.shelf.offers(chip, label)]

    def all_offers(self) -> Iterator[Offer]:
        """Every offer, in a fixed order."""
        for chip in self.shelf.chips():
            yield from self.offers_with(chip)

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
        other = Catalog(self, _Given(made))
        other.chips = {**self.chips, **{o.chip.name: o.chip for o in made if o.chip}}
        other.machines = {**self.machines, **{o.machine.label: o.machine for o in made}}
        other.slices = {**self.slices, **{o.slice.name: o.slice for o in made if o.slice}}
        other.zones = tuple(sorted({offer.zone for offer in made}))
        return other

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
                if machine in (None, label) or self._host(chip, label).name == machine:
                    seen.add(label)
                    yield chip, label

    def _meant_chips(
        self, accelerators: Sequence[Accelerators], machine: str | None
    ) -> Sequence[str]:
        if not accelerators:
            if machine is None:
                return (CPU,)
            host = self.machines.get(machine)
            return () if host is None else (host.chip or CPU,)
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

    def _host(self, chip: str, label: str) -> Machine:
        is_slice = chip in self.chips and self.chips[chip].is_tpu
        return self.machines[self.slices[label].machine if is_slice else label]


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
