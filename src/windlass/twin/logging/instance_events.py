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
    "warned": ("compute.instances.preempted", {"message": "Instance was preempted."}),
    "failed": (
        "compute.instances.hostError",
        {"message": "Instance terminated by Compute Engine."},
    ),
    "expired": (
        "compute.instances.terminateOnMaxRunDuration",
        {"message": "Instance reached its duration."},
    ),
}
"""By what an instance's listeners hear: the method that the audit log names, and its words. A
hundred thousand machines make many entries: they share what they have in common."""
WHO = {"principalEmail": "system@google.com"}


class InstanceEvents:
    """Implements compute's Listener."""

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        self._log_name = logs.log_name(LOG)

    def heard(self, instance: Instance, what: str) -> None:
        """See compute.instances.Listener."""
        method, status = EVENTS[what]
        scope = instance.scope
        name = f"projects/{scope.project}/zones/{scope.place}/instances/{instance.name}"
        self._logs.write(
            {
                "logName": self._log_name,
                "severity": "INFO",
                "protoPayload": {
                    "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
                    "serviceName": "compute.googleapis.com",
                    "methodName": method,
                    "resourceName": name,
                    "authenticationInfo": WHO,
                    "status": status,
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
