"""What the rules ask the catalog: machines with their GPUs, TPU types, images, quotas, zones.

Must not hold facts of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from windlass.catalog.model import Buy, Machine, Slice
from windlass.catalog.query import Catalog
from windlass.gcloudlint.surface import Surface

DEEP_LEARNING = "deeplearning-platform-release"
_PER_FAMILY = "GPUS_PER_GPU_FAMILY:"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Everything a rule may look up."""

    surface: Surface
    catalog: Catalog

    @cached_property
    def machines(self) -> dict[str, Machine]:
        """Machine types that come with their accelerators, by name."""
        return {one.name: one for one in self.catalog.machines.values() if one.family != "n1"}

    @cached_property
    def families(self) -> frozenset[str]:
        """What names of machine types begin with that always have accelerators: `a3`."""
        return frozenset(one.name.partition("-")[0] for one in self.machines.values() if one.chips)

    @cached_property
    def slices(self) -> dict[str, Slice]:
        """TPU slices by the accelerator type that Cloud TPU knows."""
        return {one.accelerator_type: one for one in self.catalog.slices.values()}

    @cached_property
    def runtimes(self) -> dict[str, str]:
        """The runtime version of each generation of TPUs."""
        return {one.chip: one.runtime_version for one in self.catalog.slices.values()}

    def accelerator_of(self, machine: str) -> tuple[str, int]:
        """Google's name and the count of a machine type's GPUs; nothing for others."""
        found = self.machines.get(machine)
        if not found or not found.chip:
            return "", 0
        return self.catalog.chips[found.chip].google_name, found.chips

    @cached_property
    def gpu_image(self) -> str:
        """An image family of today that has the driver and is no blueprint's own."""
        families = (one for one in self.catalog.images if one.kind == "vm_image_family")
        return next(one.name for one in families if one.project == DEEP_LEARNING)

    @cached_property
    def metrics_without_region(self) -> dict[str, str]:
        """On-demand quota metrics that people expect and that no region has, and the real ones."""
        found = {}
        for chip in self.catalog.chips.values():
            metric = chip.quota.get(Buy.ON_DEMAND) or ""
            if metric.startswith(_PER_FAMILY):
                found[f"{metric.removeprefix(_PER_FAMILY)}_GPUS"] = metric
        return found
