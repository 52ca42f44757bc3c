"""What a worker of a TPU slice finds in its metadata: who it is, and where the others are.

Must not serve it: the metadata server does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from windlass.twin.metadata.guest import Description
from windlass.twin.tpu.kinds import TYPES
from windlass.twin.tpu.names import last
from windlass.twin.tpu.node import network_of

if TYPE_CHECKING:
    from windlass.catalog.model import Slice
    from windlass.twin.cloud import Cloud
    from windlass.twin.machine import Machine
    from windlass.twin.tpu.kinds import Kinds
    from windlass.twin.tpu.node import Node
    from windlass.twin.tpu.nodes import Nodes

MEGASCALE_PORT = 8080
BOUNDS = {1: "1,1,1", 4: "2,2,1", 8: "2,4,1"}
"""How the chips of one host are laid out, by their number."""


class WorkerGuest:
    """Implements metadata.Guest for the workers of all nodes, and listens to nodes that go."""

    def __init__(
        self,
        cloud: Cloud,
        *,
        nodes: Nodes,
        kinds: Kinds,
        project_metadata: Callable[[], Mapping[str, str]],
    ) -> None:
        self._cloud = cloud
        self._nodes = nodes
        self._kinds = kinds
        self._project_metadata = project_metadata
        self._told = cloud.documents("tpu.guestAttributes")
        nodes.listeners.append(self)

    def described(self, machine: Machine) -> Description | None:
        """See metadata.Guest."""
        node = self._nodes.of_machine(machine)
        if node is None:
            return None
        worker = node.machines.index(machine.id)
        email, scopes = node.account(self._cloud.settings.default_service_account)
        network = network_of(node)
        has_external = bool(network["enableExternalIps"])
        external = node.external_address(worker, machine.address) if has_external else ""
        return Description(
            name=node.hostname(worker),
            number=machine.id,
            zone=node.place.zone,
            machine_type=self._kinds.slice(node.slice).machine,
            attributes=self.attributes(machine),
            project_attributes=self._project_metadata(),
            service_account=email,
            scopes=scopes,
            tags=node.properties.get("tags") or (),
            address=node.address(worker, machine.address),
            external_address=external,
            network=last(network["network"]),
            scheduling={
                "automatic-restart": str(not node.is_spot).upper(),
                "on-host-maintenance": "TERMINATE",
                "preemptible": str(node.is_spot).upper(),
            },
            is_preempted=node.is_warned,
        )

    def guest_attributes(self, machine: Machine) -> dict[str, str] | None:
        """See metadata.Guest. Workers may always tell."""
        if self._nodes.of_machine(machine) is None:
            return None
        return dict(self._told.get(machine.id) or {})

    def set_guest_attribute(self, machine: Machine, path: str, value: str | None) -> None:
        """See metadata.Guest."""
        told = dict(self._told.get(machine.id) or {})
        if value is None:
            told.pop(path, None)
        else:
            told[path] = value
        self._told.put(machine.id, told)

    def heard(self, node: Node, what: str) -> None:
        """See nodes.Listener."""
        if what == "gone":
            for machine_id in node.machines:
                self._told.drop(machine_id)

    def attributes(self, machine: Machine) -> dict[str, str]:
        """`instance/attributes/` of a worker: those that JAX and PyTorch/XLA find their peers
        by, and those of the node's user."""
        node = self._nodes.of_machine(machine)
        if node is None:
            return {}
        worker = node.machines.index(machine.id)
        endpoints = [f"unknown:unknown:{address}" for address in self._addresses(node)]
        return {
            "accelerator-type": self._kinds.slice(node.slice).accelerator_type,
            "agent-worker-number": str(worker),
            "instance-id": last(node.name),
            "tpu-env": self._environment(node, worker),
            "worker-network-endpoints": ",".join(endpoints),
            **node.metadata,
        }

    def _addresses(self, node: Node) -> list[str]:
        machines = self._nodes.machines(node)
        return [node.address(worker, one.address) for worker, one in enumerate(machines)]

    def _environment(self, node: Node, worker: int) -> str:
        """Lines of `NAME: 'value'`."""
        slice_ = self._kinds.slice(node.slice)
        host = BOUNDS.get(slice_.chips_per_host, f"{slice_.chips_per_host},1,1")
        hosts = _divided(slice_, host)
        values = {
            "ACCELERATOR_TYPE": slice_.accelerator_type,
            "CHIPS_PER_HOST_BOUNDS": host,
            "CONSUMER_PROJECT_ID": node.place.project,
            "CONSUMER_PROJECT_NUMBER": self._cloud.settings.project_number,
            "HOST_BOUNDS": hosts,
            "NODE_ID": last(node.name),
            "PREEMPTIBLE": str(node.is_spot).lower(),
            "TOPOLOGY": slice_.topology,
            "TPU_CHIPS_PER_PROCESS_BOUNDS": host,
            "TPU_PROCESS_BOUNDS": hosts,
            "TYPE": TYPES[slice_.chip],
            "UID": node.id,
            "WORKER_ID": str(worker),
            "ZONE": node.place.zone,
        }
        if node.slices > 1:
            values |= {
                "MEGASCALE_COORDINATOR_ADDRESS": f"{self._coordinator(node)}:{MEGASCALE_PORT}",
                "MEGASCALE_NUM_SLICES": str(node.slices),
                "MEGASCALE_SLICE_ID": str(node.slice_number),
            }
        return "".join(f"{name}: '{value}'\n" for name, value in sorted(values.items()))

    def _coordinator(self, node: Node) -> str:
        """The first worker of the first slice."""
        together = [one for one in self._nodes if one.queued == node.queued]
        first = min(together, key=lambda one: one.slice_number)
        return self._addresses(first)[0]


def _divided(slice_: Slice, host: str) -> str:
    """How many hosts a slice has in each direction."""
    sides = [int(side) for side in slice_.topology.split("x")]
    sides += [1] * (3 - len(sides))
    by_host = [int(side) for side in host.split(",")]
    return ",".join(str(max(1, side // chips)) for side, chips in zip(sides, by_host, strict=True))
