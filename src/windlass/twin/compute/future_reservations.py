"""Future reservations: machines for a time to come, as Google's calendar mode has them.

Must not hold machines: the reservation does that it leads to when its time comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.collection import Collection, Kind
from windlass.twin.compute.links import normalised
from windlass.twin.compute.scopes import Scope, invalid
from windlass.twin.compute.times import moment_of, seconds_of
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.reservations import Reservations

OPEN = frozenset({"DRAFTING", "PENDING_APPROVAL", "APPROVED"})


class FutureReservations:
    """Drafted, approved, fulfilled when their time comes, and over."""

    def __init__(self, base: Ground, reservations: Reservations) -> None:
        self._base = base
        self._reservations = reservations
        kind = Kind(
            collection="futureReservations",
            singular="futureReservation",
            complete=self._complete,
            check_delete=self._check_delete,
        )
        self._collection = Collection(base, kind)
        base.cloud.on("compute.future.decide", self._decide)
        base.cloud.on("compute.future.begin", self._begin)
        base.cloud.on("compute.future.over", self._over)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return {
            **self._collection.routes(),
            **locked(
                {
                    "compute.futureReservations.insert": self.insert,
                    "compute.futureReservations.update": self.update,
                    "compute.futureReservations.cancel": self.cancel,
                }
            ),
        }

    def insert(self, call: Call) -> dict[str, Any]:
        """Ask for machines in the future."""
        answer = self._collection.insert(call)
        scope = self._base.places.scope(call)
        self._submitted(scope.key(call.body["name"]))
        return answer

    def update(self, call: Call) -> dict[str, Any]:
        """Change a draft, or submit it."""
        scope, resource = self._collection.found(call)
        if resource["status"]["procurementStatus"] not in OPEN:
            raise _not_ready(resource)
        body = normalised(call.body, project=scope.project, zone=scope.place)
        resource.update({key: value for key, value in body.items() if key != "name"})
        self._complete(call, scope, resource)
        key = scope.key(resource["name"])
        self._collection.shelf.put(key, resource)
        self._submitted(key)
        return self._collection.operation(call, scope, resource)

    def cancel(self, call: Call) -> dict[str, Any]:
        """No longer wanted; too late once it is fulfilled."""
        scope, resource = self._collection.found(call)
        if resource["status"]["procurementStatus"] not in OPEN:
            raise _not_ready(resource)
        self._set(scope.key(resource["name"]), resource, "CANCELLED")
        return self._collection.operation(call, scope, resource)

    def _complete(self, call: Call | None, scope: Scope, resource: dict[str, Any]) -> None:
        window = dict(resource.get("timeWindow") or {})
        if "startTime" not in window:
            raise invalid("timeWindow.startTime", "", "Must be specified.")
        start = moment_of(window["startTime"], "timeWindow.startTime")
        if "endTime" in window:
            end = moment_of(window["endTime"], "timeWindow.endTime")
        else:
            end = start + seconds_of(window.get("duration"))
            window["endTime"] = self._base.cloud.stamp(end)
        if end <= start or start < self._base.cloud.clock.now():
            why = "The time window must begin in the future and end after that."
            raise invalid("timeWindow", window["startTime"], why)
        window["duration"] = {"seconds": str(int(end - start))}
        resource["timeWindow"] = window
        sku = dict(resource.get("specificSkuProperties") or {})
        count = int(sku.get("totalCount", 0))
        if count < 1:
            raise invalid("specificSkuProperties.totalCount", str(count), "Must be at least 1.")
        properties = dict(sku.get("instanceProperties") or {})
        ask = self._base.asks.checked({"machineType": properties.get("machineType", "")}, scope)
        properties["machineType"] = ask.wanted.type
        resource["specificSkuProperties"] = {
            **sku,
            "totalCount": str(count),
            "instanceProperties": properties,
        }
        resource.setdefault("planningStatus", "DRAFT")
        resource["selfLinkWithId"] = scope.link("futureReservations", resource["id"])
        lock = self._base.cloud.stamp(start)
        resource["status"] = {"procurementStatus": "DRAFTING", "lockTime": lock}

    def _submitted(self, key: str) -> None:
        resource = self._collection.shelf.get(key)
        if resource is None or resource["planningStatus"] != "SUBMITTED":
            return
        if resource["status"]["procurementStatus"] != "DRAFTING":
            return
        self._set(key, resource, "PENDING_APPROVAL")
        delay = self._base.cloud.settings.delays.queue
        if delay > 0:
            self._base.cloud.later(delay, "compute.future.decide", key)
        else:
            self._decide(key)

    def _decide(self, key: str) -> None:
        """Google says yes if the zone has so many now: what it will have then nobody knows."""
        resource = self._waiting(key, "PENDING_APPROVAL")
        if resource is None:
            return
        sku = resource["specificSkuProperties"]
        scope = _scope(key)
        machine_type = sku["instanceProperties"]["machineType"]
        ask = self._base.asks.checked({"machineType": machine_type}, scope)
        if self._base.room.fits(ask.wanted) < int(sku["totalCount"]):
            self._set(key, resource, "DECLINED")
            return
        self._set(key, resource, "APPROVED")
        start = moment_of(resource["timeWindow"]["startTime"], "startTime")
        self._base.cloud.at(start, "compute.future.begin", key)

    def _begin(self, key: str) -> None:
        resource = self._waiting(key, "APPROVED")
        if resource is None:
            return
        scope = _scope(key)
        sku = resource["specificSkuProperties"]
        name = resource.get("reservationName") or f"{resource.get('namePrefix') or key_name(key)}-1"
        body: dict[str, Any] = {
            "name": name,
            "specificReservation": {
                "count": sku["totalCount"],
                "instanceProperties": sku["instanceProperties"],
            },
            "specificReservationRequired": resource.get("specificReservationRequired", True),
        }
        if resource.get("deploymentType"):
            body["deploymentType"] = resource["deploymentType"]
        try:
            made = self._reservations.make(scope, body)
        except Refusal:
            self._set(key, resource, "FAILED")
            return
        resource["status"]["autoCreatedReservations"] = [made["selfLink"]]
        resource["status"]["fulfilledCount"] = sku["totalCount"]
        self._set(key, resource, "FULFILLED")
        end = moment_of(resource["timeWindow"]["endTime"], "endTime")
        self._base.cloud.at(end, "compute.future.over", f"{key} {name}")

    def _over(self, appointment: str) -> None:
        """Reservations of the calendar go at their end, whether or not that was asked for."""
        key, _, name = appointment.rpartition(" ")
        self._reservations.end(_scope(key).key(name))

    def _check_delete(self, scope: Scope, resource: dict[str, Any]) -> None:
        if resource["status"]["procurementStatus"] == "APPROVED":
            raise _not_ready(resource)

    def _waiting(self, key: str, state: str) -> dict[str, Any] | None:
        resource = self._collection.shelf.get(key)
        if resource is None or resource["status"]["procurementStatus"] != state:
            return None
        return resource

    def _set(self, key: str, resource: dict[str, Any], state: str) -> None:
        resource["status"] = {**resource["status"], "procurementStatus": state}
        self._collection.shelf.put(key, resource)


def key_name(key: str) -> str:
    """The name in a key."""
    return key.rpartition("/")[2]


def _scope(key: str) -> Scope:
    return Scope(*key.split("/")[:3])


def _not_ready(resource: dict[str, Any]) -> Refusal:
    state = resource["status"]["procurementStatus"]
    message = (
        f"Invalid resource usage: 'The future reservation {resource['name']} cannot be changed in "
        f"state {state}.'."
    )
    return Refusal(400, message, reason="invalidResourceUsage")
