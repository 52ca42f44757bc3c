"""Autoscalers of managed instance groups, as gcloud looks for them.

Must not scale anything: the load of machines that only exist on paper is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.compute.collection import Collection, Kind

if TYPE_CHECKING:
    from windlass.twin.call import Call, Route
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.scopes import Scope

METHODS = ("insert", "get", "list", "aggregatedList", "delete", "testIamPermissions")


class Autoscalers:
    """Those of zones and of regions."""

    def __init__(self, base: Ground) -> None:
        kind = Kind(collection="autoscalers", singular="autoscaler", complete=_complete)
        self._collection = Collection(base, kind)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled: patches name the autoscaler elsewhere, and are not."""
        routes: dict[str, Route] = {}
        for group in ("autoscalers", "regionAutoscalers"):
            every = self._collection.routes(group=group)
            routes |= {
                f"compute.{group}.{name}": every[f"compute.{group}.{name}"] for name in METHODS
            }
        return routes


def _complete(call: Call | None, scope: Scope, resource: dict[str, Any]) -> None:
    resource["status"] = "ACTIVE"
