"""Host maintenance: Google tells when it needs a host, and takes it.

Must not turn machines on and off itself: power does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.instance import Instance
    from windlass.twin.compute.power import Power

WINDOW_S = 4 * 3600.0


class Maintenance:
    """Announces maintenance and carries it out."""

    def __init__(self, base: Ground, power: Power) -> None:
        self._base = base
        self._power = power
        base.cloud.on("compute.maintenance", self._due)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return locked({"compute.instances.performMaintenance": self.perform})

    def announce(self, instance: Instance, *, in_s: float) -> None:
        """Its host will be needed in so long. The API and the metadata server tell it."""
        cloud = self._base.cloud
        start = cloud.clock.now() + in_s
        upcoming = {
            "type": "SCHEDULED",
            "canReschedule": True,
            "windowStartTime": cloud.stamp(start),
            "windowEndTime": cloud.stamp(start + WINDOW_S),
            "latestWindowStartTime": cloud.stamp(start),
            "maintenanceStatus": "PENDING",
            "maintenanceReasons": ["PLANNED_UPDATE"],
        }
        policy = instance.scheduling["onHostMaintenance"]
        instance.maintenance = f"{policy}_ON_HOST_MAINTENANCE"
        self._set(instance, {"upcomingMaintenance": upcoming})
        cloud.at(start, "compute.maintenance", f"{instance.key} {upcoming['windowStartTime']}")

    def perform(self, call: Call) -> dict[str, Any]:
        """The user has it done now."""
        instance = self._power.named(call)
        if self._upcoming(instance) is None:
            message = "Invalid resource usage: 'There is no upcoming maintenance to perform.'."
            raise Refusal(400, message, reason="invalidResourceUsage")
        self._carry_out(instance)
        return self._base.operations.start(
            call, instance.scope, target=instance.link, target_id=instance.id
        )

    def _due(self, appointment: str) -> None:
        key, _, start = appointment.rpartition(" ")
        instance = self._base.instances.find(key)
        upcoming = self._upcoming(instance) if instance is not None else None
        if instance is not None and upcoming and upcoming["windowStartTime"] == start:
            self._carry_out(instance)

    def _carry_out(self, instance: Instance) -> None:
        instance.maintenance = "NONE"
        self._set(instance, None)
        if instance.status == "RUNNING":
            self._power.maintain(instance)

    def _upcoming(self, instance: Instance) -> dict[str, Any] | None:
        return (instance.value("resourceStatus") or {}).get("upcomingMaintenance")

    def _set(self, instance: Instance, status: dict[str, Any] | None) -> None:
        instance.changes = {**instance.changes, "resourceStatus": status}
        if status is None:
            del instance.changes["resourceStatus"]
        self._base.instances.save(instance)
