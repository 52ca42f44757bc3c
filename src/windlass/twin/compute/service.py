"""Compute Engine put together.

Must not hold logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.compute.asks import Asks
from windlass.twin.compute.attachments import Attachments
from windlass.twin.compute.autoscalers import Autoscalers
from windlass.twin.compute.bulk import Bulk
from windlass.twin.compute.disks import Disks
from windlass.twin.compute.flex_start import FlexStart
from windlass.twin.compute.future_reservations import FutureReservations
from windlass.twin.compute.ground import Ground
from windlass.twin.compute.group_methods import GroupMethods
from windlass.twin.compute.groups import Groups
from windlass.twin.compute.images import Images
from windlass.twin.compute.instance_methods import InstanceMethods
from windlass.twin.compute.instances import Instances
from windlass.twin.compute.maintenance import Maintenance
from windlass.twin.compute.networks import Networks
from windlass.twin.compute.operations import Operations
from windlass.twin.compute.place_methods import PlaceMethods
from windlass.twin.compute.power import Consoles, Power
from windlass.twin.compute.reservations import Reservations
from windlass.twin.compute.resize_requests import ResizeRequests
from windlass.twin.compute.resource_policies import ResourcePolicies
from windlass.twin.compute.room import Room
from windlass.twin.compute.routers import Addresses, Routers
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
        self.base = Ground(
            cloud=cloud,
            catalog=catalog,
            places=places,
            operations=Operations(cloud, places=places),
            quotas=quotas,
            policies=policies,
            room=Room(market=market, quotas=quotas, places=places, project=cloud.settings.project),
            asks=Asks(catalog, images=images),
            instances=Instances(cloud, fleet),
        )
        self.base.operations.undo = self.base.instances.take_back
        base = self.base
        templates = Templates(base)
        networks = Networks(base)
        disks = Disks(base, images)
        policies_of_regions = ResourcePolicies(base)
        reservations = Reservations(base, templates)
        methods = InstanceMethods(base, templates, flex=FlexStart(base), disks=disks)
        self.groups = Groups(base, templates)
        self.resize_requests = ResizeRequests(base, self.groups)
        self._power = Power(base, methods)
        self.maintenance = Maintenance(base, self._power)
        self._parts = (
            base.operations,
            images,
            PlaceMethods(base),
            templates,
            methods,
            self._power,
            self.maintenance,
            Attachments(base, methods, disks=disks, networks=networks),
            Bulk(base, templates),
            disks,
            networks,
            Routers(base),
            Addresses(base),
            policies_of_regions,
            reservations,
            FutureReservations(base, reservations),
            GroupMethods(base, self.groups),
            self.resize_requests,
            Autoscalers(base),
        )

    @property
    def instances(self) -> Instances:
        """For those who run machines and answer for them."""
        return self.base.instances

    def routes(self, consoles: Consoles | None) -> dict[str, Route]:
        """Every method that is modelled."""
        self._power.consoles = consoles
        return {method: route for part in self._parts for method, route in part.routes().items()}
