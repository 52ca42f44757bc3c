"""Names of clusters, node pools and operations, and the words in which Kubernetes Engine refuses.

Must not know what exists, but for places.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.compute.scopes import Places

ANYWHERE = "-"
ID = re.compile(r"[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?")
HOST = "https://container.googleapis.com/v1"


class Path(NamedTuple):
    """What a call is about."""

    project: str
    location: str
    cluster: str = ""
    pool: str = ""
    operation: str = ""

    @property
    def is_zonal(self) -> bool:
        """Zones end in a letter: `us-central1-a`."""
        return bool(re.search(r"-[a-z]$", self.location))

    @property
    def resource(self) -> str:
        """As messages and links have it."""
        kind = "zones" if self.is_zonal else "locations"
        words = ["projects", self.project, kind, self.location]
        for collection, name in (
            ("clusters", self.cluster),
            ("nodePools", self.pool),
            ("operations", self.operation),
        ):
            words += [collection, name] if name else []
        return "/".join(words)

    @property
    def link(self) -> str:
        """Its URL."""
        return f"{HOST}/{self.resource}"

    @property
    def key(self) -> str:
        """On a shelf."""
        return "/".join(filter(None, (self.location, self.cluster, self.pool, self.operation)))


def path_of(call: Call, places: Places) -> Path:
    """From either form of Kubernetes Engine's paths: one name, or each part by itself."""
    given = call.params.get("name") or call.params.get("parent") or ""
    words = given.split("/")
    named = dict(zip(words[::2], words[1::2], strict=False))
    settings, params = call.cloud.settings, call.params
    project = named.get("projects") or params.get("projectId", "")
    if project not in (settings.project, settings.project_number):
        raise Refusal(403, f"Permission denied on resource project {project}.")
    location = named.get("locations") or params.get("zone", ANYWHERE)
    if location not in (ANYWHERE, *places.zones, *places.regions):
        message = f"Permission denied on 'locations/{location}' (or it may not exist)."
        raise Refusal(403, message)
    return Path(
        settings.project,
        location,
        named.get("clusters") or params.get("clusterId", ""),
        named.get("nodePools") or params.get("nodePoolId", ""),
        named.get("operations") or params.get("operationId", ""),
    )


def check_id(name: str, what: str) -> None:
    """Kubernetes Engine's rule for names."""
    if not ID.fullmatch(name):
        message = (
            f"{what} must start with a lowercase letter followed by up to 39 lowercase letters, "
            "numbers, or hyphens, and cannot end with a hyphen."
        )
        raise Refusal(400, message)


def not_found(path: Path) -> Refusal:
    """There is no such thing."""
    return Refusal(404, f"Not found: {path.resource}.")


def already_exists(path: Path) -> Refusal:
    """There is one of that name."""
    return Refusal(409, f"Already exists: {path.resource}.")


def is_busy(operation: str) -> Refusal:
    """A cluster does one thing at a time."""
    message = f"Cluster is running incompatible operation {operation}."
    return Refusal(400, message, status="FAILED_PRECONDITION", reason="failedPrecondition")
