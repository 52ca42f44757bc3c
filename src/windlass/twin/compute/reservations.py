"""Reservations: machines that are kept free for those who may use them.

Must not start anything: it holds stock and quota, and lets go of one place for every instance that
uses it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.collection import Collection, Kind
from windlass.twin.compute.links import last, parts
from windlass.twin.compute.listing import aggregated, listed
from windlass.twin.compute.room import Refused
from windlass.twin.compute.scopes import Scope, in_use, invalid
from windlass.twin.compute.times import moment_of, seconds_of
from windlass.twin.machine import End
from windlass.twin.market import Model, Wanted

if TYPE_CHECKING:
    from windlass.twin.compute.asks import Ask
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.instance import Instance
    from windlass.twin.compute.templates import Templates

NAME_KEY = "compute.googleapis.com/reservation-name"
SPECIFIC = ("SPECIFIC_RESERVATION", "SPECIFIC_ALLOCATION")


class Reservations:
    """All reservations of the project. Hears of instances that come and go."""

    def __init__(self, base: Ground, templates: Templates) -> None:
        self._base = base
        self._templates = templates
        kind = Kind(
            collection="reservations",
            singular="reservation",
            complete=self._complete,
            check_delete=self._check_delete,
        )
        self._collection = Collection(base, kind)
        self._used: Counter[str] = Counter()
        for instance in base.instances.under(""):
            if instance.reservation:
                self._used[instance.reservation] += 1
        for key, resource in self._collection.shelf.items():
            base.room.hold(self._wanted(resource), self._free(key, resource))
        base.room.reservations = self
        base.instances.listen(self, ["starting", "gone", *End])
        base.cloud.on("compute.reservation.over", self._over)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return {
            **self._collection.routes(),
            **locked(
                {
                    "compute.reservations.insert": self.insert,
                    "compute.reservations.get": self.get,
                    "compute.reservations.list": self.list_all,
                    "compute.reservations.aggregatedList": self.aggregated,
                    "compute.reservations.delete": self.delete,
                    "compute.reservations.resize": self.resize,
                    "compute.reservations.update": self.update,
                }
            ),
        }

    # --- for those who want a machine

    def choose(self, ask: Ask, scope: Scope, count: int) -> tuple[str, Refused | None]:
        """The reservation that an ask uses, by key (empty for none), or why it cannot."""
        affinity = ask.properties.get("reservationAffinity") or {}
        kind = affinity.get("consumeReservationType", "ANY_RESERVATION")
        if kind in SPECIFIC:
            return self._named(ask, scope, count)
        if ask.wanted.model is Model.RESERVED:
            why = "RESERVATION_BOUND instances must name a specific reservation."
            raise invalid("scheduling.provisioningModel", "RESERVATION_BOUND", why)
        if kind != "ANY_RESERVATION" or ask.wanted.model is not Model.STANDARD:
            return "", None
        for key, resource in self._collection.shelf.under(scope.key("")):
            is_open = not resource.get("specificReservationRequired")
            if (
                is_open
                and self._wanted(resource) == ask.wanted
                and self._free(key, resource) >= count
            ):
                return key, None
        return "", None

    def heard(self, instance: Instance, what: str) -> None:
        """See instances.Listener."""
        if not instance.reservation:
            return
        key = instance.reservation
        resource = self._collection.shelf.get(key)
        is_coming = what == "starting"
        self._used[key] += 1 if is_coming else -1
        if not is_coming:
            instance.reservation = ""
        if resource is not None:
            # The fleet counts the machine itself from now on, or no longer.
            is_own_kind = instance.scheduling["provisioningModel"] == "STANDARD"
            room = self._base.room
            room.hold(self._wanted(resource), -1 if is_coming else 1, is_stock_too=is_own_kind)

    def make(self, scope: Scope, body: dict[str, Any]) -> dict[str, Any]:
        """One that a future reservation has led to."""
        resource = self._collection.make(None, scope, body)
        self._opened(scope, resource)
        return resource

    def end(self, key: str) -> None:
        """It is over: what is bound to it is too."""
        resource = self._collection.shelf.drop(key)
        if resource is None:
            return
        self._base.room.hold(self._wanted(resource), -self._free(key, resource))
        for instance in self._base.instances.under(key.rpartition("/")[0] + "/"):
            model = instance.scheduling["provisioningModel"]
            if instance.reservation == key and model == "RESERVATION_BOUND":
                self._base.instances.end(instance)

    # --- the API

    def insert(self, call: Call) -> dict[str, Any]:
        """Hold machines, if there are so many."""
        repeated = self._base.operations.repeated(call)
        if repeated is not None:
            return repeated
        scope = self._base.places.scope(call)
        body = call.body
        if not body.get("specificReservation"):
            raise invalid("specificReservation", "", "Only specific reservations are modelled.")
        wanted, count = self._asked(scope, body["specificReservation"])
        refused = self._base.room.refused(wanted, count)
        if refused is not None:
            target = scope.link("reservations", body.get("name", ""))
            return self._base.operations.refuse(call, scope, refused, target=target)
        resource = self._collection.make(call, scope, body)
        self._opened(scope, resource)
        return self._collection.operation(call, scope, resource)

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        scope, resource = self._collection.found(call)
        return self._shown(scope.key(resource["name"]), resource)

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a zone."""
        scope = self._base.places.scope(call)
        found = self._collection.shelf.under(scope.key(""))
        return listed(call, "reservation", ((key, self._shown(key, one)) for key, one in found))

    def aggregated(self, call: Call) -> dict[str, Any]:
        """Those of all zones."""
        found = self._collection.shelf.under(f"{call.project}/")
        shown = ((key, self._shown(key, one)) for key, one in found)
        return aggregated(call, "reservation", "reservations", shown)

    def delete(self, call: Call) -> dict[str, Any]:
        """Let go of its machines."""
        scope, resource = self._collection.found(call)
        free = self._free(scope.key(resource["name"]), resource)
        operation = self._collection.delete(call)
        self._base.room.hold(self._wanted(resource), -free)
        return operation

    def resize(self, call: Call) -> dict[str, Any]:
        """Hold more or fewer."""
        return self._resized(call, int(call.body.get("specificSkuCount", 0)))

    def update(self, call: Call) -> dict[str, Any]:
        """Of an update only the count is modelled."""
        _, resource = self._collection.found(call)
        present = resource["specificReservation"]["count"]
        wanted = (call.body.get("specificReservation") or {}).get("count", present)
        return self._resized(call, int(wanted))

    def _resized(self, call: Call, count: int) -> dict[str, Any]:
        scope, resource = self._collection.found(call)
        key = scope.key(resource["name"])
        if count < max(1, self._used[key]):
            why = "A reservation must hold at least one machine and those that are in use."
            raise invalid("specificSkuCount", str(count), why)
        more = count - int(resource["specificReservation"]["count"])
        wanted = self._wanted(resource)
        refused = self._base.room.refused(wanted, more) if more > 0 else None
        if refused is not None:
            return self._base.operations.refuse(call, scope, refused, target=resource["selfLink"])
        self._base.room.hold(wanted, more)
        resource["specificReservation"]["count"] = str(count)
        self._collection.shelf.put(key, resource)
        return self._collection.operation(call, scope, resource)

    # --- inside

    def _named(self, ask: Ask, scope: Scope, count: int) -> tuple[str, Refused | None]:
        affinity = ask.properties["reservationAffinity"]
        names = [last(value) for value in affinity.get("values", [])]
        if affinity.get("key") != NAME_KEY or not names:
            raise invalid("reservationAffinity", "", "A reservation must be named.")
        for name in names:
            key = scope.key(name)
            resource = self._collection.shelf.get(key)
            if resource is None:
                why = f"Specified reservations [{name}] do not exist."
                raise invalid("reservationAffinity", name, why)
            self._check_use(ask, resource)
            if self._free(key, resource) >= count:
                return key, None
        message = (
            f"Specified reservation '{names[0]}' does not have available resources for the request."
        )
        error = {"code": "CONDITION_NOT_MET", "message": message}
        return "", Refused(412, "PRECONDITION FAILED", error)

    def _check_use(self, ask: Ask, resource: dict[str, Any]) -> None:
        name = resource["name"]
        if not resource.get("specificReservationRequired"):
            why = (
                f"Specified reservations [{name}] can not be targeted as "
                "specificReservationRequired is not set"
            )
            raise invalid("reservationAffinity", name, why)
        is_bound = ask.wanted.model is Model.RESERVED
        if resource.get("deploymentType") == "DENSE" and not is_bound:
            why = (
                "Instances consuming DENSE reservations must use provisioningModel "
                "RESERVATION_BOUND."
            )
            raise invalid("scheduling.provisioningModel", ask.wanted.model.value, why)
        if self._wanted(resource) != ask.wanted._replace(model=Model.STANDARD):
            why = "No available resources in specified reservations"
            raise invalid("reservationAffinity", name, why)

    def _complete(self, call: Call | None, scope: Scope, resource: dict[str, Any]) -> None:
        specific = dict(resource["specificReservation"])
        wanted, count = self._asked(scope, specific)
        properties = {
            **(specific.get("instanceProperties") or {}),
            "machineType": wanted.type,
        }
        if wanted.chip:
            properties["guestAccelerators"] = [
                {"acceleratorType": wanted.chip, "acceleratorCount": wanted.chips}
            ]
        specific |= {"count": str(count), "instanceProperties": properties}
        resource["specificReservation"] = specific
        resource.setdefault("specificReservationRequired", False)
        resource.setdefault("shareSettings", {"shareType": "LOCAL"})
        resource["status"] = "READY"

    def _opened(self, scope: Scope, resource: dict[str, Any]) -> None:
        count = int(resource["specificReservation"]["count"])
        self._base.room.hold(self._wanted(resource), count)
        now = self._base.cloud.clock.now()
        over = resource.get("deleteAtTime")
        after = seconds_of(resource.get("deleteAfterDuration"))
        if over or after:
            at = moment_of(over, "deleteAtTime") if over else now + after
            resource["deleteAtTime"] = self._base.cloud.stamp(at)
            key = f"{scope.key(resource['name'])} {resource['id']}"
            self._base.cloud.at(at, "compute.reservation.over", key)

    def _over(self, appointment: str) -> None:
        key, _, number = appointment.rpartition(" ")
        resource = self._collection.shelf.get(key)
        if resource is not None and resource["id"] == number:
            self.end(key)

    def _check_delete(self, scope: Scope, resource: dict[str, Any]) -> None:
        key = scope.key(resource["name"])
        if not resource.get("specificReservationRequired") or not self._used[key]:
            return
        for instance in self._base.instances.under(scope.key("")):
            if instance.reservation == key:
                raise in_use(resource["selfLink"], instance.link)

    def _asked(self, scope: Scope, specific: dict[str, Any]) -> tuple[Wanted, int]:
        template = specific.get("sourceInstanceTemplate")
        properties = specific.get("instanceProperties") or {}
        if template:
            properties = self._templates.properties(template, scope.project)
        fields = ("machineType", "guestAccelerators")
        body = {field: properties[field] for field in fields if field in properties}
        count = int(specific.get("count", 0))
        if count < 1:
            raise invalid("specificReservation.count", str(count), "Must be at least 1.")
        return self._base.asks.checked(body, scope).wanted, count

    def _wanted(self, resource: dict[str, Any]) -> Wanted:
        properties = resource["specificReservation"]["instanceProperties"]
        chips = properties.get("guestAccelerators") or []
        zone = parts(resource["selfLink"])["zones"]
        kind, number = ("", 0)
        if chips:
            kind, number = chips[0]["acceleratorType"], chips[0]["acceleratorCount"]
        return Wanted(zone, properties["machineType"], kind, number, Model.STANDARD)

    def _free(self, key: str, resource: dict[str, Any]) -> int:
        return int(resource["specificReservation"]["count"]) - self._used[key]

    def _shown(self, key: str, resource: dict[str, Any]) -> dict[str, Any]:
        specific = resource["specificReservation"]
        counts = {"inUseCount": str(self._used[key]), "assuredCount": specific["count"]}
        return {**resource, "specificReservation": {**specific, **counts}}
