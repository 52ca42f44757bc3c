"""Which slices can be had in which zone, and with which software: from the catalog.

Must not know what is in use.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from windlass.twin.market import Model, Wanted
from windlass.twin.tpu.names import Place, bad_request, invalid, no_such_location

if TYPE_CHECKING:
    from windlass.catalog.model import Slice
    from windlass.catalog.query import Catalog
    from windlass.twin.cloud import Cloud

TYPES = {"v2": "V2", "v3": "V3", "v4": "V4", "v5e": "V5LITE_POD", "v5p": "V5P", "v6e": "V6E"}
"""Google's enum by the catalog's chip. Later chips are not sold through Cloud TPU."""
OLD_RUNTIMES = (
    "tpu-vm-base",
    "tpu-vm-v4-base",
    "tpu-vm-pt-1.13",
    "tpu-vm-pt-2.0",
    "tpu-vm-tf-2.12.0",
    "tpu-vm-tf-2.13.0",
    "tpu-vm-tf-2.14.0",
    "tpu-vm-tf-2.15.0-pjrt",
    "tpu-vm-tf-2.16.1-pjrt",
    "tpu-vm-tf-2.17.0-pjrt",
    "v2-alpha-tpuv4",
    "v2-alpha-tpuv5-lite",
    "v2-alpha-tpuv5",
)
"""Runtimes that tutorials name."""
FAMILIES = re.compile(
    r"tpu-vm-(?:tf|pt)-\d+\.\d+(?:\.\d+)?(?:-pod)?(?:-pjrt|-se)?(?:-v4)?"
    r"|tpu-vm-(?:v4-)?(?:base|pt-nightly|cos)\S*|tpu-ubuntu\d{4}-base\S*"
    r"|v2-(?:alpha|nightly|tf|pt)\S*|v2"
)
"""Runtimes that exist, of which Google lists hundreds."""
TENSORFLOW = ("2.12.0", "2.13.0", "2.14.0", "2.15.0", "2.16.1", "2.17.0", "pytorch-2.0", "nightly")
"""What v1 calls a version."""


class Kinds:
    """Slices by zone."""

    def __init__(self, cloud: Cloud, *, catalog: Catalog) -> None:
        self._cloud = cloud
        self._slices = catalog.slices
        self._chips = catalog.chips
        by_zone: dict[str, dict[str, Slice]] = {}
        for offer in catalog.all_offers():
            if offer.slice is not None and offer.slice.chip in TYPES:
                by_zone.setdefault(offer.zone, {})[offer.slice.accelerator_type] = offer.slice
        self._by_zone = by_zone
        self.zones = tuple(sorted(by_zone))
        current = {one.runtime_version for one in self._slices.values() if one.chip in TYPES} | set(
            OLD_RUNTIMES
        )
        self.runtimes = tuple(sorted(current))

    def check_place(self, place: Place) -> None:
        """Refuse a zone without TPUs."""
        if place.zone not in self._by_zone:
            raise no_such_location(place.zone)

    def in_zone(self, zone: str) -> list[Slice]:
        """All slices that can be had, small ones first."""
        found = self._by_zone.get(zone, {}).values()
        return sorted(found, key=lambda one: (one.chip, one.chips, one.name))

    def slice(self, name: str) -> Slice:
        """By the catalog's name."""
        return self._slices[name]

    def asked(self, place: Place, node: dict[str, Any]) -> Slice:
        """The slice that a node's body asks for, or a refusal."""
        here = self._by_zone[place.zone]
        config = node.get("acceleratorConfig")
        if not node.get("acceleratorType") and config:
            for one in here.values():
                if TYPES[one.chip] == config.get("type") and one.topology == config.get("topology"):
                    return one
            wanted = f"{config.get('type')} {config.get('topology')}"
        else:
            wanted = node.get("acceleratorType") or "v2-8"
            if wanted in here:
                return here[wanted]
        what = f"the accelerator {wanted} was not found in zone {place.zone}"
        raise bad_request(self._cloud, what)

    def check_runtime(self, node: dict[str, Any]) -> None:
        """Refuse software that there is not."""
        version = node.get("runtimeVersion", "")
        if version not in self.runtimes and not FAMILIES.fullmatch(version):
            raise invalid(self._cloud, "RuntimeVersion", version)

    def wanted(self, zone: str, slice_: Slice, model: Model) -> Wanted:
        """What the market and the quotas count for one slice."""
        chip = self._chips[slice_.chip].google_name
        return Wanted(zone, slice_.accelerator_type, chip, slice_.chips, model)


def config_of(slice_: Slice) -> dict[str, str]:
    """A slice as the API's `acceleratorConfig`."""
    return {"type": TYPES[slice_.chip], "topology": slice_.topology}
