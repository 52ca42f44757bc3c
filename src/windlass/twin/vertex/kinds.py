"""The machines that Vertex AI knows: machine types, the accelerators of each, and where they are.

Must not look for room.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin.market import Model

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog

PLAIN = re.compile(r"(?:e2|n1|n2|n2d|c2|c2d|c3|m1)-(?:standard|highmem|highcpu|ultramem)-\d+")
"""CPU types that the catalog, which is about accelerators, does not list."""
OLD_TPU = "cloud-tpu"
MODELS = {
    "SPOT": Model.SPOT,
    "LOW_COST": Model.SPOT,
    "FLEX_START": Model.FLEX_START,
}
DIFFERENT = {
    "NVIDIA_TESLA_A100": "nvidia-tesla-a100",
    "TPU_V2": "tpu-v2",
    "TPU_V3": "tpu-v3",
    "TPU_V4_POD": "tpu-v4",
    "TPU_V5_LITEPOD": "tpu-v5e",
}
"""Accelerators whose name in Vertex AI is not the one in Compute Engine in capitals."""


class Kind(NamedTuple):
    """One machine of a pool."""

    type: str
    chip: str
    """As Compute Engine names it, or empty."""
    chips: int
    hosts: int = 1
    """How many machines one replica is: TPU slices have several."""


class Kinds:
    """What can be asked for."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._sold: dict[str, frozenset[str]] = {}
        self._own: dict[str, tuple[str, int]] = {}
        self._vcpus: dict[str, int] = {}
        self._attachable: set[str] = set()
        self.zones: dict[str, list[str]] = {}
        for zone in sorted(catalog.zones):
            self.zones.setdefault(zone.rpartition("-")[0], []).append(zone)
        for machine in catalog.machines.values():
            self._vcpus[machine.name] = machine.vcpus
            if machine.chip is None:
                continue
            chip = catalog.chips[machine.chip].google_name
            if machine.family == "n1":
                self._attachable.add(machine.name)
            else:
                self._own[machine.name] = (chip, machine.chips)

    @property
    def regions(self) -> frozenset[str]:
        """All that there are."""
        return frozenset(self.zones)

    def zones_with(self, region: str, types: Iterable[str]) -> list[str]:
        """The zones of a region that have all of these machine types; of types that the catalog
        does not list, every zone has some."""
        needed = [found for found in map(self._zones_of, set(types)) if found]
        return [zone for zone in self.zones[region] if all(zone in found for found in needed)]

    def _zones_of(self, machine_type: str) -> frozenset[str]:
        if machine_type not in self._sold:
            is_listed = machine_type in self._own
            offers = self._catalog.offers(machine=machine_type) if is_listed else ()
            self._sold[machine_type] = frozenset(offer.zone for offer in offers)
        return self._sold[machine_type]

    def vcpus(self, machine_type: str) -> int:
        """Of one machine; a plain type's are in its name."""
        digits = machine_type.rpartition("-")[2]
        return self._vcpus.get(machine_type, int(digits) if digits.isdecimal() else 0)

    def kind(self, spec: dict[str, Any], problems: list[tuple[str, str]], field: str) -> Kind:
        """What a machineSpec asks for; what is wrong with it is added to the problems."""
        name = spec.get("machineType", "")
        asked = spec.get("acceleratorType", "")
        asked = "" if asked == "ACCELERATOR_TYPE_UNSPECIFIED" else asked
        count = int(spec.get("acceleratorCount", 0))
        if not name:
            problems.append((f"{field}.machine_type", "Required field is not set."))
            return Kind("", "", 0)
        if name in self._own:
            chip, chips = self._own[name]
            if asked and (chip_name(asked) != chip or count not in (0, chips)):
                why = (
                    f'Machine type "{name}" is not supported with accelerator type '
                    f'"{asked}" and count {count}.'
                )
                problems.append((f"{field}.accelerator_type", why))
            return Kind(name, chip, chips, _hosts(spec.get("tpuTopology", ""), chips))
        if name == OLD_TPU:
            return Kind(name, chip_name(asked), count)
        if name not in self._vcpus and not PLAIN.fullmatch(name):
            problems.append((f"{field}.machine_type", f'Machine type "{name}" is not supported.'))
        elif asked and not name.startswith("n1-"):
            why = f'Accelerators cannot be attached to machine type "{name}".'
            problems.append((f"{field}.accelerator_type", why))
        elif asked and count < 1:
            problems.append((f"{field}.accelerator_count", "Must be at least 1."))
        return Kind(name, chip_name(asked), count if asked else 0)


def chip_name(accelerator: str) -> str:
    """An accelerator of Vertex AI as Compute Engine names it."""
    return DIFFERENT.get(accelerator, accelerator.lower().replace("_", "-"))


def model(scheduling: dict[str, Any], spec: dict[str, Any]) -> Model:
    """How a pool's machines are bought."""
    affinity = spec.get("reservationAffinity", {}).get("reservationAffinityType", "")
    if affinity == "SPECIFIC_RESERVATION":
        return Model.RESERVED
    return MODELS.get(scheduling.get("strategy", ""), Model.STANDARD)


def _hosts(topology: str, chips: int) -> int:
    sides = topology.split("x") if topology else []
    if not sides or not all(side.isdecimal() for side in sides):
        return 1
    return max(1, math.prod(int(side) for side in sides) // max(chips, 1))
