"""Flex-start instances: those that wait for room for as long as they were asked to.

Must not wait longer: an instance that has had no room by then is gone, and its operation failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.compute.operations import NEVER
from windlass.twin.compute.scopes import Scope, invalid
from windlass.twin.compute.times import seconds_of
from windlass.twin.market import Model

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.compute.asks import Ask
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.instance import Instance

DAY = 86_400.0
SHORTEST_RUN_S, LONGEST_RUN_S = 600.0, 7 * DAY
SHORTEST_WAIT_S, LONGEST_WAIT_S = 90.0, 7200.0
"""What `requestValidForDuration` may be; without it an instance does not wait at all."""
AGAIN_S = 30.0
"""So often Google is taken to look for room."""


class FlexStart:
    """Instances in the queue: their status is PENDING."""

    def __init__(self, base: Ground) -> None:
        self._base = base
        self._waiting = base.cloud.documents("compute.flex")
        base.asks.checks.append(_check)
        base.cloud.on("compute.flex.try", self._try)

    def waits(self, ask: Ask) -> bool:
        """Whether an ask may be granted later."""
        return ask.wanted.model is Model.FLEX_START and _wait_s(ask.properties) > 0

    def insert(self, call: Call, scope: Scope, name: str, *, ask: Ask) -> dict[str, Any]:
        """An instance that runs as soon as there is room."""
        cloud = self._base.cloud
        instance = self._base.instances.add(scope, name, ask)
        operation = self._base.operations.start(
            call, scope, target=instance.link, target_id=instance.id, seconds=NEVER
        )
        record = {
            "operation": scope.key(operation["name"]),
            "id": instance.id,
            "until": cloud.clock.now() + _wait_s(ask.properties),
            "run_s": ask.run_s,
        }
        self._waiting.put(instance.key, record)
        self._try(instance.key)
        return operation

    def _try(self, key: str) -> None:
        record = self._waiting.get(key)
        if record is None:
            return
        cloud = self._base.cloud
        instance = self._base.instances.find(key)
        if instance is None or instance.id != record["id"] or instance.status != "PENDING":
            self._waiting.drop(key)
            self._base.operations.finish(record["operation"])
            return
        machine = self._base.instances.machine(instance)
        assert machine is not None
        refused = self._base.room.refused(machine.wanted)
        if refused is None:
            self._waiting.drop(key)
            self._start(instance, record)
        elif cloud.clock.now() >= record["until"]:
            self._waiting.drop(key)
            self._base.operations.finish(record["operation"], refused)
            self._base.instances.delete(instance, seconds=0)
        else:
            at = min(record["until"], cloud.clock.now() + AGAIN_S)
            cloud.at(at, "compute.flex.try", key)

    def _start(self, instance: Instance, record: dict[str, Any]) -> None:
        self._base.instances.start(instance, run_s=record["run_s"])
        self._base.operations.finish(record["operation"])


def _wait_s(properties: dict[str, Any]) -> float:
    return seconds_of((properties.get("params") or {}).get("requestValidForDuration"))


def _check(properties: dict[str, Any], scope: Scope) -> None:
    """Google's rules for the provisioning model."""
    scheduling = properties.get("scheduling") or {}
    if scheduling.get("provisioningModel") != Model.FLEX_START.value:
        return
    run_s = seconds_of(scheduling.get("maxRunDuration"))
    if run_s and not SHORTEST_RUN_S <= run_s <= LONGEST_RUN_S:
        why = "Must be between 10 minutes and 7 days for the provisioning model FLEX_START."
        raise invalid("scheduling.maxRunDuration", f"{run_s:g}s", why)
    wait_s = _wait_s(properties)
    if wait_s and not SHORTEST_WAIT_S <= wait_s <= LONGEST_WAIT_S:
        why = "Must be between 90 seconds and 2 hours."
        raise invalid("params.requestValidForDuration", f"{wait_s:g}s", why)
