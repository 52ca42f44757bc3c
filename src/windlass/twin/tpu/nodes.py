"""TPU nodes: how they come, what happens to them, and when they go.

Must not run anything: the fleet does, one machine for each host of a slice, and tells of it here.
A slice lives and dies as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from windlass.twin.fleet import Fleet
from windlass.twin.machine import Boot, End, Machine, State
from windlass.twin.market import Model
from windlass.twin.shelf import Shelf
from windlass.twin.tpu.names import not_found
from windlass.twin.tpu.node import Node, shown
from windlass.twin.tpu.shapes import shaped

if TYPE_CHECKING:
    from windlass.catalog.model import Slice
    from windlass.twin.cloud import Cloud
    from windlass.twin.tpu.kinds import Kinds
    from windlass.twin.tpu.operations import Operations

SERVICE = "tpu"
GUEST_GRACE_S = 90.0
"""So long a machine has to shut down."""
ENDING_LOOK_S = 0.25
"""How often is looked whether it has."""
ABORTED = 10


class Listener(Protocol):
    """Whoever wants to know what becomes of nodes."""

    def heard(self, node: Node, what: str) -> None:
        """`what` is `ready`, `warned`, `preempted`, `stopped` or `gone`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A node that is to be made. Whoever orders it has seen to room and quota."""

    name: str
    properties: dict[str, Any]
    slice: Slice
    model: Model
    boot_s: float
    run_s: float | None = None
    operation: str = ""
    queued: str = ""
    slice_number: int = 0
    slices: int = 1


class Nodes:
    """All nodes of the project. Watches their machines."""

    def __init__(self, cloud: Cloud, *, fleet: Fleet, kinds: Kinds, operations: Operations) -> None:
        self._cloud = cloud
        self._fleet = fleet
        self._kinds = kinds
        self._operations = operations
        self._shelf: Shelf[Node] = cloud.shelf(
            Shelf("tpu.nodes", encode=_encoded, decode=lambda document: Node(**document))
        )
        self._made = max(
            (one.number + len(one.machines) for _, one in self._shelf.items()), default=0
        )
        self.listeners: list[Listener] = []
        fleet.watch(SERVICE, self)
        operations.shows("nodes", self.show)
        cloud.on("tpu.node.gone", self._gone)
        cloud.on("tpu.node.stopped", self._stopped)

    # --- what is there

    def get(self, name: str) -> Node:
        """The node, or a refusal."""
        node = self._shelf.get(name)
        if node is None:
            raise not_found(name)
        return node

    def find(self, name: str) -> Node | None:
        """The node, if it is there."""
        return self._shelf.get(name)

    def under(self, prefix: str) -> list[Node]:
        """Those whose name begins so, in order."""
        return [node for _, node in self._shelf.under(prefix)]

    def show(self, name: str, version: str) -> dict[str, Any]:
        """A node as a version of the API gives it; empty when it is gone."""
        node = self._shelf.get(name)
        return {} if node is None else self.shown(node, version)

    def shown(self, node: Node, version: str) -> dict[str, Any]:
        """As a version of the API gives it."""
        machines = self.machines(node)
        document = shown(
            node,
            cloud=self._cloud,
            slice_=self._kinds.slice(node.slice),
            addresses=[machine.address for machine in machines],
            ends_at=machines[0].ends_at if machines else None,
        )
        return shaped(version, "Node", document)

    def machines(self, node: Node) -> list[Machine]:
        """Its hosts, by worker."""
        found = (self._fleet.get(machine) for machine in node.machines)
        return [machine for machine in found if machine is not None]

    def of_machine(self, machine: Machine) -> Node | None:
        """The node that a machine is a host of."""
        return self._shelf.get(machine.owner)

    # --- what is done to them

    def create(self, order: Order) -> Node:
        """A new node, starting."""
        slice_, zone = order.slice, order.name.split("/")[3]
        wanted = self._kinds.wanted(zone, slice_, order.model)
        labels = order.properties.get("labels") or {}
        node = Node(
            name=order.name,
            id=self._cloud.new_id(),
            slice=slice_.name,
            model=order.model.value,
            properties=order.properties,
            number=self._made,
            created=self._cloud.clock.now(),
            operation=order.operation,
            queued=order.queued,
            slice_number=order.slice_number,
            slices=order.slices,
        )
        self._made += slice_.hosts
        for worker in range(slice_.hosts):
            machine = self._fleet.add(
                SERVICE, node.name, wanted, labels=labels, is_counted=worker == 0
            )
            node.machines.append(machine.id)
        self.save(node)
        for machine in self.machines(node):
            self._fleet.start(machine, boot_s=order.boot_s, run_s=order.run_s)
        return node

    def save(self, node: Node) -> None:
        """It was changed."""
        self._shelf.put(node.name, node)

    def start(self, node: Node, *, operation: str) -> None:
        """Turn it on again. Whoever asks has seen to room and quota."""
        node.state = "STARTING"
        node.operation = operation
        node.is_warned = False
        self.save(node)
        for machine in self.machines(node):
            self._fleet.start(machine, boot_s=self._cloud.settings.delays.tpu)

    def stop(self, node: Node, *, seconds: float, operation: str) -> None:
        """Turn it off; its disks stay. The operation ends when it is off."""
        self._halt(node, grace_s=GUEST_GRACE_S)
        node.state = "STOPPING"
        node.operation = operation
        self.save(node)
        self._after(seconds, "tpu.node.stopped", node)

    def delete(self, node: Node, *, seconds: float, operation: str = "") -> None:
        """It will be gone in so long, or when its workers have ended; so will the operation."""
        self._halt(node, grace_s=GUEST_GRACE_S)
        self._operations.fail(node.operation, ABORTED, "The TPU was deleted by another operation.")
        node.state = "DELETING"
        node.operation = operation
        self.save(node)
        self._after(seconds, "tpu.node.gone", node)

    def take_back(self, name: str) -> None:
        """Its creation has failed after all: Google leaves no node behind."""
        node = self.find(name)
        if node is not None:
            self.delete(node, seconds=0)

    def preempt(self, node: Node) -> None:
        """Google takes it back."""
        for machine in self.machines(node):
            self._fleet.preempt(machine)

    def maintain(self, node: Node, workers: list[int]) -> None:
        """Google needs hosts of it: a spot slice is taken back, another is repaired."""
        machines = self.machines(node)
        for worker in workers:
            if node.is_spot:
                self._fleet.preempt(machines[worker])
            else:
                self._fleet.fail(machines[worker])

    # --- what its machines tell (fleet.Watcher)

    def boot(self, machine: Machine) -> Boot | None:
        """See fleet.Watcher. Which worker it is a machine learns from its metadata server."""
        node = self._shelf.get(machine.owner)
        if node is None:
            return None
        names = {one: node.hostname(worker) for worker, one in enumerate(node.machines)}
        return Boot(
            hostname=names.pop(machine.id),
            startup_script=node.metadata.get("startup-script", ""),
            shutdown_script=node.metadata.get("shutdown-script", ""),
            neighbours={name: one for one, name in names.items()},
        )

    def running(self, machine: Machine) -> None:
        """See fleet.Watcher."""
        node = self._shelf.get(machine.owner)
        if node is None or any(one.state is not State.RUNNING for one in self.machines(node)):
            return
        node.state = "READY"
        self.save(node)
        self._operations.finish(node.operation)
        self._tell(node, "ready")

    def warned(self, machine: Machine) -> None:
        """See fleet.Watcher. A slice of which a part is taken back is taken back."""
        node = self._shelf.get(machine.owner)
        if node is None:
            return
        self.preempt(node)
        if not node.is_warned:
            node.is_warned = True
            self.save(node)
            self._tell(node, "warned")

    def ended(self, machine: Machine, end: End, *, status: int | None) -> None:
        """See fleet.Watcher."""
        node = self._shelf.get(machine.owner)
        if node is None or node.state not in ("READY", "CREATING", "STARTING", "REPAIRING"):
            return
        if end is End.FAILED:
            node.state = "REPAIRING"
            self.save(node)
            self._fleet.start(machine, boot_s=self._cloud.settings.delays.tpu)
            return
        if end is End.PREEMPTED and any(one.state is State.WARNED for one in self.machines(node)):
            # Each worker has all of its notice, whichever shuts down first.
            return
        self._halt(node, grace_s=0.0)
        if end is End.EXPIRED:
            # Only flex-start has a time to live, and then nothing is left of it.
            self._gone(_appointment(node))
            return
        node.state = "PREEMPTED" if end is End.PREEMPTED else "TERMINATED"
        self.save(node)
        self._tell(node, "preempted" if end is End.PREEMPTED else "stopped")

    def _halt(self, node: Node, *, grace_s: float) -> None:
        for machine in self.machines(node):
            self._fleet.stop(machine, grace_s=grace_s)

    def _after(self, seconds: float, kind: str, node: Node) -> None:
        if seconds > 0:
            self._cloud.later(seconds, kind, _appointment(node))
        else:
            {"tpu.node.gone": self._gone, "tpu.node.stopped": self._stopped}[kind](
                _appointment(node)
            )

    def _kept(self, appointment: str) -> Node | None:
        name, _, node_id = appointment.rpartition(" ")
        node = self._shelf.get(name)
        return node if node is not None and node.id == node_id else None

    def _stopped(self, appointment: str) -> None:
        node = self._kept(appointment)
        if node is not None and any(machine.is_live for machine in self.machines(node)):
            self._cloud.later(ENDING_LOOK_S, "tpu.node.stopped", appointment)
        elif node is not None and node.state == "STOPPING":
            node.state = "STOPPED"
            self.save(node)
            self._operations.finish(node.operation)
            self._tell(node, "stopped")

    def _gone(self, appointment: str) -> None:
        node = self._kept(appointment)
        if node is None:
            return
        if any(machine.is_live for machine in self.machines(node)):
            # What runs in its workers has yet to end; until then it is being deleted.
            self._cloud.later(ENDING_LOOK_S, "tpu.node.gone", appointment)
            return
        self._shelf.drop(node.name)
        for machine in self.machines(node):
            self._fleet.remove(machine)
        self._operations.finish(node.operation)
        self._tell(node, "gone")

    def _tell(self, node: Node, what: str) -> None:
        for listener in self.listeners:
            listener.heard(node, what)

    def __iter__(self) -> Iterator[Node]:
        return (node for _, node in self._shelf.items())


def _appointment(node: Node) -> str:
    return f"{node.name} {node.id}"


def _encoded(node: Node) -> dict[str, Any]:
    return {name: getattr(node, name) for name in Node.__slots__}
