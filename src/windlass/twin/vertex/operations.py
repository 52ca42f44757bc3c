"""Vertex AI's long-running operations, which are only deletes here.

Must not carry anything out: what an operation is about was done before it is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Handler
from windlass.twin.vertex.places import place, resource
from windlass.twin.vertex.words import not_found

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.vertex.places import Place

TYPES = "type.googleapis.com/google.cloud.aiplatform"
COLLECTIONS = ("", "customJobs.", "trainingPipelines.", "models.")


class Operations:
    """All of them."""

    def __init__(self, cloud: Cloud, *, regions: frozenset[str]) -> None:
        self._cloud = cloud
        self._regions = regions
        self._operations = cloud.documents("aiplatform.operations")

    def handlers(self) -> dict[str, Handler]:
        """The methods that are modelled."""
        found: dict[str, Handler] = {}
        for collection in COLLECTIONS:
            prefix = f"aiplatform.projects.locations.{collection}operations"
            found |= {f"{prefix}.get": self.get, f"{prefix}.wait": self.get}
            found |= {f"{prefix}.list": self.list_all, f"{prefix}.cancel": self.cancel}
        return found

    def deleted(self, where: Place, *, version: str) -> dict[str, Any]:
        """An operation for something that was deleted just now."""
        name = where.name("operations", self._cloud.new_id())
        now = self._cloud.stamp()
        operation = {
            "name": name,
            "done": True,
            "metadata": {
                "@type": f"{TYPES}.{version}.DeleteOperationMetadata",
                "genericMetadata": {"createTime": now, "updateTime": now},
            },
            "response": {"@type": "type.googleapis.com/google.protobuf.Empty"},
        }
        self._operations.put(name, operation)
        return operation

    def get(self, call: Call) -> dict[str, Any]:
        """How far it is."""
        operation = self._operations.get(resource(call, self._regions))
        if operation is None:
            raise not_found("Operation")
        return operation

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a region."""
        prefix = place(call, self._regions).name("operations", "")
        found = [operation for _, operation in self._operations.under(prefix)]
        return {"operations": found} if found else {}

    def cancel(self, call: Call) -> dict[str, Any]:
        """It is done already."""
        self.get(call)
        return {}
