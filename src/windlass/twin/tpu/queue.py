"""The queue for slices: who waits, who is granted, and what becomes of what was granted.

Must not take part of a request: all of its slices are had together, or none.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from windlass.twin.market import PLENTY, Model, Wanted
from windlass.twin.shelf import Shelf
from windlass.twin.tpu.names import not_found, place_of_name
from windlass.twin.tpu.nodes import ENDING_LOOK_S, Order
from windlass.twin.tpu.queued import WAITING, Queued, shown
from windlass.twin.tpu.shapes import shaped
from windlass.twin.tpu.timing import run_seconds

if TYPE_CHECKING:
    from windlass.twin.tpu.ground import Ground
    from windlass.twin.tpu.node import Node

AGAIN_S = 30.0
"""So often the queue is looked through: room may come from anywhere."""
EXPIRED = {
    "code": 8,
    "message": "The queued resource request expired: its valid until time passed before there was "
    "enough capacity.",
}


class Queue:
    """All queued resources. Listens to the nodes that were granted."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._cloud = ground.cloud
        self._shelf: Shelf[Queued] = ground.cloud.shelf(
            Shelf("tpu.queue", encode=_encoded, decode=lambda document: Queued(**document))
        )
        everyone = sorted((one for _, one in self._shelf.items()), key=lambda one: one.number)
        self._made = everyone[-1].number if everyone else 0
        # Those who wait, the oldest first, with what each wants.
        self._line = {one.name: self._wanted(one) for one in everyone if one.state == WAITING}
        # Whoever waits has an appointment, which outlives the process.
        self._has_appointment = bool(self._line)
        ground.nodes.listeners.append(self)
        ground.operations.shows("queuedResources", self.show)
        ground.cloud.on("tpu.queue.again", self._again)
        ground.cloud.on("tpu.queue.look", self._look_due)
        ground.cloud.on("tpu.queue.expired", self._expired)
        ground.cloud.on("tpu.queue.gone", self._gone)

    # --- what is there

    def get(self, name: str) -> Queued:
        """The request, or a refusal."""
        queued = self._shelf.get(name)
        if queued is None:
            raise not_found(name)
        return queued

    def find(self, name: str) -> Queued | None:
        """The request, if it is there."""
        return self._shelf.get(name)

    def under(self, prefix: str) -> list[Queued]:
        """Those whose name begins so, in order."""
        return [queued for _, queued in self._shelf.under(prefix)]

    def show(self, name: str, version: str) -> dict[str, Any]:
        """As a version of the API gives it; empty when it is gone."""
        queued = self._shelf.get(name)
        if queued is None:
            return {}
        return shaped(version, "QueuedResource", shown(queued, cloud=self._cloud))

    def nodes(self, queued: Queued) -> list[Node]:
        """Those it was granted that are still there."""
        found = (self._ground.nodes.find(name) for name in queued.nodes)
        return [node for node in found if node is not None and node.queued == queued.name]

    # --- what is done to them

    def add(self, queued: Queued) -> None:
        """It waits from now on, and is granted at once if it can be."""
        self._join(queued)
        error = self._ground.room.over_quota(self._line[queued.name])
        if error is not None:
            self._fail(queued, error)
        now = self._cloud.clock.now()
        if queued.after is not None:
            self._cloud.at(max(queued.after, now), "tpu.queue.look", "")
        if queued.until is not None:
            self._cloud.at(max(queued.until, now), "tpu.queue.expired", queued.name)
        self.look()

    def reset(self, queued: Queued) -> None:
        """What it was granted goes, and it waits again, at the end."""
        queued.move("SUSPENDING", initiator="USER")
        for node in self.nodes(queued):
            self._ground.nodes.delete(node, seconds=0.0)
        queued.nodes = []
        queued.move(WAITING)
        self._join(queued)
        self.look()

    def delete(self, queued: Queued, *, seconds: float, operation: str = "") -> None:
        """It goes, with what it was granted; the operation lasts until it has gone."""
        queued.move("DELETING", initiator="USER")
        queued.operation = operation
        self._save(queued)
        for node in self.nodes(queued):
            if node.state != "DELETING":
                self._ground.nodes.delete(node, seconds=seconds)
        if seconds > 0:
            self._cloud.later(seconds, "tpu.queue.gone", queued.name)
        else:
            self._gone(queued.name)

    def look(self) -> None:
        """Grant what can be granted now, the oldest first."""
        least: dict[Wanted, int] = {}
        for name, wanted in list(self._line.items()):
            # Where so many cannot be had, neither can more, whoever asks next.
            if any(count >= least.get(kind, PLENTY) for kind, count in wanted.items()):
                continue
            lacking = self._try(self.get(name), wanted)
            if lacking is not None:
                least[lacking] = wanted[lacking]
        if not self._has_appointment and self._line:
            self._has_appointment = True
            self._cloud.later(AGAIN_S, "tpu.queue.again", "")

    # --- what nodes tell (nodes.Listener)

    def heard(self, node: Node, what: str) -> None:
        """See nodes.Listener."""
        if self._line and what in ("preempted", "stopped", "gone"):
            # There is room now; whoever is being told has to finish first.
            self._cloud.later(0.0, "tpu.queue.look", "")
        queued = self._shelf.get(node.queued) if node.queued else None
        if queued is None or queued.state == "DELETING" or node.name not in queued.nodes:
            return
        if what == "ready":
            self._ready(queued)
        elif what == "warned" and queued.state != "SUSPENDING":
            queued.move("SUSPENDING", initiator="SERVICE")
            self._save(queued)
            for other in self.nodes(queued):
                self._ground.nodes.preempt(other)
        elif what in ("preempted", "gone"):
            self._lost(queued, node, what)

    def _ready(self, queued: Queued) -> None:
        nodes = self.nodes(queued)
        is_whole = len(nodes) == len(queued.nodes)
        if is_whole and all(node.state == "READY" for node in nodes):
            queued.move("ACTIVE")
            self._save(queued)

    def _lost(self, queued: Queued, node: Node, what: str) -> None:
        """A node is gone or was taken back; the last one takes the request with it."""
        is_expired = what == "gone" and node.state != "DELETING"
        initiator = "SERVICE" if what == "preempted" or is_expired else "USER"
        if what == "gone":
            queued.nodes = [name for name in queued.nodes if name != node.name]
        if all(one.state == "PREEMPTED" for one in self.nodes(queued)):
            already = queued.initiator if queued.state in ("SUSPENDING", "SUSPENDED") else ""
            queued.move("SUSPENDED", initiator=already or initiator)
        self._save(queued)

    # --- granting

    def _join(self, queued: Queued) -> None:
        """Get to the end of the line."""
        self._line.pop(queued.name, None)
        self._made += 1
        queued.number = self._made
        self._line[queued.name] = self._wanted(queued)
        self._save(queued)

    def _wanted(self, queued: Queued) -> Counter[Wanted]:
        place, kinds = place_of_name(queued.name), self._ground.kinds
        return Counter(
            kinds.wanted(place.zone, kinds.asked(place, properties), queued.model(properties))
            for _, properties in queued.specs()
        )

    def _try(self, queued: Queued, wanted: Counter[Wanted]) -> Wanted | None:
        """Grant it if that can be; else, when it is its turn, what is lacking."""
        now = self._cloud.clock.now()
        if self._is_late(queued):
            self._fail(queued, EXPIRED)
            return None
        if queued.after is not None and now < queued.after:
            return None
        lacking = self._ground.room.lacking(wanted)
        if lacking is not None:
            return lacking
        orders = self._orders(queued, now)
        error = self._ground.room.over_quota(wanted) or self._taken(orders)
        if error is not None:
            self._fail(queued, error)
            return None
        queued.move("PROVISIONING")
        queued.nodes = [order.name for order in orders]
        self._save(queued)
        for order in orders:
            self._ground.nodes.create(order)
        return None

    def _fail(self, queued: Queued, error: dict[str, Any]) -> None:
        queued.move("FAILED", initiator="SERVICE", error=error)
        self._save(queued)

    def _orders(self, queued: Queued, now: float) -> list[Order]:
        place, delays = place_of_name(queued.name), self._cloud.settings.delays
        specs = queued.specs()
        orders = []
        for number, (node_id, properties) in enumerate(specs):
            model = queued.model(properties)
            # Only flex-start ends by itself; other tiers have no limit whatever the body says.
            is_flex = model is Model.FLEX_START
            run_s = run_seconds(queued.body.get("runDuration") or {}, now) if is_flex else None
            orders.append(
                Order(
                    name=place.name("nodes", node_id),
                    properties=properties,
                    slice=self._ground.kinds.asked(place, properties),
                    model=model,
                    boot_s=delays.queue + delays.tpu,
                    run_s=run_s,
                    queued=queued.name,
                    slice_number=number,
                    slices=len(specs),
                )
            )
        return orders

    def _taken(self, orders: list[Order]) -> dict[str, Any] | None:
        """Somebody may have used a name while the request waited."""
        for order in orders:
            if self._ground.nodes.find(order.name) is not None:
                return {"code": 6, "message": f"Resource '{order.name}' already exists"}
        return None

    def _expired(self, name: str) -> None:
        queued = self._shelf.get(name)
        if queued is not None and queued.state == WAITING and self._is_late(queued):
            self._fail(queued, EXPIRED)

    def _is_late(self, queued: Queued) -> bool:
        return queued.until is not None and self._cloud.clock.now() >= queued.until

    def _again(self, _: str) -> None:
        self._has_appointment = False
        self.look()

    def _look_due(self, _: str) -> None:
        self.look()

    def _gone(self, name: str) -> None:
        queued = self._shelf.get(name)
        if queued is None or queued.state != "DELETING":
            return
        if self.nodes(queued):
            # What runs in its workers has yet to end; until then it is being deleted.
            self._cloud.later(ENDING_LOOK_S, "tpu.queue.gone", name)
        else:
            self._shelf.drop(name)
            self._ground.operations.finish(queued.operation)

    def _save(self, queued: Queued) -> None:
        self._shelf.put(queued.name, queued)
        if queued.state != WAITING:
            self._line.pop(queued.name, None)


def _encoded(queued: Queued) -> dict[str, Any]:
    return {name: getattr(queued, name) for name in Queued.__slots__}
