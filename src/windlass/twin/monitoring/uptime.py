"""The metric that Compute Engine writes by itself: how long instances have been up.

Must not keep anything: it is read off the fleet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from windlass.twin.machine import State

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.instances import Instances
    from windlass.twin.fleet import Fleet
    from windlass.twin.machine import Machine

TYPE = "compute.googleapis.com/instance/uptime"
EVERY = 60.0
UP = (State.RUNNING, State.WARNED)
DESCRIPTOR: dict[str, Any] = {
    "type": TYPE,
    "metricKind": "DELTA",
    "valueType": "DOUBLE",
    "unit": "s{uptime}",
    "displayName": "Uptime",
    "description": "Delta of how long the VM has been running, in seconds.",
    "labels": [{"key": "instance_name", "description": "The name of the VM."}],
    "launchStage": "GA",
    "monitoredResourceTypes": ["gce_instance"],
}


class Uptime:
    """Series of the instances that run, one point a minute since they booted."""

    def __init__(self, cloud: Cloud, *, fleet: Fleet, instances: Instances) -> None:
        self._cloud = cloud
        self._fleet = fleet
        self._instances = instances

    def series(self, since: float, until: float) -> Iterator[dict[str, Any]]:
        """One series for each instance that has points between the moments, newest first."""
        for machine in self._fleet.all():
            instance = self._instances.find(machine.owner)
            if machine.service != "compute" or machine.state not in UP or instance is None:
                continue
            points = list(self._points(machine, since, min(until, self._cloud.clock.now())))
            if points:
                labels = {
                    "project_id": self._cloud.settings.project,
                    "zone": instance.zone,
                    "instance_id": instance.id,
                }
                yield {
                    "metric": {"type": TYPE, "labels": {"instance_name": instance.name}},
                    "resource": {"type": "gce_instance", "labels": labels},
                    "metricKind": "DELTA",
                    "valueType": "DOUBLE",
                    "points": points,
                }

    def _points(self, machine: Machine, since: float, until: float) -> Iterator[dict[str, Any]]:
        first = max(since, machine.running_since)
        at = math.floor(until / EVERY) * EVERY
        while at > first:
            seconds = min(EVERY, at - machine.running_since)
            interval = {
                "startTime": self._cloud.stamp(at - seconds),
                "endTime": self._cloud.stamp(at),
            }
            yield {"interval": interval, "value": {"doubleValue": seconds}}
            at -= EVERY
