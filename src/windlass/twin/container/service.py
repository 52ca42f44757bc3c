"""Kubernetes Engine put together: both forms of each method, and what it takes to be allowed it.

Must not hold logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.call import Handler, Route
from windlass.twin.container.clusters import Clusters
from windlass.twin.container.kinds import Kinds
from windlass.twin.container.operations import Operations
from windlass.twin.container.pool_methods import PoolMethods
from windlass.twin.container.pools import Pools

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.fleet import Fleet

OLD_NAMES = {
    "getServerConfig": "getServerconfig",
    "clusters.setLocations": "clusters.locations",
    "clusters.setResourceLabels": "clusters.resourceLabels",
    "clusters.nodePools.setAutoscaling": "clusters.nodePools.autoscaling",
}
"""What methods are called where zones are named one by one."""


def routes(ground: Ground, *, fleet: Fleet) -> dict[str, Route]:
    """The methods that are modelled."""
    cloud, places = ground.cloud, ground.places
    operations = Operations(cloud, places=places)
    pools = Pools(ground, fleet=fleet, kinds=Kinds(ground.catalog))
    clusters = Clusters(cloud, places=places, operations=operations, pools=pools)
    methods = PoolMethods(
        cloud, places=places, operations=operations, clusters=clusters, pools=pools
    )
    get, update = "clusters.get", "clusters.update"
    acts: dict[str, tuple[Handler, str]] = {
        "getServerConfig": (clusters.server_config, get),
        "clusters.create": (clusters.create, "clusters.create"),
        "clusters.get": (clusters.get, get),
        "clusters.list": (clusters.list_all, "clusters.list"),
        "clusters.delete": (clusters.delete, "clusters.delete"),
        "clusters.update": (clusters.update, update),
        "clusters.setLocations": (clusters.set_locations, update),
        "clusters.setResourceLabels": (clusters.set_labels, update),
        "clusters.nodePools.create": (methods.create, update),
        "clusters.nodePools.get": (methods.get, get),
        "clusters.nodePools.list": (methods.list_all, get),
        "clusters.nodePools.delete": (methods.delete, update),
        "clusters.nodePools.update": (methods.update, update),
        "clusters.nodePools.setSize": (methods.set_size, update),
        "clusters.nodePools.setAutoscaling": (methods.set_autoscaling, update),
        "clusters.nodePools.setManagement": (methods.set_management, update),
        "operations.get": (operations.get, "operations.get"),
        "operations.list": (operations.list_all, "operations.list"),
        "operations.cancel": (operations.cancel, update),
    }
    found = {}
    for name, (handler, permission) in acts.items():
        route = Route(handler, permission=f"container.{permission}")
        found[f"container.projects.locations.{name}"] = route
        found[f"container.projects.zones.{OLD_NAMES.get(name, name)}"] = route
    return found
