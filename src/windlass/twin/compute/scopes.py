"""Where a Compute Engine resource lives: a zone, a region, or everywhere.

Must not know what is there: only which places exist, from the catalog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from windlass.catalog.model import Buy
from windlass.twin.compute.links import link
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.call import Call


SINGULAR = {"resourcePolicies": "resource_policy", "instanceTemplates": "instance_template"}
"""How refusals call a collection's resources, where not by the name without its last letter."""


class Scope(NamedTuple):
    """A place in a project."""

    project: str
    kind: str
    """`zones`, `regions` or `global`."""
    place: str = ""

    @property
    def path(self) -> str:
        """As it is in a URL: `zones/us-central1-a`."""
        return f"{self.kind}/{self.place}" if self.place else self.kind

    def key(self, name: str) -> str:
        """A resource's key on its shelf."""
        return f"{self.project}/{self.path}/{name}"

    def link(self, collection: str = "", name: str = "") -> str:
        """A resource's URL."""
        return link(self.project, self.path, collection, name)

    @property
    def region(self) -> str:
        """The region, of a zone too; empty for global."""
        return self.place.rpartition("-")[0] if self.kind == "zones" else self.place

    @property
    def fields(self) -> dict[str, str]:
        """How a resource says where it is."""
        return {self.kind[:-1]: link(self.project, self.path)} if self.place else {}


class Places:
    """The zones and regions that there are."""

    def __init__(self, catalog: Catalog) -> None:
        self.zones = tuple(sorted(catalog.zones))
        self.regions = tuple(sorted({zone.rpartition("-")[0] for zone in self.zones}))
        self._known = frozenset(self.zones) | frozenset(self.regions)
        self._catalog = catalog

    def scope(self, call: Call) -> Scope:
        """The place that a call's path names."""
        for kind in ("zone", "region"):
            place = call.params.get(kind)
            if place is not None:
                if place not in self._known:
                    raise unknown_place(kind, place)
                return Scope(call.project, f"{kind}s", place)
        return Scope(call.project, "global")

    def sells(self, zone: str, machine_type: str) -> bool:
        """Whether the catalog has that type there."""
        return any(self._catalog.offer(f"{zone}/{machine_type}/{buy}") for buy in Buy)

    def zones_of(self, region: str) -> list[str]:
        """In order."""
        return [zone for zone in self.zones if zone.rpartition("-")[0] == region]


def unknown_place(kind: str, place: str) -> Refusal:
    """As Google refuses it."""
    message = f"Invalid value for field '{kind}': '{place}'. Unknown {kind}."
    return Refusal(400, message, reason="invalid")


def not_found(scope: Scope, collection: str, name: str) -> Refusal:
    """As Google refuses it."""
    resource = f"projects/{scope.project}/{scope.path}/{collection}/{name}"
    return Refusal(404, f"The resource '{resource}' was not found")


def already_exists(scope: Scope, collection: str, name: str) -> Refusal:
    """As Google refuses it."""
    resource = f"projects/{scope.project}/{scope.path}/{collection}/{name}"
    return Refusal(409, f"The resource '{resource}' already exists")


def in_use(link: str, user: str) -> Refusal:
    """As Google refuses to delete or attach what something else uses; both are URLs."""
    resource, other = link.partition("/v1/")[2], user.partition("/v1/")[2]
    collection = resource.split("/")[-2]
    word = SINGULAR.get(collection, collection[:-1])
    message = f"The {word} resource '{resource}' is already being used by '{other}'"
    return Refusal(400, message, reason="resourceInUseByAnotherResource")


def invalid(field: str, value: str, why: str) -> Refusal:
    """As Google refuses a value."""
    message = f"Invalid value for field 'resource.{field}': '{value}'. {why}"
    return Refusal(400, message, reason="invalid")
