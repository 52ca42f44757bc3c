"""What every part of Compute Engine stands on, in one value.

Must not do anything itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.access.policies import Policies
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.asks import Asks
    from windlass.twin.compute.instances import Instances
    from windlass.twin.compute.operations import Operations
    from windlass.twin.compute.room import Room
    from windlass.twin.compute.scopes import Places
    from windlass.twin.quotas import Quotas


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Shared by all of Compute Engine's collections."""

    cloud: Cloud
    catalog: Catalog
    places: Places
    operations: Operations
    quotas: Quotas
    policies: Policies
    room: Room
    asks: Asks
    instances: Instances
