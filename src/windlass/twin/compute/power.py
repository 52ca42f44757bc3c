"""Turning instances on and off, what their consoles say, and what can be done to a host.

Must not make or delete instances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from windlass.twin.call import Call, Route, locked
from windlass.twin.compute.asks import Ask, run_seconds
from windlass.twin.compute.ending import guest_grace_s
from windlass.twin.compute.instance import Instance
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.compute.ground import Ground
    from windlass.twin.compute.instance_methods import InstanceMethods

CONSOLE_PAGE = 1 << 20


class Consoles(Protocol):
    """What machines have printed."""

    def console(self, machine_id: str, start: int = 0) -> bytes:
        """Everything from that byte on."""


class Power:
    """The API of power and consoles."""

    def __init__(self, base: Ground, methods: InstanceMethods) -> None:
        self._base = base
        self.named = methods.named
        self._endings = methods.endings
        self.consoles: Consoles | None = None

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled here."""
        handlers = {
            "start": self.start,
            "resume": self.start,
            "stop": self.stop,
            "suspend": self.suspend,
            "reset": self.reset,
            "simulateMaintenanceEvent": self.simulate_maintenance,
            "reportHostAsFaulty": self.report_faulty,
            "getSerialPortOutput": self.serial_port,
        }
        return locked({f"compute.instances.{name}": one for name, one in handlers.items()})

    def start(self, call: Call) -> dict[str, Any]:
        """Turn it on; stock and quota may be in the way again."""
        base = self._base
        instance = self.named(call)
        if instance.status == "RUNNING":
            return self._operation(call, instance)
        if instance.status not in ("TERMINATED", "SUSPENDED"):
            raise _not_ready(instance)
        machine = base.instances.machine(instance)
        assert machine is not None
        ask = self._asked_again(instance)
        grant = base.room.granted(ask, instance.scope)
        if grant.refused is not None:
            return base.operations.refuse(
                call, instance.scope, grant.refused, target=instance.link, target_id=instance.id
            )
        machine.wanted = ask.wanted
        instance.reservation = grant.reservation
        base.instances.start(instance, run_s=ask.run_s)
        return self._operation(call, instance, seconds=base.cloud.settings.delays.boot)

    def _asked_again(self, instance: Instance) -> Ask:
        """What it is to run on now: its machine type may have been changed while it was off."""
        properties = {**instance.properties, **instance.changes}
        if "machineType" in instance.changes and "guestAccelerators" not in instance.changes:
            # The GPUs of a type that has some of its own go with the type.
            properties.pop("guestAccelerators", None)
        wanted = self._base.asks.wanted(properties, instance.scope)
        return Ask(properties, wanted, run_seconds(instance.scheduling))

    def stop(self, call: Call) -> dict[str, Any]:
        """Turn it off."""
        instance = self.named(call)
        if instance.status not in ("TERMINATED", "STOPPING"):
            self._base.instances.stop(instance, grace_s=guest_grace_s(call))
        return self._endings.operation(
            call, instance, seconds=self._base.cloud.settings.delays.stop
        )

    def suspend(self, call: Call) -> dict[str, Any]:
        """Turn it off, to go on later. Its memory is not kept: it boots again."""
        instance = self.named(call)
        if instance.value("guestAccelerators"):
            message = (
                "Invalid resource usage: 'Instances with guest accelerators cannot be suspended.'."
            )
            raise Refusal(400, message, reason="invalidResourceUsage")
        if instance.status == "RUNNING":
            self._base.instances.stop(instance, status="SUSPENDED")
        return self._endings.operation(
            call, instance, seconds=self._base.cloud.settings.delays.stop
        )

    def reset(self, call: Call) -> dict[str, Any]:
        """Off and on at once."""
        instance = self.named(call)
        if instance.status != "RUNNING":
            raise _not_ready(instance)
        self._base.instances.restart(instance, run_s=run_seconds(instance.scheduling))
        return self._operation(call, instance)

    def simulate_maintenance(self, call: Call) -> dict[str, Any]:
        """Google needs the host: an instance that cannot move is stopped. A spot one is
        preempted, which is how a preemption is tried out."""
        instance = self.named(call)
        if instance.status != "RUNNING":
            raise _not_ready(instance)
        self.maintain(instance)
        return self._operation(call, instance)

    def maintain(self, instance: Instance) -> None:
        """Google needs the host of an instance that runs."""
        self._base.instances.maintain(instance)

    def report_faulty(self, call: Call) -> dict[str, Any]:
        """A user says that the host is broken: the instance is moved to another."""
        return self.reset(call)

    def serial_port(self, call: Call) -> dict[str, Any]:
        """What the machine has printed, from a byte on; a negative one counts from the end."""
        instance = self.named(call)
        start = int(call.query.get("start", "0"))
        raw = b""
        if self.consoles is not None:
            if start < 0:
                start = max(0, len(self.consoles.console(instance.machine, 0)) + start)
            raw = self.consoles.console(instance.machine, start)[:CONSOLE_PAGE]
        return {
            "kind": "compute#serialPortOutput",
            "selfLink": f"{instance.link}/serialPort",
            "contents": raw.decode("utf-8", "replace"),
            "start": str(start),
            "next": str(start + len(raw)),
        }

    def _operation(
        self, call: Call, instance: Instance, *, seconds: float | None = None
    ) -> dict[str, Any]:
        return self._base.operations.start(
            call, instance.scope, target=instance.link, target_id=instance.id, seconds=seconds
        )


def _not_ready(instance: Instance) -> Refusal:
    resource = instance.link.partition("/v1/")[2]
    message = f"The resource '{resource}' is not ready"
    return Refusal(400, message, reason="resourceNotReady")
