"""Compute Engine's operations: how a change that takes time reports how far it is.

Must not carry anything out: whoever starts one says when it will be done, and what then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route
from windlass.twin.compute.listing import aggregated, listed
from windlass.twin.compute.scopes import Places, Scope, not_found

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.room import Refused

LONGEST_WAIT = 120.0
"""So long a call to `wait` is held open, in the twin's seconds, as Google does."""
NEVER = float("inf")
KEPT = 14 * 86_400.0


class Operations:
    """Zonal, regional and global ones."""

    def __init__(self, cloud: Cloud, *, places: Places) -> None:
        self._cloud = cloud
        self._places = places
        self._operations = cloud.documents("compute.operations")
        self._requests = cloud.documents("compute.requests")
        self._failing = cloud.documents("compute.operations.failing")
        self._refused = cloud.documents("compute.operations.refused")
        """What those will say that run, and cannot succeed."""
        self.undo: Callable[[dict[str, Any]], None] = _nothing
        """Takes back what an operation has done that fails after all."""
        cloud.on("compute.operation.done", self._done)
        cloud.on("compute.operation.old", self._old)
        cloud.on("compute.operation.failed", self._failed)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        routes: dict[str, Route] = {
            "compute.globalOperations.aggregatedList": Route(self.aggregated),
        }
        for kind in ("zoneOperations", "regionOperations", "globalOperations"):
            routes[f"compute.{kind}.get"] = Route(self.get)
            routes[f"compute.{kind}.list"] = Route(self.list_all)
            routes[f"compute.{kind}.delete"] = Route(self.delete)
            routes[f"compute.{kind}.wait"] = Route(self.wait, is_locked=False)
        return routes

    def repeated(self, call: Call) -> dict[str, Any] | None:
        """The operation that a request with this id has started before: a client that did not
        hear the answer asks again, and must not get two of anything."""
        request_id = call.query.get("requestId")
        record = self._requests.get(f"{call.project}/{request_id}") if request_id else None
        return self._operations.get(record["operation"]) if record is not None else None

    def start(
        self,
        call: Call,
        scope: Scope,
        *,
        target: str,
        target_id: str = "",
        seconds: float | None = None,
        more: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """An operation on a resource (its URL). It is done after so many seconds, by default
        after what operations take here; already when that is none. One that never ends by
        itself has to be finished."""
        cloud = self._cloud
        delay = cloud.settings.delays.operation if seconds is None else seconds
        number = cloud.new_id()
        name = f"operation-{int(cloud.clock.now() * 1000)}-{int(number):x}"
        operation: dict[str, Any] = {
            "kind": "compute#operation",
            "id": number,
            "name": name,
            "operationType": call.method.id.rpartition(".")[2],
            "targetLink": target,
            "targetId": target_id or cloud.new_id(),
            "status": "RUNNING",
            "user": call.principal,
            "progress": 0,
            "insertTime": cloud.stamp(),
            "startTime": cloud.stamp(),
            "selfLink": scope.link("operations", name),
            **scope.fields,
            **(more or {}),
        }
        key = scope.key(name)
        self._operations.put(key, operation)
        request_id = call.query.get("requestId")
        if request_id:
            self._requests.put(f"{call.project}/{request_id}", {"operation": key})
        if delay <= 0:
            self._done(key)
        elif delay != NEVER:
            cloud.later(delay, "compute.operation.done", key)
        cloud.later(KEPT, "compute.operation.old", key)
        return operation

    def fail(
        self,
        operation: dict[str, Any],
        scope: Scope,
        *,
        code: int,
        message: str,
        errors: Sequence[dict[str, Any]],
    ) -> dict[str, Any]:
        """It will end, or has ended, in failure; nobody is told before it has."""
        key = scope.key(operation["name"])
        said = {
            "error": {"errors": list(errors)},
            "httpErrorStatusCode": code,
            "httpErrorMessage": message,
        }
        if operation["status"] == "DONE":
            operation.update(said)
            self._operations.put(key, operation)
        else:
            self._refused.put(key, said)
        return operation

    def refuse(
        self, call: Call, scope: Scope, refused: Refused, *, target: str, target_id: str = ""
    ) -> dict[str, Any]:
        """An operation that says why there is no room."""
        operation = self.start(call, scope, target=target, target_id=target_id)
        return self.fail(
            operation,
            scope,
            code=refused.code,
            message=refused.message,
            errors=[refused.error],
        )

    def finish(self, key: str, refused: Refused | None = None) -> None:
        """One that was started without an end is over now."""
        operation = self._operations.get(key)
        if operation is None:
            return
        if refused is not None:
            operation["error"] = {"errors": [refused.error]}
            operation["httpErrorStatusCode"] = refused.code
            operation["httpErrorMessage"] = refused.message
        self._done(key)

    def fail_late(
        self, operation: dict[str, Any], *, seconds: float, code: str, message: str
    ) -> dict[str, Any] | None:
        """See faults.door_faults.LateFailures: it runs for so long, and fails then."""
        key = _key_of(operation) if operation.get("kind") == "compute#operation" else ""
        kept = self._operations.get(key)
        if kept is None or "error" in kept or key in self._refused:
            return None
        kept.update(status="RUNNING", progress=0)
        kept.pop("endTime", None)
        self._operations.put(key, kept)
        self._failing.put(key, {"code": code, "message": message})
        self._cloud.later(seconds, "compute.operation.failed", key)
        return kept

    def get(self, call: Call) -> dict[str, Any]:
        """How far it is."""
        return self._found(call)[1]

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of one place."""
        scope = self._places.scope(call)
        return listed(call, "operation", self._operations.under(scope.key("")))

    def aggregated(self, call: Call) -> dict[str, Any]:
        """Those of all places."""
        found = self._operations.under(f"{call.project}/")
        return aggregated(call, "operation", "operations", found)

    def delete(self, call: Call) -> dict[str, Any]:
        """Forget it."""
        key, _ = self._found(call)
        self._operations.drop(key)
        return {}

    def wait(self, call: Call) -> dict[str, Any]:
        """How far it is, once it is done or the client has waited long enough."""
        until = self._cloud.clock.now() + LONGEST_WAIT
        while True:
            with self._cloud.lock:
                self._cloud.advance()
                self._cloud.commit()
                _, operation = self._found(call)
                if operation["status"] == "DONE" or self._cloud.clock.now() >= until:
                    return dict(operation)
                next_at = self._cloud.next_at()
            before = self._cloud.clock.now()
            self._cloud.waiting.until(min(until, next_at if next_at is not None else until))
            if self._cloud.clock.now() <= before:
                # Nobody lets time pass here: the client has to ask again.
                return dict(operation)

    def _found(self, call: Call) -> tuple[str, dict[str, Any]]:
        scope = self._places.scope(call)
        key = scope.key(call.params["operation"])
        operation = self._operations.get(key)
        if operation is None:
            raise not_found(scope, "operations", call.params["operation"])
        return key, operation

    def _failed(self, key: str) -> None:
        error = self._failing.drop(key)
        operation = self._operations.get(key)
        if operation is None or error is None:
            return
        operation["error"] = {"errors": [error]}
        operation["httpErrorStatusCode"] = 500
        operation["httpErrorMessage"] = "INTERNAL SERVER ERROR"
        self._done(key)
        self.undo(operation)

    def _done(self, key: str) -> None:
        operation = self._operations.get(key)
        if operation is not None and key not in self._failing:
            end = {"status": "DONE", "progress": 100, "endTime": self._cloud.stamp()}
            operation.update(end | (self._refused.drop(key) or {}))
            self._operations.put(key, operation)

    def _old(self, key: str) -> None:
        self._operations.drop(key)


def _nothing(operation: dict[str, Any]) -> None:
    """Nothing to take back."""


def _key_of(operation: dict[str, Any]) -> str:
    place, _, name = (
        str(operation["selfLink"]).partition("/projects/")[2].rpartition("/operations/")
    )
    return f"{place}/{name}"
