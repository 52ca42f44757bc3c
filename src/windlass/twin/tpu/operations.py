"""Cloud TPU's long-running operations.

Must not carry anything out: whoever starts one says when it ends, or ends it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.tpu.names import Place, name_of, not_found, place_of, place_of_name
from windlass.twin.tpu.shapes import paged

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

KEPT = 14 * 86_400.0
INTERNAL = 13
EMPTY = {"@type": "type.googleapis.com/google.protobuf.Empty"}

Show = Callable[[str, str], dict[str, Any]]
"""A resource by name, in the shape of a version; empty when it is gone."""


class Operations:
    """All operations of Cloud TPU."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._operations = cloud.documents("tpu.operations")
        self._requests = cloud.documents("tpu.requests")
        self._shows: dict[str, Show] = {}
        self.undo: Callable[[str], None] = _nothing
        """Takes back the resource of a creation that fails after all, by its name."""
        cloud.on("tpu.operation.done", self.finish)
        cloud.on("tpu.operation.old", self._old)
        cloud.on("tpu.operation.failed", self._failed)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        prefix = "tpu.projects.locations.operations"
        return locked(
            {
                f"{prefix}.get": self.get,
                f"{prefix}.list": self.list_all,
                f"{prefix}.delete": self.delete,
                f"{prefix}.cancel": self.cancel,
            }
        )

    def shows(self, collection: str, show: Show) -> None:
        """How the resources of a collection are put into answers."""
        self._shows[collection] = show

    def repeated(self, call: Call) -> dict[str, Any] | None:
        """What a request with this id was answered before."""
        request_id = call.query.get("requestId")
        record = self._requests.get(f"{call.project}/{request_id}") if request_id else None
        if record is None or record["operation"] not in self._operations:
            return None
        return self.shown(record["operation"])

    def start(
        self,
        call: Call,
        target: str,
        *,
        verb: str,
        seconds: float | None = None,
        error: dict[str, Any] | None = None,
    ) -> str:
        """An operation on a resource; its name. It ends after so many seconds, with the error if
        there is one; or, without `seconds`, when somebody ends it."""
        cloud = self._cloud
        id_ = f"operation-{int(cloud.clock.now() * 1000)}-{int(cloud.new_id()):x}"
        name = place_of_name(target).name("operations", id_)
        operation = {
            "verb": verb,
            "target": target,
            "version": call.method.version,
            "created": cloud.stamp(),
            "done": False,
        }
        if error is not None:
            operation["error"] = error
        self._operations.put(name, operation)
        if call.query.get("requestId"):
            key = f"{call.project}/{call.query['requestId']}"
            self._requests.put(key, {"operation": name})
        if seconds is not None and seconds > 0:
            cloud.later(seconds, "tpu.operation.done", name)
        elif seconds is not None:
            self.finish(name)
        cloud.later(KEPT, "tpu.operation.old", name)
        return name

    def finish(self, name: str) -> None:
        """It has ended, well unless it has an error. A second end changes nothing."""
        operation = self._operations.get(name)
        if operation is None or operation["done"] or "late" in operation:
            return
        operation |= {"done": True, "ended": self._cloud.stamp()}
        if "error" not in operation:
            operation["response"] = self._response(operation)
        self._operations.put(name, operation)

    def fail(self, name: str, code: int, message: str) -> None:
        """It has ended badly."""
        operation = self._operations.get(name)
        if operation is not None and not operation["done"]:
            operation["error"] = {"code": code, "message": message}
            self.finish(name)

    def fail_late(
        self, operation: dict[str, Any], *, seconds: float, code: str, message: str
    ) -> dict[str, Any] | None:
        """See faults.door_faults.LateFailures: it runs for so long, and fails then."""
        name = str(operation.get("name", ""))
        kept = self._operations.get(name)
        if kept is None or "error" in kept:
            return None
        kept.pop("response", None)
        kept |= {"done": False, "late": {"code": INTERNAL, "message": f"{code}: {message}"}}
        self._operations.put(name, kept)
        self._cloud.later(seconds, "tpu.operation.failed", name)
        return self.shown(name)

    def _failed(self, name: str) -> None:
        operation = self._operations.get(name)
        if operation is None or "late" not in operation:
            return
        operation["error"] = operation.pop("late")
        self.finish(name)
        if operation["verb"] == "create":
            self.undo(operation["target"])

    def shown(self, name: str) -> dict[str, Any]:
        """As the API gives it."""
        operation = self._operations.get(name)
        assert operation is not None, f"no operation {name}"
        version = operation["version"]
        metadata = {
            "@type": f"type.googleapis.com/google.cloud.tpu.{version}.OperationMetadata",
            "createTime": operation["created"],
            "target": operation["target"],
            "verb": operation["verb"],
            "cancelRequested": False,
            "apiVersion": version,
        }
        shown = {"name": name, "metadata": metadata, "done": operation["done"]}
        if operation["done"]:
            metadata["endTime"] = operation["ended"]
            outcome = "error" if "error" in operation else "response"
            shown[outcome] = operation[outcome]
        return shown

    def get(self, call: Call) -> dict[str, Any]:
        """How far it is."""
        return self.shown(self._named(call))

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of one zone."""
        place = place_of(call)
        prefix = Place(place.project, place.zone).prefix("operations")
        found = (self.shown(name) for name, _ in self._operations.under(prefix))
        return paged(call, "operations", found)

    def delete(self, call: Call) -> dict[str, Any]:
        """Forget it."""
        self._operations.drop(self._named(call))
        return {}

    def cancel(self, call: Call) -> dict[str, Any]:
        """Cloud TPU takes the wish, and goes on."""
        self._named(call)
        return {}

    def _named(self, call: Call) -> str:
        name = name_of(call)
        if name not in self._operations:
            raise not_found(name)
        return name

    def _response(self, operation: dict[str, Any]) -> dict[str, Any]:
        target, version = operation["target"], operation["version"]
        collection = target.split("/")[-2]
        resource = self._shows[collection](target, version)
        if operation["verb"] == "delete" or not resource:
            return dict(EMPTY)
        kind = {"nodes": "Node", "queuedResources": "QueuedResource"}[collection]
        return {"@type": f"type.googleapis.com/google.cloud.tpu.{version}.{kind}", **resource}

    def _old(self, name: str) -> None:
        self._operations.drop(name)


def _nothing(name: str) -> None:
    """Nothing to take back."""
