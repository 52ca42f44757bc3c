"""The API of what Cloud TPU has: locations, accelerator types, software versions.

Must not change anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.tpu.kinds import TENSORFLOW, config_of
from windlass.twin.tpu.names import Place, last, not_found, place_of
from windlass.twin.tpu.shapes import paged, shaped

if TYPE_CHECKING:
    from windlass.catalog.model import Slice
    from windlass.twin.tpu.ground import Ground

PREFIX = "tpu.projects.locations"


class PlaceMethods:
    """All of it can be read only."""

    def __init__(self, ground: Ground) -> None:
        self._kinds = ground.kinds
        self._settings = ground.cloud.settings

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return locked(
            {
                f"{PREFIX}.list": self.locations,
                f"{PREFIX}.get": self.location,
                f"{PREFIX}.generateServiceIdentity": self.identity,
                f"{PREFIX}.acceleratorTypes.list": self.accelerator_types,
                f"{PREFIX}.acceleratorTypes.get": self.accelerator_type,
                f"{PREFIX}.runtimeVersions.list": self.versions,
                f"{PREFIX}.runtimeVersions.get": self.version,
                f"{PREFIX}.tensorflowVersions.list": self.versions,
                f"{PREFIX}.tensorflowVersions.get": self.version,
                f"{PREFIX}.reservations.list": self.reservations,
            }
        )

    def locations(self, call: Call) -> dict[str, Any]:
        """Every zone with TPUs."""
        project = place_of(call).project
        return paged(
            call, "locations", (_location(Place(project, zone)) for zone in self._kinds.zones)
        )

    def location(self, call: Call) -> dict[str, Any]:
        """One zone."""
        return _location(self._place(call))

    def identity(self, call: Call) -> dict[str, Any]:
        """The account that Cloud TPU itself acts as."""
        number = self._settings.project_number
        return {"identity": {"email": f"service-{number}@cloud-tpu.iam.gserviceaccount.com"}}

    def accelerator_types(self, call: Call) -> dict[str, Any]:
        """The slices of a zone."""
        place = self._place(call)
        found = (_type(place, one, call.method.version) for one in self._kinds.in_zone(place.zone))
        return paged(call, "acceleratorTypes", found)

    def accelerator_type(self, call: Call) -> dict[str, Any]:
        """One kind of slice."""
        place, wanted = self._place(call), last(call.params["name"])
        for one in self._kinds.in_zone(place.zone):
            if one.accelerator_type == wanted:
                return _type(place, one, call.method.version)
        raise not_found(place.name("acceleratorTypes", wanted))

    def versions(self, call: Call) -> dict[str, Any]:
        """What may run on them, in the words of the version that is asked."""
        place, collection = self._place(call), _collection(call)
        found = ({"name": place.name(collection, one), "version": one} for one in self._all(call))
        return paged(call, collection, found)

    def version(self, call: Call) -> dict[str, Any]:
        """One of them."""
        place, wanted = self._place(call), last(call.params["name"])
        name = place.name(_collection(call), wanted)
        if wanted not in self._all(call):
            raise not_found(name)
        return {"name": name, "version": wanted}

    def reservations(self, call: Call) -> dict[str, Any]:
        """There are none: Google's people make them, not this API."""
        self._place(call)
        return {}

    def _all(self, call: Call) -> tuple[str, ...]:
        return TENSORFLOW if _collection(call) == "tensorflowVersions" else self._kinds.runtimes

    def _place(self, call: Call) -> Place:
        place = place_of(call)
        self._kinds.check_place(place)
        return place


def _collection(call: Call) -> str:
    return call.method.id.split(".")[-2]


def _location(place: Place) -> dict[str, Any]:
    return {
        "name": place.path,
        "locationId": place.zone,
        "labels": {"cloud.googleapis.com/region": place.zone.rpartition("-")[0]},
    }


def _type(place: Place, slice_: Slice, version: str) -> dict[str, Any]:
    kind = {
        "name": place.name("acceleratorTypes", slice_.accelerator_type),
        "type": slice_.accelerator_type,
        "acceleratorConfigs": [config_of(slice_)],
    }
    return shaped(version, "AcceleratorType", kind)
