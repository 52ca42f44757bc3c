"""Many instances in one ask: all that are wanted, at least as many as must be, or none.

Must not differ from single asks in what it checks.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.asks import Ask, check_name
from windlass.twin.compute.room import Refused
from windlass.twin.compute.scopes import Scope, invalid
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.templates import Templates

HASHES = re.compile(r"#+")
MOST = 5000


class Batch(NamedTuple):
    """What is made in one go."""

    ask: Ask
    names: list[str]
    reservation: str
    wanted: int
    """How many were asked for."""


class Bulk:
    """The API of bulk inserts, for a zone and for a region."""

    def __init__(self, base: Ground, templates: Templates) -> None:
        self._base = base
        self._templates = templates

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled here."""
        return locked(
            {
                "compute.instances.bulkInsert": self.insert,
                "compute.regionInstances.bulkInsert": self.insert,
            }
        )

    def insert(self, call: Call) -> dict[str, Any]:
        """Make them; for a region, all in the first zone that has room."""
        base = self._base
        repeated = base.operations.repeated(call)
        if repeated is not None:
            return repeated
        place = base.places.scope(call)
        count = int(call.body.get("count", 0))
        if not 0 < count <= MOST:
            raise invalid("count", str(count), f"Must be between 1 and {MOST}.")
        least = int(call.body.get("minCount", count))
        refused: Refused | None = None
        for zone in self._zones(call, place):
            scope = Scope(place.project, "zones", zone)
            names = self._names(call, scope, count)
            ask = self._ask(call, scope)
            fits = min(count, base.room.fits(ask.wanted))
            grant = base.room.granted(ask, scope, count)
            if grant.refused is not None:
                grant = base.room.granted(ask, scope, max(fits, least))
            else:
                fits = count
            refused = grant.refused
            if refused is None:
                batch = Batch(ask, names[:fits], grant.reservation, count)
                return self._make(call, place, scope, batch)
        return self._fail(call, place, refused)

    def _zones(self, call: Call, place: Scope) -> list[str]:
        if place.kind == "zones":
            return [place.place]
        policy = (call.body.get("locationPolicy") or {}).get("locations") or {}
        denied = {
            name.rpartition("/")[2]
            for name, one in policy.items()
            if one.get("preference") == "DENY"
        }
        return [zone for zone in self._base.places.zones_of(place.place) if zone not in denied]

    def _ask(self, call: Call, scope: Scope) -> Ask:
        body = self._templates.filled(call, call.body.get("instanceProperties") or {})
        return self._base.asks.checked(body, scope)

    def _names(self, call: Call, scope: Scope, count: int) -> list[str]:
        given = call.body.get("perInstanceProperties")
        pattern = call.body.get("namePattern", "")
        if given:
            names = sorted(one.get("name") or key for key, one in given.items())
        elif HASHES.search(pattern):
            names = _numbered(pattern, count)
        else:
            raise invalid("namePattern", pattern, "Must have a run of '#'.")
        for name in names:
            check_name(name)
            self._base.instances.refuse_double(scope, name)
        return names

    def _make(self, call: Call, place: Scope, scope: Scope, batch: Batch) -> dict[str, Any]:
        base = self._base
        names = batch.names
        seconds = base.cloud.settings.delays.boot
        group = _group(base.cloud.new_id())
        for name in names:
            instance = base.instances.create(scope, name, batch.ask, reservation=batch.reservation)
            base.operations.start(
                _as_insert(call),
                scope,
                target=instance.link,
                target_id=instance.id,
                seconds=seconds,
                more={"operationGroupId": group, "operationType": "insert"},
            )
        status = {
            "status": "DONE",
            "targetVmCount": batch.wanted,
            "createdVmCount": len(names),
            "failedToCreateVmCount": batch.wanted - len(names),
            "deletedVmCount": 0,
        }
        more = {
            "operationGroupId": group,
            "instancesBulkInsertOperationMetadata": {
                "perLocationStatus": {f"zones/{scope.place}": status}
            },
        }
        return base.operations.start(
            call, place, target=place.link("instances"), seconds=seconds, more=more
        )

    def _fail(self, call: Call, place: Scope, refused: Refused | None) -> dict[str, Any]:
        if refused is None:
            raise Refusal(400, "No zone of the region may be used.", reason="invalid")
        operations = self._base.operations
        operation = operations.start(call, place, target=place.link("instances"))
        least = int(call.body.get("minCount", call.body["count"]))
        too_few = {
            "code": "VM_MIN_COUNT_NOT_REACHED",
            "message": f"Requested minimum count of {least} VMs could not be created.",
        }
        errors = [too_few, refused.error] if refused.code == 503 else [refused.error]
        return operations.fail(
            operation, place, code=refused.code, message=refused.message, errors=errors
        )


def _numbered(pattern: str, count: int) -> list[str]:
    found = HASHES.search(pattern)
    assert found is not None
    head, tail = pattern[: found.start()], pattern[found.end() :]
    width = len(found[0])
    return [f"{head}{number:0{width}d}{tail}" for number in range(1, count + 1)]


def _group(number: str) -> str:
    text = f"{int(number):032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _as_insert(call: Call) -> Call:
    """Single operations of a bulk insert are inserts, and have no request id of their own."""
    query = {name: value for name, value in call.query.items() if name != "requestId"}
    return replace(call, query=query)
