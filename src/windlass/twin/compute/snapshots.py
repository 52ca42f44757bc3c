"""Snapshots of disks.

Must not hold what was on a disk: they only say of which, when, and how large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.compute.collection import Collection, Kind
from windlass.twin.compute.instance import DEFAULT_DISK_GB
from windlass.twin.compute.links import last
from windlass.twin.compute.scopes import Scope, not_found

if TYPE_CHECKING:
    from windlass.twin.call import Call, Route
    from windlass.twin.compute.ground import Ground


class Snapshots:
    """All snapshots of the project."""

    def __init__(self, base: Ground) -> None:
        kind = Kind(
            collection="snapshots", singular="snapshot", has_labels=True, complete=_complete
        )
        self._collection = Collection(base, kind)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return self._collection.routes()

    def take(self, call: Call, disk: dict[str, Any]) -> None:
        """Of a disk, now."""
        body = {
            **call.body,
            "sourceDisk": disk["selfLink"],
            "sourceDiskId": disk["id"],
            "diskSizeGb": disk["sizeGb"],
        }
        self._collection.make(call, Scope(call.project, "global"), body)

    def size_gb(self, url: str, project: str) -> str:
        """How large a disk of it is, or a refusal where there is none."""
        scope = Scope(project, "global")
        kept = self._collection.shelf.get(scope.key(last(url)))
        if kept is None:
            raise not_found(scope, "snapshots", last(url))
        return str(kept["diskSizeGb"])


def _complete(call: Call | None, scope: Scope, snapshot: dict[str, Any]) -> None:
    snapshot["status"] = "READY"
    snapshot.setdefault("diskSizeGb", str(DEFAULT_DISK_GB))
    snapshot.setdefault("snapshotType", "STANDARD")
    snapshot.setdefault("storageLocations", ["us"])
    snapshot |= {"storageBytes": "0", "storageBytesStatus": "UP_TO_DATE"}
