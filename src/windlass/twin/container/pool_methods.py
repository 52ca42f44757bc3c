"""The methods of node pools.

Must not make nodes: pools do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.container.names import Path, already_exists, check_id, path_of
from windlass.twin.container.shapes import filled_pool, shown_pool
from windlass.twin.container.updates import changed_pool
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.fitting import fitted
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.scopes import Places
    from windlass.twin.container.clusters import Clusters
    from windlass.twin.container.operations import Operations
    from windlass.twin.container.pools import Pools

MOST_NODES = 5000
SETTLED = ("CREATE_NODE_POOL", "SET_NODE_POOL_SIZE", "SET_NODE_POOL_MANAGEMENT", "UPGRADE_NODES")


class PoolMethods:
    """What clients do with pools."""

    def __init__(
        self,
        cloud: Cloud,
        *,
        places: Places,
        operations: Operations,
        clusters: Clusters,
        pools: Pools,
    ) -> None:
        self._cloud = cloud
        self._places = places
        self._operations = operations
        self._clusters = clusters
        self._pools = pools
        for kind in SETTLED:
            operations.after[kind] = self._settled
        operations.after["DELETE_NODE_POOL"] = self._gone

    def create(self, call: Call) -> dict[str, Any]:
        """A pool, and its first nodes."""
        where = path_of(call, self._places)
        cluster = self._clusters.find(where)["shown"]
        given = call.body.get("nodePool") or {}
        check_id(given.get("name", ""), "Node pool name")
        path = where._replace(pool=given["name"])
        if self._pools.exists(path):
            raise already_exists(path)
        self._operations.check_idle(path)
        pool = filled_pool(given)
        _check_autoscaling(pool.get("autoscaling") or {})
        self._pools.check([pool], cluster["locations"])
        self._pools.add(path, pool, zones=cluster["locations"])
        return self._start(path, "CREATE_NODE_POOL", is_large=True)

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        path = path_of(call, self._places)
        self._clusters.find(path._replace(pool=""))
        return self._shown(call, self._pools.find(path), path)

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a cluster."""
        path = path_of(call, self._places)
        self._clusters.find(path)
        found = [self._shown(call, record, path) for record in self._pools.under(path)]
        return {"nodePools": found} if found else {}

    def delete(self, call: Call) -> dict[str, Any]:
        """Nodes end at once, the pool a little later."""
        path, record = self._changing(call)
        self._pools.drop(record)
        return self._start(path, "DELETE_NODE_POOL", is_large=True)

    def set_size(self, call: Call) -> dict[str, Any]:
        """So many nodes in each of its zones."""
        path, record = self._changing(call)
        count = int(call.body.get("nodeCount", 0))
        if not 0 <= count <= MOST_NODES:
            raise Refusal(400, f"Node count must be between 0 and {MOST_NODES}, not {count}.")
        self._pools.resize(path, count)
        record["doing"] = "RECONCILING"
        self._pools.save(record)
        return self._start(path, "SET_NODE_POOL_SIZE", is_large=True)

    def set_autoscaling(self, call: Call) -> dict[str, Any]:
        """Between which sizes it may be; nothing asks for nodes here, so it stays as it is."""
        autoscaling = call.body.get("autoscaling") or {}
        _check_autoscaling(autoscaling)
        return self._set(call, {"autoscaling": autoscaling}, "UPDATE_CLUSTER")

    def set_management(self, call: Call) -> dict[str, Any]:
        """Whether nodes are repaired and upgraded by Google."""
        management = call.body.get("management") or {}
        return self._set(call, {"management": management}, "SET_NODE_POOL_MANAGEMENT")

    def update(self, call: Call) -> dict[str, Any]:
        """Change what nodes are like from now on."""
        _, record = self._changing(call)
        api = load_api("container", call.method.version)
        fields = api.schemas["NodeConfig"]["properties"]
        pool = changed_pool(record["shown"], call.body, fields=fields)
        zones = pool["locations"]
        if zones != record["shown"]["locations"]:
            self._pools.move(record, zones)
        return self._set(call, pool, "UPGRADE_NODES")

    def _set(self, call: Call, fields: dict[str, Any], kind: str) -> dict[str, Any]:
        path, record = self._changing(call)
        record["shown"] = {**record["shown"], **fields}
        record["doing"] = "RECONCILING"
        self._pools.save(record)
        return self._start(path, kind)

    def _changing(self, call: Call) -> tuple[Path, dict[str, Any]]:
        path = path_of(call, self._places)
        self._clusters.find(path._replace(pool=""))
        record = self._pools.find(path)
        self._operations.check_idle(path)
        return path, record

    def _start(self, path: Path, kind: str, *, is_large: bool = False) -> dict[str, Any]:
        delays = self._cloud.settings.delays
        seconds = delays.cluster if is_large else delays.operation
        return self._operations.start(path, kind, seconds=seconds)

    def _settled(self, path: Path) -> None:
        if self._pools.exists(path):
            trouble = self._pools.settle(self._pools.find(path))
            if trouble:
                self._operations.fail(path, trouble)

    def _gone(self, path: Path) -> None:
        if self._pools.exists(path):
            self._pools.forget(self._pools.find(path))

    def _shown(self, call: Call, record: dict[str, Any], path: Path) -> dict[str, Any]:
        api = load_api("container", call.method.version)
        return fitted(api, "NodePool", shown_pool(record, path))


def _check_autoscaling(autoscaling: dict[str, Any]) -> None:
    for least, most in (
        ("minNodeCount", "maxNodeCount"),
        ("totalMinNodeCount", "totalMaxNodeCount"),
    ):
        low, high = int(autoscaling.get(least, 0)), int(autoscaling.get(most, 0))
        if autoscaling.get("enabled") and low > high:
            message = f"autoscaling.{least} ({low}) must not be above autoscaling.{most} ({high})."
            raise Refusal(400, message)
