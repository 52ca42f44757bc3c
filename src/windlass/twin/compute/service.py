"""Compute Engine put together.

Must not hold logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.compute.asks import Asks
from windlass.twin.compute.base import Base
from windlass.twin.compute.bulk import Bulk
from windlass.twin.compute.images import Images
from windlass.twin.compute.instance_methods import InstanceMethods
from windlass.twin.compute.instances import Instances
from windlass.twin.compute.operations import Operations
from windlass.twin.compute.place_methods import PlaceMethods
from windlass.twin.compute.power import Consoles, Power
from windlass.twin.compute.room import Room
from windlass.twin.compute.scopes import Places
from windlass.twin.compute.templates import Templates

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.access.policies import Policies
    from windlass.twin.call import Route
    from windlass.twin.cloud import Cloud
    from windlass.twin.fleet import Fleet
    from windlass.twin.market import Market
    from windlass.twin.quotas import Quotas


class Compute:
    """The service: its parts and its routes."""

    def __init__(
        self,
        cloud: Cloud,
        *,
        catalog: Catalog,
        policies: Policies,
        market: Market,
        quotas: Quotas,
        fleet: Fleet,
    ) -> None:
        places = Places(catalog)
        images = Images(cloud, catalog=catalog)
        self.base = Base(
            cloud=cloud,
            catalog=catalog,
            places=places,
            operations=Operations(cloud, places=places),
            quotas=quotas,
            policies=policies,
            room=Room(market=market, quotas=quotas),
            asks=Asks(catalog, images=images),
            instances=Instances(cloud, fleet),
        )
        self._images = images

    @property
    def instances(self) -> Instances:
        """For those who run machines and answer for them."""
        return self.base.instances

    def routes(self, consoles: Consoles | None) -> dict[str, Route]:
        """Every method that is modelled."""
        base = self.base
        templates = Templates(base)
        methods = InstanceMethods(base, templates)
        return {
            **base.operations.routes(),
            **self._images.routes(),
            **PlaceMethods(base).routes(),
            **templates.routes(),
            **methods.routes(),
            **Power(base, methods, consoles).routes(),
            **Bulk(base, templates).routes(),
        }
