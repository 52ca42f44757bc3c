"""Zones, regions with quotas, types of machines, accelerators and disks; the project.

Must not have opinions about what exists: the catalog has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.fingerprints import fingerprint
from windlass.twin.compute.links import BASE
from windlass.twin.compute.listing import Keyed, aggregated, listed
from windlass.twin.compute.scopes import Scope, not_found

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground

CREATED = "1969-12-31T16:00:00.000-08:00"
DISK_TYPES = (
    "pd-standard",
    "pd-balanced",
    "pd-ssd",
    "local-ssd",
    "hyperdisk-balanced",
    "hyperdisk-ml",
    "hyperdisk-throughput",
)
# The accelerators' full names; the rest are named as the API names them.
DESCRIPTIONS = {
    "nvidia-a100-80gb": "NVIDIA A100 80GB",
    "nvidia-h100-80gb": "NVIDIA H100 80GB",
    "nvidia-h100-mega-80gb": "NVIDIA H100 80GB MEGA",
    "nvidia-h200-141gb": "NVIDIA H200 141GB",
    "nvidia-l4": "NVIDIA L4",
    "nvidia-tesla-a100": "NVIDIA A100 40GB",
    "nvidia-tesla-p100": "NVIDIA Tesla P100",
    "nvidia-tesla-p4": "NVIDIA Tesla P4",
    "nvidia-tesla-t4": "NVIDIA T4",
    "nvidia-tesla-v100": "NVIDIA V100",
}
Maker = Callable[[str], Iterable[dict[str, Any]]]


class PlaceMethods:
    """The API of what there is where."""

    def __init__(self, base: Ground) -> None:
        self._base = base
        self._project = base.cloud.documents("compute.project")
        self._types = _types_by_zone(base)
        self._accelerators = _accelerators_by_zone(base)
        base.instances.project_metadata = self.metadata()

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        handlers = {
            "zones.get": self.zone,
            "zones.list": self.zones,
            "regions.get": self.region,
            "regions.list": self.regions,
            "projects.get": self.project,
            "projects.setCommonInstanceMetadata": self.set_metadata,
        }
        routes = locked({f"compute.{name}": one for name, one in handlers.items()})
        for collection, singular, maker in (
            ("machineTypes", "machineType", self._machine_types),
            ("acceleratorTypes", "acceleratorType", self._accelerator_types),
            ("diskTypes", "diskType", self._disk_types),
        ):
            routes |= self._listing(collection, singular, maker)
        return routes

    def metadata(self) -> dict[str, str]:
        """The project's, which all its instances see."""
        items = (self._project.get("metadata") or {}).get("items", [])
        return {item["key"]: item.get("value", "") for item in items}

    def zone(self, call: Call) -> dict[str, Any]:
        """One zone."""
        return self._zone(self._base.places.scope(call))

    def zones(self, call: Call) -> dict[str, Any]:
        """All of them."""
        names = self._base.places.zones
        return listed(
            call, "zone", [(one, self._zone(Scope(call.project, "zones", one))) for one in names]
        )

    def region(self, call: Call) -> dict[str, Any]:
        """One region, with the project's quotas there."""
        return self._region(self._base.places.scope(call))

    def regions(self, call: Call) -> dict[str, Any]:
        """All of them."""
        names = self._base.places.regions
        found = [(one, self._region(Scope(call.project, "regions", one))) for one in names]
        return listed(call, "region", found)

    def project(self, call: Call) -> dict[str, Any]:
        """The project, with its global quotas and metadata."""
        settings = self._base.cloud.settings
        quotas = self._base.quotas
        items = (self._project.get("metadata") or {}).get("items", [])
        return {
            "kind": "compute#project",
            "id": settings.project_number,
            "name": settings.project,
            "creationTimestamp": "2026-01-05T01:00:00.000-08:00",
            "commonInstanceMetadata": {
                "kind": "compute#metadata",
                "fingerprint": fingerprint(items),
                "items": items,
            },
            "quotas": [
                {
                    "metric": metric,
                    "limit": quotas.limit("global", metric),
                    "usage": quotas.usage("global", metric),
                }
                for metric in ("NETWORKS", "FIREWALLS", "GPUS_ALL_REGIONS")
            ],
            "selfLink": f"{BASE}projects/{settings.project}",
            "defaultServiceAccount": settings.default_service_account,
            "xpnProjectStatus": "UNSPECIFIED_XPN_PROJECT_STATUS",
            "defaultNetworkTier": "PREMIUM",
        }

    def set_metadata(self, call: Call) -> dict[str, Any]:
        """What all instances see, anew."""
        self._project.put("metadata", {"items": call.body.get("items", [])})
        self._base.instances.project_metadata = self.metadata()
        scope = Scope(call.project, "global")
        return self._base.operations.start(call, scope, target=f"{BASE}projects/{call.project}")

    def _listing(self, collection: str, singular: str, maker: Maker) -> dict[str, Route]:
        def get(call: Call) -> dict[str, Any]:
            scope = self._base.places.scope(call)
            wanted = call.params[singular]
            for one in maker(scope.place):
                if one["name"] == wanted:
                    return self._placed(scope, collection, singular, one)
            raise not_found(scope, collection, wanted)

        def found(project: str, zones: Iterable[str]) -> Iterable[Keyed]:
            for zone in zones:
                scope = Scope(project, "zones", zone)
                for one in maker(zone):
                    key = scope.key(one["name"])
                    yield key, self._placed(scope, collection, singular, one)

        def list_all(call: Call) -> dict[str, Any]:
            scope = self._base.places.scope(call)
            return listed(call, singular, found(call.project, [scope.place]))

        def aggregated_list(call: Call) -> dict[str, Any]:
            zones = self._base.places.zones
            return aggregated(call, singular, collection, found(call.project, zones))

        handlers = {"get": get, "list": list_all, "aggregatedList": aggregated_list}
        return locked({f"compute.{collection}.{name}": one for name, one in handlers.items()})

    def _placed(
        self, scope: Scope, collection: str, singular: str, one: dict[str, Any]
    ) -> dict[str, Any]:
        is_machine = singular == "machineType"
        return {
            "kind": f"compute#{singular}",
            "id": _number(one["name"]),
            "creationTimestamp": CREATED,
            **one,
            "zone": scope.place if is_machine else scope.link(),
            "selfLink": scope.link(collection, one["name"]),
        }

    def _machine_types(self, zone: str) -> Iterable[dict[str, Any]]:
        return self._types.get(zone, ())

    def _accelerator_types(self, zone: str) -> Iterable[dict[str, Any]]:
        return self._accelerators.get(zone, ())

    def _disk_types(self, zone: str) -> Iterable[dict[str, Any]]:
        return (
            {"name": name, "description": name, "validDiskSize": "10GB-65536GB"}
            for name in DISK_TYPES
        )

    def _zone(self, scope: Scope) -> dict[str, Any]:
        return {
            "kind": "compute#zone",
            "id": _number(scope.place),
            "creationTimestamp": CREATED,
            "name": scope.place,
            "description": scope.place,
            "status": "UP",
            "region": Scope(scope.project, "regions", scope.region).link(),
            "availableCpuPlatforms": ["Intel Sapphire Rapids", "Intel Cascade Lake", "AMD Milan"],
            "supportsPzs": False,
            "selfLink": scope.link(),
        }

    def _region(self, scope: Scope) -> dict[str, Any]:
        zones = self._base.places.zones_of(scope.place)
        return {
            "kind": "compute#region",
            "id": _number(scope.place),
            "creationTimestamp": CREATED,
            "name": scope.place,
            "description": scope.place,
            "status": "UP",
            "zones": [Scope(scope.project, "zones", zone).link() for zone in zones],
            "quotas": self._base.quotas.regional(scope.place),
            "supportsPzs": False,
            "selfLink": scope.link(),
        }


def _number(name: str) -> str:
    return str(int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big"))


def _types_by_zone(base: Ground) -> dict[str, list[dict[str, Any]]]:
    """What the catalog has offers for, by zone."""
    chips = base.catalog.chips
    zones: dict[str, dict[str, dict[str, Any]]] = {}
    for offer in base.catalog.all_offers():
        machine = offer.machine
        if offer.slice is not None or machine.name in zones.get(offer.zone, {}):
            continue
        entry: dict[str, Any] = {
            "name": machine.name,
            "description": f"{machine.vcpus} vCPUs {machine.memory_gib:g} GB RAM",
            "guestCpus": machine.vcpus,
            "memoryMb": int(machine.memory_gib * 1024),
            "isSharedCpu": False,
            "architecture": "X86_64",
            "maximumPersistentDisks": 128,
            "maximumPersistentDisksSizeGb": "263168",
            "imageSpaceGb": 0,
        }
        if machine.chip is not None and machine.family != "n1":
            kind = chips[machine.chip].google_name
            entry["accelerators"] = [
                {"guestAcceleratorType": kind, "guestAcceleratorCount": machine.chips}
            ]
        zones.setdefault(offer.zone, {})[machine.name] = entry
    return {zone: [names[name] for name in sorted(names)] for zone, names in zones.items()}


def _accelerators_by_zone(base: Ground) -> dict[str, list[dict[str, Any]]]:
    most: dict[str, dict[str, int]] = {}
    for offer in base.catalog.all_offers():
        if offer.chip is not None and offer.slice is None:
            kinds = most.setdefault(offer.zone, {})
            name = offer.chip.google_name
            kinds[name] = max(kinds.get(name, 0), offer.machine.chips)
    return {
        zone: [
            {
                "name": name,
                "description": DESCRIPTIONS.get(name, name),
                "maximumCardsPerInstance": kinds[name],
            }
            for name in sorted(kinds)
        ]
        for zone, kinds in most.items()
    }
