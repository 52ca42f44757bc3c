"""Cloud TPU put together.

Must not hold logic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from windlass.twin.tpu.ground import Ground
from windlass.twin.tpu.guest import WorkerGuest
from windlass.twin.tpu.kinds import Kinds
from windlass.twin.tpu.node_methods import NodeMethods
from windlass.twin.tpu.nodes import Nodes
from windlass.twin.tpu.operations import Operations
from windlass.twin.tpu.place_methods import PlaceMethods
from windlass.twin.tpu.queue import Queue
from windlass.twin.tpu.queue_methods import QueueMethods
from windlass.twin.tpu.room import Room

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.call import Route
    from windlass.twin.cloud import Cloud
    from windlass.twin.fleet import Fleet
    from windlass.twin.market import Market
    from windlass.twin.quotas import Quotas


class Tpu:
    """The service: its parts and its routes."""

    def __init__(
        self,
        cloud: Cloud,
        *,
        catalog: Catalog,
        market: Market,
        quotas: Quotas,
        fleet: Fleet,
        project_metadata: Callable[[], Mapping[str, str]],
    ) -> None:
        kinds, operations = Kinds(cloud, catalog=catalog), Operations(cloud)
        self.nodes = Nodes(cloud, fleet=fleet, kinds=kinds, operations=operations)
        operations.undo = self.nodes.take_back
        self.operations = operations
        self.guest = WorkerGuest(
            cloud, nodes=self.nodes, kinds=kinds, project_metadata=project_metadata
        )
        ground = Ground(
            cloud=cloud,
            kinds=kinds,
            room=Room(cloud, market=market, quotas=quotas),
            operations=operations,
            nodes=self.nodes,
            guest=self.guest,
        )
        self.queue = Queue(ground)
        self._ground = ground

    def routes(self) -> dict[str, Route]:
        """Every method that is modelled."""
        ground = self._ground
        return {
            **ground.operations.routes(),
            **PlaceMethods(ground).routes(),
            **NodeMethods(ground).routes(),
            **QueueMethods(ground, self.queue).routes(),
        }
