"""Clusters: made, shown, changed and deleted, with their node pools.

Must not make nodes: pools do. There is no Kubernetes API behind a cluster's endpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.container.names import (
    ANYWHERE,
    Path,
    already_exists,
    check_id,
    not_found,
    path_of,
)
from windlass.twin.container.pools import Pools, ready
from windlass.twin.container.shapes import (
    filled_cluster,
    filled_pool,
    fingerprint,
    shown_cluster,
)
from windlass.twin.container.updates import changed
from windlass.twin.container.versions import chosen, server_config
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.fitting import fitted
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.scopes import Places
    from windlass.twin.container.operations import Operations

ZONES_OF_REGIONAL = 3


class Clusters:
    """All clusters of the project."""

    def __init__(
        self, cloud: Cloud, *, places: Places, operations: Operations, pools: Pools
    ) -> None:
        self._cloud = cloud
        self._places = places
        self._operations = operations
        self._pools = pools
        self._clusters = cloud.documents("container.clusters")
        operations.after |= {
            "CREATE_CLUSTER": self._settled,
            "UPDATE_CLUSTER": self._settled,
            "SET_LABELS": self._settled,
            "DELETE_CLUSTER": self._gone,
        }

    def find(self, path: Path) -> dict[str, Any]:
        """A cluster's record."""
        record = self._clusters.get(path.key)
        if record is None:
            raise not_found(path)
        return record

    def create(self, call: Call) -> dict[str, Any]:
        """A cluster with its first pools."""
        given = call.body.get("cluster") or {}
        where = path_of(call, self._places)
        check_id(given.get("name", ""), "Cluster name")
        path = where._replace(cluster=given["name"])
        if path.key in self._clusters:
            raise already_exists(path)
        zones = given.get("locations") or self._zones(path)
        version = _version(given.get("initialClusterVersion", ""))
        shown = filled_cluster({**given, "initialClusterVersion": version}, path, zones)
        pools = _first_pools(given)
        for pool in pools:
            check_id(pool["name"], "Node pool name")
        self._pools.check(pools, zones)
        made = {
            "id": f"{int(self._cloud.new_id()):064x}",
            "createTime": self._cloud.stamp(),
            "currentMasterVersion": version,
        }
        record = {"shown": shown | made, "doing": "PROVISIONING", "path": list(path)}
        self._clusters.put(path.key, record)
        for pool in pools:
            self._pools.add(path._replace(pool=pool["name"]), pool, zones=zones)
        return self._start(path, "CREATE_CLUSTER")

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        path = path_of(call, self._places)
        return self._shown(call, self.find(path))

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a place, or of all places."""
        path = path_of(call, self._places)
        prefix = "" if path.location == ANYWHERE else f"{path.location}/"
        found = [self._shown(call, record) for _, record in self._clusters.under(prefix)]
        return {"clusters": found} if found else {}

    def delete(self, call: Call) -> dict[str, Any]:
        """Nodes end at once, the cluster a little later."""
        path = path_of(call, self._places)
        record = self.find(path)
        self._operations.check_idle(path)
        for pool in self._pools.under(path):
            self._pools.drop(pool)
        self._clusters.put(path.key, {**record, "doing": "STOPPING"})
        return self._start(path, "DELETE_CLUSTER")

    def update(self, call: Call) -> dict[str, Any]:
        """Change one thing, as `ClusterUpdate` says it."""
        path = path_of(call, self._places)
        record = self.find(path)
        self._operations.check_idle(path)
        update = dict(call.body.get("update") or {})
        self._update_pools(path, update)
        api = load_api("container", call.method.version)
        shown = changed(record["shown"], update, fields=api.schemas["Cluster"]["properties"])
        self._clusters.put(path.key, {**record, "shown": shown, "doing": "RECONCILING"})
        return self._start(path, "UPDATE_CLUSTER")

    def set_locations(self, call: Call) -> dict[str, Any]:
        """Other zones for all pools."""
        path = path_of(call, self._places)
        record = self.find(path)
        self._operations.check_idle(path)
        zones = call.body.get("locations", [])
        for pool in self._pools.under(path):
            self._pools.move(pool, zones)
        shown = {**record["shown"], "locations": zones}
        self._clusters.put(path.key, {**record, "shown": shown, "doing": "RECONCILING"})
        return self._start(path, "UPDATE_CLUSTER")

    def set_labels(self, call: Call) -> dict[str, Any]:
        """Replace the cluster's labels."""
        path = path_of(call, self._places)
        record = self.find(path)
        self._operations.check_idle(path)
        seen = call.body.get("labelFingerprint", "")
        if seen != record["shown"]["labelFingerprint"]:
            message = "Labels could not be set due to fingerprint mismatch."
            raise Refusal(400, message, status="FAILED_PRECONDITION")
        labels = call.body.get("resourceLabels", {})
        named = {"resourceLabels": labels, "labelFingerprint": fingerprint(labels)}
        self._clusters.put(path.key, {**record, "shown": {**record["shown"], **named}})
        return self._start(path, "SET_LABELS")

    def server_config(self, call: Call) -> dict[str, Any]:
        """What can be had in a place."""
        path_of(call, self._places)
        return server_config()

    def _update_pools(self, path: Path, update: dict[str, Any]) -> None:
        """What an update says about pools, which it then says no more."""
        autoscaling = update.pop("desiredNodePoolAutoscaling", None)
        version = update.pop("desiredNodeVersion", "")
        image = update.pop("desiredImageType", "")
        name = update.pop("desiredNodePoolId", "")
        zones = update.get("desiredLocations")
        for record in self._pools.under(path):
            pool = record["shown"]
            if name and pool["name"] != name:
                continue
            pool |= {"autoscaling": autoscaling} if autoscaling is not None else {}
            pool |= {"version": _version(version)} if version else {}
            pool["config"] |= {"imageType": image} if image else {}
            self._pools.save(record)
            if zones:
                self._pools.move(record, zones)

    def _start(self, path: Path, kind: str) -> dict[str, Any]:
        delays = self._cloud.settings.delays
        is_large = kind in ("CREATE_CLUSTER", "DELETE_CLUSTER")
        seconds = delays.cluster if is_large else delays.operation
        return self._operations.start(path, kind, seconds=seconds)

    def _settled(self, target: Path) -> None:
        path = target._replace(pool="")
        record = self._clusters.get(path.key)
        if record is None:
            return
        self._clusters.put(path.key, {**record, "doing": ""})
        for pool in self._pools.under(path):
            if trouble := self._pools.settle(pool):
                self._operations.fail(path, trouble)

    def _gone(self, path: Path) -> None:
        for pool in self._pools.under(path):
            self._pools.forget(pool)
        self._clusters.drop(path.key)

    def _shown(self, call: Call, record: dict[str, Any]) -> dict[str, Any]:
        path = Path(*record["path"])
        pools = self._pools.under(path)
        nodes = sum(ready(self._pools.nodes(pool)) for pool in pools)
        shown = shown_cluster(record, pools, nodes=nodes, path=path)
        return fitted(load_api("container", call.method.version), "Cluster", shown)

    def _zones(self, path: Path) -> list[str]:
        if path.is_zonal:
            return [path.location]
        return self._places.zones_of(path.location)[:ZONES_OF_REGIONAL]


def _first_pools(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that are named, or the one that older clients mean by a count."""
    if (given.get("autopilot") or {}).get("enabled"):
        return []
    pools = given.get("nodePools")
    if not pools:
        count = given.get("initialNodeCount", 0)
        if not count:
            raise Refusal(400, "Cluster.initial_node_count must be greater than zero.")
        config = given.get("nodeConfig") or {}
        pools = [{"name": "default-pool", "initialNodeCount": count, "config": config}]
    return [filled_pool(pool) for pool in pools]


def _version(wish: str) -> str:
    version = chosen(wish)
    if not version:
        raise Refusal(400, f'Version "{wish}" is invalid.')
    return version
