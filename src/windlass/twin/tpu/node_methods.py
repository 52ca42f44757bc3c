"""The API of TPU nodes.

Must not keep anything: nodes.py does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Handler, Route, locked
from windlass.twin.tpu.names import (
    ANYWHERE,
    DENIED_NODE,
    already_exists,
    check_id,
    invalid,
    name_of,
    not_now,
    place_of,
)
from windlass.twin.tpu.node import Node, asked, model_of
from windlass.twin.tpu.nodes import Order
from windlass.twin.tpu.shapes import paged

if TYPE_CHECKING:
    from windlass.twin.tpu.ground import Ground

PREFIX = "tpu.projects.locations.nodes"
CHANGEABLE = frozenset({"description", "tags", "labels", "metadata", "networkConfig", "dataDisks"})
_UNDERSCORE = re.compile(r"_([a-z])")


class NodeMethods:
    """Nodes of all three versions."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._cloud = ground.cloud

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        handlers: dict[str, Handler] = {
            "create": self.create,
            "get": self.get,
            "list": self.list_all,
            "delete": self.delete,
            "start": self.start,
            "stop": self.stop,
            "patch": self.patch,
            "getGuestAttributes": self.guest_attributes,
            "simulateMaintenanceEvent": self.simulate_maintenance,
            "performMaintenance": self.perform_maintenance,
        }
        return locked({f"{PREFIX}.{name}": handler for name, handler in handlers.items()})

    def create(self, call: Call) -> dict[str, Any]:
        """Make one; a lack of stock shows in the operation, a lack of quota at once."""
        if call.method.version == "v1":
            raise not_now(DENIED_NODE)
        ground = self._ground
        repeated = ground.operations.repeated(call)
        if repeated is not None:
            return repeated
        place = place_of(call)
        ground.kinds.check_place(place)
        node_id = call.query.get("nodeId") or f"node-{int(self._cloud.new_id()):x}"
        check_id(self._cloud, "node_id", node_id)
        name = place.name("nodes", node_id)
        if ground.nodes.find(name) is not None:
            raise already_exists(name)
        properties = asked(call.body)
        slice_, model = ground.kinds.asked(place, properties), model_of(properties)
        ground.kinds.check_runtime(properties)
        wanted = ground.kinds.wanted(place.zone, slice_, model)
        ground.room.check_quota(wanted)
        error = ground.room.out_of_stock(wanted)
        delays = self._cloud.settings.delays
        if error is not None:
            operation = ground.operations.start(
                call, name, verb="create", seconds=delays.operation, error=error
            )
            return ground.operations.shown(operation)
        operation = ground.operations.start(call, name, verb="create")
        ground.nodes.create(
            Order(
                name=name,
                properties=properties,
                slice=slice_,
                model=model,
                boot_s=delays.tpu,
                operation=operation,
            )
        )
        return ground.operations.shown(operation)

    def get(self, call: Call) -> dict[str, Any]:
        """One."""
        return self._ground.nodes.shown(self._named(call), call.method.version)

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a zone, or of all."""
        place, nodes = place_of(call), self._ground.nodes
        if place.zone != ANYWHERE:
            self._ground.kinds.check_place(place)
        found = (
            nodes.shown(one, call.method.version) for one in nodes.under(place.prefix("nodes"))
        )
        return paged(call, "nodes", found)

    def delete(self, call: Call) -> dict[str, Any]:
        """It goes, whatever state it is in."""
        repeated = self._ground.operations.repeated(call)
        if repeated is not None:
            return repeated
        node = self._named(call)
        seconds = self._cloud.settings.delays.stop
        if node.state == "DELETING":
            return self._operation(call, node, verb="delete", seconds=seconds)
        operation = self._ground.operations.start(call, node.name, verb="delete")
        self._ground.nodes.delete(node, seconds=seconds, operation=operation)
        return self._ground.operations.shown(operation)

    def start(self, call: Call) -> dict[str, Any]:
        """Turn it on; stock and quota may be in the way again."""
        ground = self._ground
        node = self._named(call)
        if node.state != "STOPPED":
            raise not_now(f"The TPU '{node.name}' is in state {node.state} and cannot be started.")
        wanted = ground.nodes.machines(node)[0].wanted
        ground.room.check_quota(wanted)
        error = ground.room.out_of_stock(wanted)
        if error is not None:
            seconds = self._cloud.settings.delays.operation
            operation = ground.operations.start(
                call, node.name, verb="start", seconds=seconds, error=error
            )
        else:
            operation = ground.operations.start(call, node.name, verb="start")
            ground.nodes.start(node, operation=operation)
        return ground.operations.shown(operation)

    def stop(self, call: Call) -> dict[str, Any]:
        """Turn it off, which only a node of one host can be that nobody queued for."""
        node = self._named(call)
        if len(node.machines) > 1:
            raise not_now("Stopping a TPU slice of more than one host is not supported.")
        if node.queued:
            raise not_now("Stopping a TPU that was created by a queued resource is not supported.")
        if node.state != "READY":
            raise not_now(f"The TPU '{node.name}' is in state {node.state} and cannot be stopped.")
        operation = self._ground.operations.start(call, node.name, verb="stop")
        seconds = self._cloud.settings.delays.stop
        self._ground.nodes.stop(node, seconds=seconds, operation=operation)
        return self._ground.operations.shown(operation)

    def patch(self, call: Call) -> dict[str, Any]:
        """Change labels, tags, metadata, disks or the description."""
        node = self._named(call)
        mask = call.query.get("updateMask") or ",".join(call.body)
        for path in mask.split(","):
            field = _UNDERSCORE.sub(lambda found: found[1].upper(), path.strip()).split(".")[0]
            if field not in CHANGEABLE:
                raise invalid(self._cloud, "update_mask", path)
            node.properties = {**node.properties, field: call.body.get(field)}
            if node.properties[field] is None:
                del node.properties[field]
        self._ground.nodes.save(node)
        return self._operation(call, node, verb="update")

    def guest_attributes(self, call: Call) -> dict[str, Any]:
        """What its workers have said about themselves, below a path."""
        node = self._named(call)
        chosen = {worker for worker in call.body.get("workerIds", []) if worker}
        path = call.body.get("queryPath", "").rstrip("/")
        found = []
        for worker, machine in enumerate(self._ground.nodes.machines(node)):
            told = self._ground.guest.guest_attributes(machine) or {}
            items = [
                {"namespace": name.partition("/")[0], "key": name.partition("/")[2], "value": value}
                for name, value in sorted(told.items())
                if not path or name == path or name.startswith(f"{path}/")
            ]
            if items and (not chosen or str(worker) in chosen):
                found.append({"queryPath": path, "queryValue": {"items": items}})
        return {"guestAttributes": found} if found else {}

    def simulate_maintenance(self, call: Call) -> dict[str, Any]:
        """Google needs some of its hosts."""
        node = self._named(call)
        given = [worker for worker in call.body.get("workerIds", []) if worker]
        for worker in given:
            if not worker.isdecimal() or int(worker) >= len(node.machines):
                raise invalid(self._cloud, "worker_ids", worker)
        workers = [int(worker) for worker in given] or list(range(len(node.machines)))
        return self._maintain(call, node, workers, verb="simulateMaintenanceEvent")

    def perform_maintenance(self, call: Call) -> dict[str, Any]:
        """Now, rather than when Google would."""
        node = self._named(call)
        workers = list(range(len(node.machines)))
        return self._maintain(call, node, workers, verb="performMaintenance")

    def _maintain(self, call: Call, node: Node, workers: list[int], *, verb: str) -> dict[str, Any]:
        if node.state != "READY":
            raise not_now(f"The TPU '{node.name}' is in state {node.state}, not READY.")
        self._ground.nodes.maintain(node, workers)
        return self._operation(call, node, verb=verb)

    def _named(self, call: Call) -> Node:
        return self._ground.nodes.get(name_of(call))

    def _operation(
        self, call: Call, node: Node, *, verb: str, seconds: float | None = None
    ) -> dict[str, Any]:
        delay = self._cloud.settings.delays.operation if seconds is None else seconds
        operation = self._ground.operations.start(call, node.name, verb=verb, seconds=delay)
        return self._ground.operations.shown(operation)
