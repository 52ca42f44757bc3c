"""All that can go wrong in a twin, put together.

Must not hold logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.faults.acts import BookActs, FaultActs
from windlass.twin.faults.door_faults import DoorFaults
from windlass.twin.faults.incidents import Incidents, Stage
from windlass.twin.faults.notices import Notices
from windlass.twin.faults.rules import FaultRules

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.admin import Act
    from windlass.twin.billing import Billing
    from windlass.twin.cloud import Cloud


class FaultService:
    """The rules at the door, the incidents, and the owner's acts."""

    def __init__(self, cloud: Cloud, *, catalog: Catalog, stage: Stage, billing: Billing) -> None:
        self.rules = FaultRules(cloud)
        self.incidents = Incidents(cloud, stage)
        self.door = DoorFaults(cloud, self.rules)
        acts = FaultActs(cloud, catalog=catalog, rules=self.rules, incidents=self.incidents)
        self.acts: dict[str, Act] = {
            **acts.acts(),
            **BookActs(billing=billing, fleet=stage.fleet).acts(),
            **Notices(cloud, stage.fleet).acts(),
        }
