"""When machines of a run were told that they will be taken away, whichever service they are of.

Must not be what clients look at: Google tells them only of Compute Engine's machines, in its audit
log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windlass.twin.admin import Act
    from windlass.twin.cloud import Cloud
    from windlass.twin.fleet import Fleet
    from windlass.twin.machine import Machine

RUN = "windlass-run"
MOST = 1000
"""Of each run; the oldest are forgotten first."""


class Notices:
    """Under /twin/v1/notices."""

    def __init__(self, cloud: Cloud, fleet: Fleet) -> None:
        self._cloud = cloud
        self._shelf = cloud.documents("notices")
        fleet.on_warned.append(self._heard)

    def acts(self) -> dict[str, Act]:
        """By the last part of their path."""
        return {"notices": self.listed}

    def listed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """By run, the earliest first."""
        return {"runs": {run: one["at"] for run, one in self._shelf.items()}}

    def _heard(self, machine: Machine) -> None:
        run = machine.labels.get(RUN)
        if run is None:
            return
        known = (self._shelf.get(run) or {"at": []})["at"]
        self._shelf.put(run, {"at": [*known, self._cloud.clock.now()][-MOST:]})
