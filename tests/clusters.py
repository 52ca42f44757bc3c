"""Kubernetes Engine of the twin for tests.

Must not know a test.
"""

from __future__ import annotations

from typing import Any

from googleapis import Service
from windlass.twin.fleet import Fleet
from windlass.twin.machine import Machine

ZONE = "projects/twin-project/locations/us-central1-a"
REGION = "projects/twin-project/locations/us-central1"
CLUSTER = f"{ZONE}/clusters/c"
POOLS = f"{CLUSTER}/nodePools"


class Clusters(Service):
    """A twin, asked at Kubernetes Engine's host."""

    host = "container.googleapis.com"

    def cluster(self, *, count: int = 1, where: str = ZONE, **more: Any) -> dict[str, Any]:
        """A cluster named c; its operation."""
        pool = {"name": "default-pool", "initialNodeCount": count}
        cluster = {"name": "c", "nodePools": [pool], **more}
        operation: dict[str, Any] = self.done("POST", f"{where}/clusters", {"cluster": cluster})
        return operation

    def pool(
        self, name: str, machine: str = "e2-medium", *, count: int = 1, **more: Any
    ) -> dict[str, Any]:
        """A node pool of it; its operation. What is in `config` is the nodes'."""
        config = {"machineType": machine, **more.pop("config", {})}
        pool = {"name": name, "initialNodeCount": count, "config": config, **more}
        operation: dict[str, Any] = self.done("POST", POOLS, {"nodePool": pool})
        return operation

    def shown(self, name: str = "") -> dict[str, Any]:
        """The cluster, or one of its pools."""
        answer: dict[str, Any] = self.done("GET", f"{POOLS}/{name}" if name else CLUSTER)
        return answer

    def nodes(self, pool: str = "") -> list[Machine]:
        """The machines of a pool, or of all."""
        fleet: Fleet = self.twin.fleet
        return [
            machine
            for machine in fleet.all()
            if machine.service == "container" and (not pool or machine.owner.endswith(f"/{pool}"))
        ]
