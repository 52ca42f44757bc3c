"""Resize requests: a group grows by so many instances at once, for a time.

Must not grant a part: that is what they are for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.asks import check_name
from windlass.twin.compute.listing import listed
from windlass.twin.compute.scopes import Scope, invalid
from windlass.twin.compute.times import seconds_of
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.group import Group
    from windlass.twin.compute.groups import Groups

AGAIN_S = 60.0
"""So often Google is taken to look for room."""
SHORTEST_S, LONGEST_S = 600.0, 7 * 86_400.0
WAITING = (
    "Waiting for resources. Currently there are not enough resources available to fulfill the "
    "request."
)


class ResizeRequests:
    """The requests of all groups."""

    def __init__(self, base: Ground, groups: Groups) -> None:
        self._base = base
        self._groups = groups
        self._shelf = base.cloud.documents("compute.resizeRequests")
        base.cloud.on("compute.resize.try", self._try)
        groups.leavers.append(self._drop_all)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        handlers = {
            "insert": self.insert,
            "get": self.get,
            "list": self.list_all,
            "cancel": self.cancel,
            "delete": self.delete,
        }
        routes: dict[str, Route] = {}
        for prefix in (
            "instanceGroupManagerResizeRequests",
            "regionInstanceGroupManagerResizeRequests",
        ):
            routes |= locked({f"compute.{prefix}.{name}": one for name, one in handlers.items()})
        return routes

    def insert(self, call: Call) -> dict[str, Any]:
        """A new request; it is tried until it is granted, or cancelled."""
        repeated = self._base.operations.repeated(call)
        if repeated is not None:
            return repeated
        group = self._group(call)
        body = call.body
        name = body.get("name", "")
        check_name(name)
        key = f"{group.key}/{name}"
        link = f"{group.resource['selfLink']}/resizeRequests/{name}"
        if key in self._shelf:
            resource = link.partition("/v1/")[2]
            raise Refusal(409, f"The resource '{resource}' already exists")
        names = [one.get("name", "") for one in body.get("instances", [])]
        count = int(body.get("resizeBy", len(names)))
        if count < 1:
            raise invalid("resizeBy", str(count), "Must be at least 1.")
        run_s = seconds_of(body.get("requestedRunDuration"))
        if run_s and not SHORTEST_S <= run_s <= LONGEST_S:
            why = "Must be between 10 minutes and 7 days."
            raise invalid("requestedRunDuration", f"{run_s:g}s", why)
        request = {
            **body,
            "kind": "compute#instanceGroupManagerResizeRequest",
            "id": self._base.cloud.new_id(),
            "creationTimestamp": self._base.cloud.stamp(),
            "resizeBy": count,
            "selfLink": link,
            "selfLinkWithId": link,
            "state": "ACCEPTED",
            "status": {},
            **group.scope.fields,
        }
        self._shelf.put(key, request)
        delay = self._base.cloud.settings.delays.queue
        if delay > 0:
            self._base.cloud.later(delay, "compute.resize.try", key)
        else:
            self._try(key)
        return self._operation(call, group)

    def get(self, call: Call) -> dict[str, Any]:
        """One request."""
        return self._found(call)[1]

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a group."""
        group = self._group(call)
        is_zonal = group.scope.kind == "zones"
        kind = "instanceGroupManagerResizeRequest"
        kind = kind if is_zonal else "regionInstanceGroupManagerResizeRequest"
        return listed(call, kind, self._shelf.under(f"{group.key}/"))

    def cancel(self, call: Call) -> dict[str, Any]:
        """No longer wanted."""
        key, request = self._found(call)
        if request["state"] != "ACCEPTED":
            message = (
                f"Invalid resource usage: 'Resize request {request['name']} is in state "
                f"{request['state']} and cannot be cancelled.'."
            )
            raise Refusal(400, message, reason="invalidResourceUsage")
        self._set(key, request, "CANCELLED")
        return self._operation(call, self._group(call))

    def delete(self, call: Call) -> dict[str, Any]:
        """Forget one that is over; one that waits has to be cancelled first."""
        key, request = self._found(call)
        if request["state"] == "ACCEPTED":
            message = (
                f"Invalid resource usage: 'Resize request {request['name']} must be cancelled "
                "before it can be deleted.'."
            )
            raise Refusal(400, message, reason="invalidResourceUsage")
        self._shelf.drop(key)
        return self._operation(call, self._group(call))

    def fail(self, key: str, *, code: str, message: str) -> None:
        """Google gives one up, as happens when its machines cannot be set up after all."""
        request = self._shelf.get(key)
        if request is not None and request["state"] == "ACCEPTED":
            request["status"] = {"error": {"errors": [{"code": code, "message": message}]}}
            self._set(key, request, "FAILED")

    def named(self, name: str) -> list[str]:
        """The keys of those that are called so, in any group."""
        return [key for key, _ in self._shelf.items() if key.endswith(f"/{name}")]

    def _try(self, key: str) -> None:
        request = self._shelf.get(key)
        if request is None or request["state"] != "ACCEPTED":
            return
        group = self._groups.find(key.rpartition("/")[0])
        assert group is not None, "its requests went with it"
        names = [one.get("name", "") for one in request.get("instances", [])]
        names = names or self._groups.new_names(group, request["resizeBy"])
        run_s = seconds_of(request.get("requestedRunDuration")) or None
        try:
            refused = self._groups.add_all(group, names, run_s)
        except Refusal as refusal:
            # The template has become one that Google would not take.
            self.fail(key, code=refusal.reason.upper(), message=refusal.message)
            return
        if refused is None:
            request["status"] = {}
            self._set(key, request, "SUCCEEDED")
            return
        error = refused.error
        if refused.code == 503:
            error = {**error, "message": WAITING}
        request["status"] = {"lastAttempt": {"error": {"errors": [error]}}}
        self._shelf.put(key, request)
        self._base.cloud.later(AGAIN_S, "compute.resize.try", key)

    def _drop_all(self, group: str) -> None:
        for key, _ in list(self._shelf.under(f"{group}/")):
            self._shelf.drop(key)

    def _set(self, key: str, request: dict[str, Any], state: str) -> None:
        request["state"] = state
        self._shelf.put(key, request)

    def _group(self, call: Call) -> Group:
        scope = self._base.places.scope(call)
        return self._groups.get(scope, call.params["instanceGroupManager"])

    def _found(self, call: Call) -> tuple[str, dict[str, Any]]:
        group = self._group(call)
        key = f"{group.key}/{call.params['resizeRequest']}"
        request = self._shelf.get(key)
        if request is None:
            name = f"{group.resource['name']}/resizeRequests"
            place = Scope(*group.scope)
            resource = (
                f"projects/{place.project}/{place.path}/instanceGroupManagers/{name}/"
                f"{call.params['resizeRequest']}"
            )
            raise Refusal(404, f"The resource '{resource}' was not found")
        return key, request

    def _operation(self, call: Call, group: Group) -> dict[str, Any]:
        """On the group: clients add the request's name to its URL themselves."""
        resource = group.resource
        return self._base.operations.start(
            call, group.scope, target=resource["selfLink"], target_id=resource["id"]
        )
