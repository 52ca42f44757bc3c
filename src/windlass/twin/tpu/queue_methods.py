"""The API of queued resources.

Must not keep anything: queue.py does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Handler, Route, locked
from windlass.twin.market import Model
from windlass.twin.refusals import Refusal
from windlass.twin.tpu.names import (
    ANYWHERE,
    Place,
    already_exists,
    check_id,
    eid,
    invalid,
    name_of,
    not_now,
    place_of,
)
from windlass.twin.tpu.queued import MOST_SLICES, Queued, normal
from windlass.twin.tpu.shapes import paged
from windlass.twin.tpu.timing import WEEK, run_seconds, window

if TYPE_CHECKING:
    from windlass.twin.tpu.ground import Ground
    from windlass.twin.tpu.queue import Queue

PREFIX = "tpu.projects.locations.queuedResources"
DELETABLE = ("ACCEPTED", "WAITING_FOR_RESOURCES", "FAILED", "SUSPENDED", "DELETING")
"""States in which a request may go without force."""
ONE_SLICE_ONLY = ("v2", "v3")
"""Chips of which several slices cannot work together."""


class QueueMethods:
    """Queued resources of v2 and v2alpha1."""

    def __init__(self, ground: Ground, queue: Queue) -> None:
        self._ground = ground
        self._cloud = ground.cloud
        self._queue = queue

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        handlers: dict[str, Handler] = {
            "create": self.create,
            "get": self.get,
            "list": self.list_all,
            "delete": self.delete,
            "reset": self.reset,
            "getMaintenanceInfo": self.maintenance,
            "performMaintenanceQueuedResource": self.perform_maintenance,
        }
        return locked({f"{PREFIX}.{name}": handler for name, handler in handlers.items()})

    def create(self, call: Call) -> dict[str, Any]:
        """Get in line."""
        repeated = self._ground.operations.repeated(call)
        if repeated is not None:
            return repeated
        place, now = place_of(call), self._cloud.clock.now()
        self._ground.kinds.check_place(place)
        id_ = call.query.get("queuedResourceId") or f"qr-{int(self._cloud.new_id()):x}"
        check_id(self._cloud, "queued_resource_id", id_)
        name = place.name("queuedResources", id_)
        if self._queue.find(name) is not None:
            raise already_exists(name)
        body = normal(name, call.body)
        after, until = window(body.get("queueingPolicy") or {}, now)
        queued = Queued(name=name, number=0, body=body, created=now, after=after, until=until)
        self._check(queued, place)
        self._queue.add(queued)
        return self._operation(call, name, verb="create")

    def get(self, call: Call) -> dict[str, Any]:
        """One."""
        return self._queue.show(self._named(call).name, call.method.version)

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a zone, or of all."""
        place = place_of(call)
        if place.zone != ANYWHERE:
            self._ground.kinds.check_place(place)
        found = self._queue.under(place.prefix("queuedResources"))
        shown = (self._queue.show(one.name, call.method.version) for one in found)
        return paged(call, "queuedResources", shown)

    def delete(self, call: Call) -> dict[str, Any]:
        """It goes; with force, with all that it was granted."""
        repeated = self._ground.operations.repeated(call)
        if repeated is not None:
            return repeated
        queued = self._named(call)
        is_forced = call.query.get("force", "").lower() == "true"
        if not is_forced and queued.state not in DELETABLE and self._queue.nodes(queued):
            message = (
                f"The queued resource '{queued.name}' is in state {queued.state} and has nodes. "
                "Delete its nodes first, or delete it with force."
            )
            raise not_now(message)
        seconds = self._cloud.settings.delays.stop
        if queued.state == "DELETING":
            return self._operation(call, queued.name, verb="delete", seconds=seconds)
        operation = self._ground.operations.start(call, queued.name, verb="delete")
        self._queue.delete(queued, seconds=seconds, operation=operation)
        return self._ground.operations.shown(operation)

    def reset(self, call: Call) -> dict[str, Any]:
        """Start over."""
        queued = self._named(call)
        if queued.state == "DELETING":
            raise not_now(f"The queued resource '{queued.name}' is being deleted.")
        self._queue.reset(queued)
        return self._operation(call, queued.name, verb="reset")

    def maintenance(self, call: Call) -> dict[str, Any]:
        """Nothing is planned."""
        self._named(call)
        return {}

    def perform_maintenance(self, call: Call) -> dict[str, Any]:
        """Of some of its nodes, or of all, now."""
        queued = self._named(call)
        names = call.body.get("nodeNames", [])
        for node in self._queue.nodes(queued):
            if node.state == "READY" and (not names or node.name in names):
                self._ground.nodes.maintain(node, list(range(len(node.machines))))
        return self._operation(call, queued.name, verb="performMaintenance")

    def _check(self, queued: Queued, place: Place) -> None:
        """Refuse a request that could never be granted."""
        specs = queued.specs()
        if not 0 < len(specs) <= MOST_SLICES:
            raise invalid(self._cloud, "node_spec", str(len(specs)))
        for node_id, properties in specs:
            check_id(self._cloud, "node_id", node_id)
            name = place.name("nodes", node_id)
            if self._ground.nodes.find(name) is not None:
                raise already_exists(name)
            slice_ = self._ground.kinds.asked(place, properties)
            self._ground.kinds.check_runtime(properties)
            if len(specs) > 1 and slice_.chip in ONE_SLICE_ONLY:
                message = (
                    "Cloud TPU was unable to complete the operation. Please try again, or contact "
                    f"support if the problem persists. {eid(self._cloud)}"
                )
                raise Refusal(400, message)
            if queued.model(properties) is Model.FLEX_START:
                self._check_run(queued)

    def _check_run(self, queued: Queued) -> None:
        duration = queued.body.get("runDuration") or {}
        run_s = run_seconds(duration, self._cloud.clock.now())
        if run_s is None or not 0 < run_s <= WEEK:
            raise invalid(self._cloud, "max_run_duration", duration.get("maxRunDuration", ""))

    def _named(self, call: Call) -> Queued:
        return self._queue.get(name_of(call))

    def _operation(
        self, call: Call, name: str, *, verb: str, seconds: float | None = None
    ) -> dict[str, Any]:
        delay = self._cloud.settings.delays.operation if seconds is None else seconds
        operation = self._ground.operations.start(call, name, verb=verb, seconds=delay)
        return self._ground.operations.shown(operation)
