"""Every machine of every service: when it starts, runs, is warned, and ends.

Must not know instances, TPUs or replicas: each service watches its own machines and says what they
are to run. A machine is a process tree where there is room for one, else only this record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from windlass.twin.market import Market, Model, Wanted
from windlass.twin.shelf import Shelf

if TYPE_CHECKING:
    from windlass.twin.billing import Billing
    from windlass.twin.cloud import Cloud
    from windlass.twin.quotas import Quotas

OWN_QUOTA = frozenset({"aiplatform"})
"""Services that have quotas of their own, and count them themselves."""


class State(StrEnum):
    """Where a machine is in its life."""

    STARTING = "starting"
    RUNNING = "running"
    WARNED = "warned"
    """Told that it will be taken back."""
    OFF = "off"
    """Its disk is there; it costs nothing but that."""


class End(StrEnum):
    """Why a machine no longer runs."""

    STOPPED = "stopped"
    PREEMPTED = "preempted"
    EXPIRED = "expired"
    EXITED = "exited"
    """Its program ended, where a service waits for that."""
    FAILED = "failed"
    """The host died."""


@dataclass(slots=True, kw_only=True)
class Machine:
    """One machine. Changes in place: there may be a hundred thousand."""

    id: str
    service: str
    """Whose it is: that service's watcher hears of it."""
    owner: str
    """The key of the resource that it belongs to, on a shelf of that service."""
    wanted: Wanted
    is_counted: bool = True
    """Whether it takes room and quota, costs something and is preempted for itself. Of the hosts
    of a TPU slice only the first does, for the slice as a whole."""
    state: State = State.STARTING
    starts: int = 0
    """How often it was started: appointments made for an earlier life are void."""
    running_since: float = 0.0
    ends_at: float | None = None
    is_live: bool = False
    """It has processes of its own."""
    address: str = ""
    """Where its processes listen; empty for one that is only modelled."""
    is_leaving: bool = False
    """It was removed; its processes are still ending."""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def appointment(self) -> str:
        """The key of appointments of this life."""
        return f"{self.id}:{self.starts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """What a machine's processes are made from."""

    hostname: str
    environment: Mapping[str, str] = field(default_factory=dict)
    startup_script: str = ""
    shutdown_script: str = ""
    argv: tuple[str, ...] = ()
    """A program whose end is the machine's end; for services that run one."""
    files: Mapping[str, str] = field(default_factory=dict)
    gpus: tuple[str, ...] = ()
    """Names of the GPUs that `nvidia-smi` is to show."""
    neighbours: Mapping[str, str] = field(default_factory=dict)
    """Other machines, started or not, by the host names under which it must find them."""


class Watcher(Protocol):
    """A service that has machines."""

    def boot(self, machine: Machine) -> Boot | None:
        """What it runs; None for nothing worth a process."""

    def running(self, machine: Machine) -> None:
        """It has booted."""

    def warned(self, machine: Machine) -> None:
        """It will be taken back in a moment."""

    def ended(self, machine: Machine, end: End, *, status: int | None) -> None:
        """It no longer runs. `status` is that of a program that exited."""


class Bodies(Protocol):
    """Machines as real processes."""

    def start(self, machine_id: str, boot: Boot) -> str:
        """Start it, on its disk if it has one; the address at which it listens, or nothing when
        this host cannot run it: then it stays modelled."""

    def resume(self, machine_id: str, address: str) -> None:
        """Look after one that was started before this process was."""

    def warn(self, machine_id: str) -> None:
        """Press its power button."""

    def kill(self, machine_id: str) -> None:
        """Cut its power."""

    def delete(self, machine_id: str) -> None:
        """Its disk goes too."""

    def exited(self, machine_id: str) -> int | None:
        """Exit status of its program, once it has ended."""

    def living(self) -> list[str]:
        """Those that run."""


class Fleet:
    """All machines of a twin."""

    def __init__(
        self,
        cloud: Cloud,
        *,
        market: Market,
        quotas: Quotas,
        billing: Billing,
        bodies: Bodies | None = None,
    ) -> None:
        self._cloud = cloud
        self._market = market
        self._quotas = quotas
        self._billing = billing
        self._bodies = bodies
        self._machines: Shelf[Machine] = cloud.shelf(
            Shelf("machines", encode=_encoded, decode=_decoded)
        )
        self._watchers: dict[str, Watcher] = {}
        self.on_running: list[Callable[[Machine], None]] = []
        """Who hears of every machine that runs, whatever its service."""
        self._live: dict[str, None] = {}
        for _, machine in self._machines.items():
            if machine.state is not State.OFF:
                self._take(machine)
            if machine.is_live:
                self._live[machine.id] = None
        cloud.on("machine.booted", self._booted)
        cloud.on("machine.preempt", self._preempt_due)
        cloud.on("machine.taken", self._taken)
        cloud.on("machine.expired", self._expired)
        cloud.on("machine.cut", self._cut)
        cloud.on("market.changed", self._market_changed)

    def watch(self, service: str, watcher: Watcher) -> None:
        """Tell a service about its machines from now on."""
        self._watchers[service] = watcher

    def get(self, machine_id: str) -> Machine | None:
        """A machine that was not removed."""
        return self._machines.get(machine_id)

    def counts(self) -> tuple[int, int]:
        """How many run as processes, and how many more are modelled."""
        on = sum(1 for one in self._machines.values() if one.state is not State.OFF)
        return len(self._live), on - len(self._live)

    def all(self) -> list[Machine]:
        """Every machine, by id."""
        return [machine for _, machine in self._machines.items()]

    def add(
        self,
        service: str,
        owner: str,
        wanted: Wanted,
        *,
        labels: Mapping[str, str],
        is_counted: bool = True,
    ) -> Machine:
        """A machine that is off. Whoever adds it has looked for room."""
        machine = Machine(
            id=self._cloud.new_id(),
            service=service,
            owner=owner,
            wanted=wanted,
            is_counted=is_counted,
            state=State.OFF,
            labels=labels,
        )
        self._machines.put(machine.id, machine)
        return machine

    def start(self, machine: Machine, *, boot_s: float, run_s: float | None = None) -> None:
        """Turn it on; it runs `boot_s` seconds later, and for at most `run_s` seconds."""
        # Processes of its last life may still be ending.
        self._kill(machine)
        self._take(machine)
        machine.state = State.STARTING
        machine.starts += 1
        machine.ends_at = None if run_s is None else self._cloud.clock.now() + boot_s + run_s
        self._machines.put(machine.id, machine)
        if boot_s <= 0:
            self._booted(machine.appointment)
        else:
            self._cloud.later(boot_s, "machine.booted", machine.appointment)

    def stop(self, machine: Machine, *, grace_s: float = 0.0) -> None:
        """Turn it off. Its processes hear of it first and have so long to end."""
        if machine.state is State.OFF:
            return
        if machine.is_live and grace_s > 0 and self._bodies is not None:
            self._bodies.warn(machine.id)
            self._cloud.later(grace_s, "machine.cut", machine.appointment)
            self._settle(machine)
        else:
            self._off(machine)

    def remove(self, machine: Machine, *, grace_s: float = 0.0) -> None:
        """It is gone, disk and all. Nobody is told: whoever removes it knows. Its processes have
        so long to end; meanwhile it counts no more."""
        self.stop(machine, grace_s=grace_s)
        if machine.is_live:
            machine.is_leaving = True
            self._machines.put(machine.id, machine)
        else:
            self._forget(machine)

    def preempt(self, machine: Machine) -> None:
        """Google takes it back: it is warned, and cut off a little later."""
        if machine.state is not State.RUNNING:
            return
        machine.state = State.WARNED
        self._machines.put(machine.id, machine)
        if machine.is_live and self._bodies is not None:
            self._bodies.warn(machine.id)
        self._watchers[machine.service].warned(machine)
        self._cloud.later(self._cloud.settings.notice_s, "machine.taken", machine.appointment)

    def fail(self, machine: Machine) -> None:
        """Its host dies: no warning."""
        if machine.state in (State.RUNNING, State.WARNED):
            self._end(machine, End.FAILED)

    def revive(self) -> None:
        """After a restart: machines that still run are looked after again, those that lost their
        processes boot anew."""
        if self._bodies is None:
            return
        living = frozenset(self._bodies.living())
        for machine_id in list(self._live):
            machine = self._machines.get(machine_id)
            if machine is None:
                continue
            if machine_id in living:
                self._bodies.resume(machine_id, machine.address)
                continue
            del self._live[machine_id]
            machine.is_live = False
            machine.address = ""
            self._machines.put(machine_id, machine)
            if machine.is_leaving:
                self._forget(machine)
            elif machine.state is not State.OFF:
                self._animate(machine)

    def poll(self) -> None:
        """Notice machines whose processes have ended by themselves."""
        if self._bodies is None:
            return
        for machine_id in list(self._live):
            machine = self._machines.get(machine_id)
            status = self._bodies.exited(machine_id) if machine is not None else None
            if machine is None or status is None:
                continue
            if machine.state is State.OFF:
                self._cut(machine.appointment)
            else:
                # One that was told that it will be taken back may shut down at once.
                is_taken = machine.state is State.WARNED
                self._end(machine, End.PREEMPTED if is_taken else End.EXITED, status=status)

    def _take(self, machine: Machine) -> None:
        if machine.is_counted:
            self._market.take(machine.wanted)
            if machine.service not in OWN_QUOTA:
                self._quotas.take(machine.wanted)

    def _find(self, appointment: str) -> Machine | None:
        machine_id, _, starts = appointment.rpartition(":")
        machine = self._machines.get(machine_id)
        return machine if machine is not None and str(machine.starts) == starts else None

    def _booted(self, appointment: str) -> None:
        machine = self._find(appointment)
        if machine is None or machine.state is not State.STARTING:
            return
        machine.state = State.RUNNING
        machine.running_since = self._cloud.clock.now()
        self._animate(machine)
        self._machines.put(machine.id, machine)
        if machine.ends_at is not None:
            self._cloud.at(machine.ends_at, "machine.expired", appointment)
        if machine.wanted.model is Model.SPOT and machine.is_counted:
            self._draw_preemption(machine)
        self._watchers[machine.service].running(machine)
        for hear in self.on_running:
            hear(machine)

    def _animate(self, machine: Machine) -> None:
        """Give it processes, where there is room for them."""
        if self._bodies is None or len(self._live) >= self._cloud.settings.live:
            return
        boot = self._watchers[machine.service].boot(machine)
        address = self._bodies.start(machine.id, boot) if boot is not None else ""
        if address:
            machine.address = address
            machine.is_live = True
            self._live[machine.id] = None

    def _draw_preemption(self, machine: Machine) -> None:
        hazard = self._market.hazard_per_h(machine.wanted)
        if hazard > 0:
            seconds = self._cloud.chance.expovariate(hazard / 3600.0)
            self._cloud.later(seconds, "machine.preempt", machine.appointment)

    def _preempt_due(self, appointment: str) -> None:
        machine = self._find(appointment)
        if machine is not None:
            self.preempt(machine)

    def _taken(self, appointment: str) -> None:
        machine = self._find(appointment)
        if machine is not None and machine.state is State.WARNED:
            self._end(machine, End.PREEMPTED)

    def _expired(self, appointment: str) -> None:
        machine = self._find(appointment)
        if machine is not None and machine.state in (State.RUNNING, State.WARNED):
            self._end(machine, End.EXPIRED)

    def _cut(self, appointment: str) -> None:
        machine = self._find(appointment)
        if machine is not None and machine.is_live and machine.state is State.OFF:
            self._kill(machine)
            if machine.is_leaving:
                self._forget(machine)

    def _market_changed(self, _: str) -> None:
        """Room may have shrunk: the youngest spot machines above it are taken back."""
        for wanted in self._market.kinds_in_use():
            excess = -self._market.room(wanted)
            if excess <= 0 or wanted.model is not Model.SPOT:
                continue
            running = [
                one
                for one in self.all()
                if one.wanted == wanted and one.is_counted and one.state is State.RUNNING
            ]
            running.sort(key=lambda one: (one.running_since, one.id))
            for machine in running[-excess:]:
                self.preempt(machine)

    def _end(self, machine: Machine, end: End, *, status: int | None = None) -> None:
        self._off(machine)
        self._watchers[machine.service].ended(machine, end, status=status)

    def _off(self, machine: Machine) -> None:
        self._settle(machine)
        self._kill(machine)

    def _settle(self, machine: Machine) -> None:
        """It no longer counts: its room is free and its bill is written."""
        if machine.is_counted:
            if machine.state in (State.RUNNING, State.WARNED):
                seconds = self._cloud.clock.now() - machine.running_since
                self._billing.charge(machine.wanted, seconds=seconds, labels=machine.labels)
            self._market.give_back(machine.wanted)
            if machine.service not in OWN_QUOTA:
                self._quotas.give_back(machine.wanted)
        machine.state = State.OFF
        self._machines.put(machine.id, machine)

    def _forget(self, machine: Machine) -> None:
        self._machines.drop(machine.id)
        if self._bodies is not None:
            self._bodies.delete(machine.id)

    def _kill(self, machine: Machine) -> None:
        if machine.is_live and self._bodies is not None:
            self._bodies.kill(machine.id)
            machine.is_live = False
            machine.address = ""
            del self._live[machine.id]
            self._machines.put(machine.id, machine)


PLAIN = tuple(name for name in Machine.__slots__ if name not in ("wanted", "state", "labels"))


def _encoded(machine: Machine) -> dict[str, Any]:
    document: dict[str, Any] = {name: getattr(machine, name) for name in PLAIN}
    document["wanted"] = list(machine.wanted)
    document["state"] = machine.state.value
    document["labels"] = dict(machine.labels)
    return document


def _decoded(document: dict[str, Any]) -> Machine:
    zone, type_, chip, chips, model = document.pop("wanted")
    wanted = Wanted(zone, type_, chip, chips, Model(model))
    return Machine(wanted=wanted, state=State(document.pop("state")), **document)
