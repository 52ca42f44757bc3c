"""What Google itself does to instances, as its audit log tells it.

Must not do anything to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windlass.twin.compute.instance import Instance
    from windlass.twin.logging.logs import Logs

LOG = "cloudaudit.googleapis.com/system_event"
EVENTS = {
    "warned": ("compute.instances.preempted", "Instance was preempted."),
    "failed": ("compute.instances.hostError", "Instance terminated by Compute Engine."),
    "expired": ("compute.instances.terminateOnMaxRunDuration", "Instance reached its duration."),
}
"""By what an instance's listeners hear: the method that the audit log names, and its words."""


class InstanceEvents:
    """Implements compute's Listener."""

    def __init__(self, logs: Logs) -> None:
        self._logs = logs

    def heard(self, instance: Instance, what: str) -> None:
        """See compute.instances.Listener."""
        if what not in EVENTS:
            return
        method, message = EVENTS[what]
        scope = instance.scope
        name = f"projects/{scope.project}/zones/{scope.place}/instances/{instance.name}"
        self._logs.write(
            {
                "logName": self._logs.log_name(LOG),
                "severity": "INFO",
                "protoPayload": {
                    "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
                    "serviceName": "compute.googleapis.com",
                    "methodName": method,
                    "resourceName": name,
                    "authenticationInfo": {"principalEmail": "system@google.com"},
                    "status": {"message": message},
                },
                "resource": {
                    "type": "gce_instance",
                    "labels": {
                        "project_id": scope.project,
                        "zone": scope.place,
                        "instance_id": instance.id,
                    },
                },
            }
        )
