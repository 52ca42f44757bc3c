"""VM instances: how they come, how they are shown, and what happens to them.

Must not run anything: the fleet does, and tells of it here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from windlass.twin.compute.asks import run_seconds
from windlass.twin.compute.guest_attributes import GuestAttributes
from windlass.twin.compute.instance import Instance, shown
from windlass.twin.compute.scopes import Scope, already_exists, not_found
from windlass.twin.fleet import Fleet
from windlass.twin.machine import Boot, End, Machine
from windlass.twin.market import Model
from windlass.twin.shelf import Shelf

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.asks import Ask

SERVICE = "compute"
GUEST_GRACE_S = 90.0
"""So long a guest has to shut down when it is stopped or deleted."""
ENDING_LOOK_S = 0.25
"""How often is looked whether it has."""


class Listener(Protocol):
    """Whoever wants to know what becomes of instances: groups, logs, operations."""

    def heard(self, instance: Instance, what: str) -> None:
        """`what` is `starting` (of one with a reservation), `running`, `warned`, `gone`, or how
        its machine ended."""


class Instances:
    """All instances of the project. Watches their machines."""

    def __init__(self, cloud: Cloud, fleet: Fleet) -> None:
        self._cloud = cloud
        self._fleet = fleet
        self._shelf: Shelf[Instance] = cloud.shelf(
            Shelf("compute.instances", encode=_encoded, decode=_Decoding())
        )
        self.made = max((one.number for one in self._shelf.values()), default=0)
        """How many there have been."""
        self.project_metadata: Mapping[str, str] = {}
        self.guest_attributes = GuestAttributes(cloud)
        self._listeners: dict[str, list[Listener]] = {}
        self.listen(self.guest_attributes, ["gone"])
        fleet.watch(SERVICE, self)
        cloud.on("compute.instance.gone", self._gone)
        cloud.on("compute.instance.off", self._off)

    def listen(self, listener: Listener, words: Iterable[str]) -> None:
        """Tell somebody of instances that come to one of these."""
        for what in words:
            self._listeners.setdefault(what, []).append(listener)

    # --- what is there

    def get(self, scope: Scope, name: str) -> Instance:
        """The instance, or a refusal."""
        instance = self._shelf.get(scope.key(name))
        if instance is None:
            raise not_found(scope, "instances", name)
        return instance

    def find(self, key: str) -> Instance | None:
        """By key, if it is there."""
        return self._shelf.get(key)

    def refuse_double(self, scope: Scope, name: str) -> None:
        """Refuse a name that is taken."""
        if scope.key(name) in self._shelf:
            raise already_exists(scope, "instances", name)

    def under(self, prefix: str) -> list[Instance]:
        """Those whose key begins so, in order."""
        return [instance for _, instance in self._shelf.under(prefix)]

    def shown(self, instance: Instance) -> dict[str, Any]:
        """As the API gives it."""
        machine = self._fleet.get(instance.machine)
        live = machine.address if machine is not None else ""
        ends_at = machine.ends_at if machine is not None else None
        return shown(instance, cloud=self._cloud, live=live, ends_at=ends_at)

    def live_address(self, instance: Instance) -> str:
        """Where its processes listen; empty for one that has none."""
        machine = self._fleet.get(instance.machine)
        return machine.address if machine is not None else ""

    def machine(self, instance: Instance) -> Machine | None:
        """What it runs on."""
        return self._fleet.get(instance.machine)

    # --- what is done to them

    def create(
        self, scope: Scope, name: str, ask: Ask, *, creator: str = "", reservation: str = ""
    ) -> Instance:
        """A new instance, starting. Whoever asks has seen to room and quota."""
        instance = self.add(scope, name, ask, creator=creator)
        instance.reservation = reservation
        self.start(instance, run_s=ask.run_s)
        return instance

    def add(self, scope: Scope, name: str, ask: Ask, *, creator: str = "") -> Instance:
        """A new instance that waits to be started."""
        self.made += 1
        machine = self._fleet.add(
            SERVICE, scope.key(name), ask.wanted, labels=ask.properties.get("labels") or {}
        )
        instance = Instance(
            name=name,
            id=machine.id,
            scope=scope,
            properties=ask.properties,
            status="PENDING",
            machine=machine.id,
            number=self.made,
            created=self._cloud.clock.now(),
            creator=creator,
        )
        self.save(instance)
        return instance

    def save(self, instance: Instance) -> None:
        """It was changed."""
        self._shelf.put(instance.key, instance)

    def start(self, instance: Instance, *, run_s: float | None) -> None:
        """Turn it on, for the first time or again."""
        machine = self._machine(instance)
        instance.status = "PROVISIONING"
        instance.is_preempted = False
        self.save(instance)
        if instance.reservation:
            self._tell(instance, "starting")
        self._fleet.start(machine, boot_s=self._cloud.settings.delays.boot, run_s=run_s)

    def stop(
        self, instance: Instance, *, status: str = "TERMINATED", grace_s: float = GUEST_GRACE_S
    ) -> None:
        """Turn it off; its disks stay. It is stopping until what runs in it has ended."""
        machine = self._machine(instance)
        self._fleet.stop(machine, grace_s=grace_s)
        instance.status = "STOPPING" if status == "TERMINATED" else "SUSPENDING"
        self.save(instance)
        self._off(f"{instance.key} {instance.id} {machine.starts} {status}")

    def restart(self, instance: Instance, *, run_s: float | None) -> None:
        """Off and on at once."""
        self._fleet.stop(self._machine(instance))
        instance.stopped = self._cloud.clock.now()
        instance.status = "PROVISIONING"
        self.save(instance)
        boot_s = self._cloud.settings.delays.boot
        self._fleet.start(self._machine(instance), boot_s=boot_s, run_s=run_s)

    def end(self, instance: Instance) -> None:
        """Its time is over: it is stopped or deleted, as it was asked to be."""
        if instance.scheduling.get("instanceTerminationAction") == "DELETE":
            self.delete(instance, seconds=0)
        else:
            self.stop(instance)

    def delete(self, instance: Instance, *, seconds: float, grace_s: float = GUEST_GRACE_S) -> None:
        """It will be gone in so long, and not before what runs in it has ended."""
        machine = self._fleet.get(instance.machine)
        if machine is not None:
            self._fleet.stop(machine, grace_s=grace_s)
        instance.status = "STOPPING"
        self.save(instance)
        if seconds > 0:
            key = f"{instance.key} {instance.id}"
            self._cloud.later(seconds, "compute.instance.gone", key)
        else:
            self._vanish(instance)

    def take_back(self, operation: dict[str, Any]) -> None:
        """An insert has failed after all: Google leaves no instance behind."""
        place, _, name = (
            operation["targetLink"].partition("/projects/")[2].rpartition("/instances/")
        )
        instance = self.find(f"{place}/{name}")
        if operation["operationType"] == "insert" and instance is not None:
            self.delete(instance, seconds=0)

    def maintain(self, instance: Instance) -> None:
        """Google needs the host: an instance that cannot move is stopped, a spot one preempted."""
        scheduling = instance.scheduling
        if scheduling["preemptible"]:
            self.preempt(instance)
        elif scheduling["onHostMaintenance"] == "TERMINATE" and scheduling["automaticRestart"]:
            self.restart(instance, run_s=run_seconds(scheduling))
        elif scheduling["onHostMaintenance"] == "TERMINATE":
            self.stop(instance)

    def preempt(self, instance: Instance) -> None:
        """Google takes it back."""
        self._fleet.preempt(self._machine(instance))

    # --- what its machine tells (fleet.Watcher)

    def boot(self, machine: Machine) -> Boot | None:
        """See fleet.Watcher."""
        instance = self._shelf.get(machine.owner)
        if instance is None:
            return None
        metadata = {**self.project_metadata, **instance.metadata}
        gpus = (machine.wanted.chip,) * machine.wanted.chips if machine.wanted.chip else ()
        return Boot(
            hostname=instance.name,
            startup_script=metadata.get("startup-script", ""),
            shutdown_script=metadata.get("shutdown-script", ""),
            gpus=gpus,
        )

    def running(self, machine: Machine) -> None:
        """See fleet.Watcher."""
        instance = self._shelf.get(machine.owner)
        if instance is not None:
            instance.status = "RUNNING"
            instance.started = self._cloud.clock.now()
            self.save(instance)
            self._tell(instance, "running")

    def warned(self, machine: Machine) -> None:
        """See fleet.Watcher."""
        instance = self._shelf.get(machine.owner)
        if instance is not None:
            instance.status = "STOPPING"
            instance.is_preempted = True
            self.save(instance)
            self._tell(instance, "warned")

    def ended(self, machine: Machine, end: End, *, status: int | None) -> None:
        """See fleet.Watcher."""
        instance = self._shelf.get(machine.owner)
        if instance is None:
            return
        asked = instance.value("scheduling") or {}
        action = asked.get("instanceTerminationAction", "STOP")
        self._stopped(instance, "TERMINATED")
        self._tell(instance, end.value)
        if self._shelf.get(machine.owner) is not instance:
            return  # A listener has seen to it.
        is_taken = end in (End.PREEMPTED, End.EXPIRED)
        if is_taken and (action == "DELETE" or machine.wanted.model is Model.FLEX_START):
            self._vanish(instance)
        elif end is End.FAILED and instance.scheduling["automaticRestart"]:
            self.start(instance, run_s=None)

    def _machine(self, instance: Instance) -> Machine:
        machine = self._fleet.get(instance.machine)
        assert machine is not None, f"{instance.key} has no machine"
        return machine

    def _stopped(self, instance: Instance, status: str) -> None:
        instance.status = status
        instance.stopped = self._cloud.clock.now()
        self.save(instance)

    def _gone(self, appointment: str) -> None:
        key, _, instance_id = appointment.rpartition(" ")
        instance = self._shelf.get(key)
        if instance is not None and instance.id == instance_id:
            self._vanish(instance)

    def _vanish(self, instance: Instance) -> None:
        """It is gone, once nothing runs in it any more."""
        machine = self._fleet.get(instance.machine)
        if machine is not None and machine.is_live:
            key = f"{instance.key} {instance.id}"
            self._cloud.later(ENDING_LOOK_S, "compute.instance.gone", key)
            return
        self._shelf.drop(instance.key)
        if machine is not None:
            self._fleet.remove(machine)
        self._tell(instance, "gone")

    def _off(self, appointment: str) -> None:
        """It has been stopped, unless something still runs in it or it was started again."""
        key, instance_id, starts, status = appointment.split(" ")
        instance = self._shelf.get(key)
        machine = self._fleet.get(instance.machine) if instance is not None else None
        if instance is None or instance.id != instance_id or machine is None:
            return
        if str(machine.starts) != starts:
            return
        if machine.is_live:
            self._cloud.later(ENDING_LOOK_S, "compute.instance.off", appointment)
            return
        self._stopped(instance, status)
        self._tell(instance, End.STOPPED.value)

    def _tell(self, instance: Instance, what: str) -> None:
        for listener in self._listeners.get(what, ()):
            listener.heard(instance, what)


KEPT = tuple(name for name in Instance.__slots__ if name != "key")


def _encoded(instance: Instance) -> dict[str, Any]:
    document = {name: getattr(instance, name) for name in KEPT}
    document["scope"] = list(instance.scope)
    return document


class _Decoding:
    """Instances that were asked for together share what they have in common again."""

    def __init__(self) -> None:
        self._shared: dict[str, dict[str, Any]] = {}

    def __call__(self, document: dict[str, Any]) -> Instance:
        document["scope"] = Scope(*document["scope"])
        properties = document["properties"]
        document["properties"] = self._shared.setdefault(json.dumps(properties), properties)
        return Instance(**document)
