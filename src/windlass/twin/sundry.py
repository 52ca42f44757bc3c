"""The services beside those that users rent machines from directly, put together.

Must not hold logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.budgets import service as budgets
from windlass.twin.cloudquotas import service as cloudquotas
from windlass.twin.container import service as container
from windlass.twin.monitoring import service as monitoring
from windlass.twin.oslogin import service as oslogin
from windlass.twin.secretmanager import service as secretmanager

if TYPE_CHECKING:
    from windlass.twin.call import Route
    from windlass.twin.compute.ground import Ground
    from windlass.twin.fleet import Fleet


def routes(ground: Ground, fleet: Fleet) -> dict[str, Route]:
    """What they answer to. They stand on what Compute Engine stands on."""
    cloud = ground.cloud
    return {
        **secretmanager.routes(cloud, policies=ground.policies),
        **cloudquotas.routes(cloud, catalog=ground.catalog, quotas=ground.quotas),
        **budgets.routes(cloud),
        **monitoring.routes(cloud, fleet=fleet, instances=ground.instances),
        **oslogin.routes(cloud),
        **container.routes(ground, fleet=fleet),
    }
