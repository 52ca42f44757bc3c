"""Every machine of every service: when it starts, runs, is warned, and ends.

Must not know instances, TPUs or replicas: each service watches its own machines and says what they
are to run. A machine is a process tree where there is room for one, else only this record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from windlass.twin.machine import Bodies, End, Machine, State, Watcher, decoded, encoded
from windlass.twin.market import Market, Model, Wanted
from windlass.twin.shelf import Shelf

if TYPE_CHECKING:
    from windlass.twin.billing import Billing
    from windlass.twin.cloud import Cloud
    from windlass.twin.quotas import Quotas


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
            Shelf("machines", encode=encoded, decode=decoded)
        )
        self._watchers: dict[str, Watcher] = {}
        self.on_running: list[Callable[[Machine], None]] = []
        """Who hears of every machine that runs, whatever its service."""
        self.on_warned: list[Callable[[Machine], None]] = []
        """Who hears of every machine that is told that it will be taken away."""
        self._live: dict[str, None] = {}
        self._hazards: dict[Wanted, float] = {}
        """What running spot machines of a kind were last drawn by."""
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

    def accruing_usd(self) -> float:
        """What machines that run have cost so far, and nobody has been charged for yet."""
        now = self._cloud.clock.now()
        return sum(
            (now - one.running_since) / 3600.0 * (self._billed_per_h(one) or 0.0)
            for _, one in self._machines.items()
            if one.is_counted and one.state in (State.RUNNING, State.WARNED)
        )

    def _billed_per_h(self, machine: Machine) -> float | None:
        return self._billing.usd_per_h(machine.wanted, is_managed=machine.is_managed)

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
            if grace_s <= 0:
                self._cut(machine.appointment)  # Whoever let it end in peace has lost patience.
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
        for hear in self.on_warned:
            hear(machine)
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
        processes boot anew. What a killed twin had started and not written down yet never was:
        its number will be given to another."""
        if self._bodies is None:
            return
        living = frozenset(self._bodies.living())
        for machine_id in sorted(living - self._live.keys()):
            end = self._bodies.kill if machine_id in self._machines else self._bodies.delete
            end(machine_id)
        lost = [machine for machine in self._known(self._live) if machine.id not in living]
        for machine in self._known(living & self._live.keys()):
            self._bodies.resume(machine.id, machine.address)
        # After all of those, whose addresses are not free.
        for machine in lost:
            self._bring_back(machine)

    def _known(self, machine_ids: Iterable[str]) -> list[Machine]:
        found = (self._machines.get(machine_id) for machine_id in sorted(machine_ids))
        return [machine for machine in found if machine is not None]

    def _bring_back(self, machine: Machine) -> None:
        """Its processes are gone."""
        del self._live[machine.id]
        machine.is_live = False
        machine.address = ""
        self._machines.put(machine.id, machine)
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
            if not machine.is_managed:
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
            self._hazards.setdefault(machine.wanted, self._market.hazard_per_h(machine.wanted))
            self._draw_preemption(machine)
        self._watchers[machine.service].running(machine)
        for hear in self.on_running:
            hear(machine)
        if machine.wanted.model is Model.SPOT:
            self._shed(machine.wanted)

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
        """When it will be taken back, instead of what was drawn before."""
        machine.draws += 1
        self._machines.put(machine.id, machine)
        hazard = self._market.hazard_per_h(machine.wanted)
        if hazard > 0:
            seconds = self._cloud.chance.expovariate(hazard / 3600.0)
            key = f"{machine.appointment}:{machine.draws}"
            self._cloud.later(seconds, "machine.preempt", key)

    def _preempt_due(self, drawn: str) -> None:
        appointment, _, draw = drawn.rpartition(":")
        machine = self._find(appointment)
        if machine is not None and str(machine.draws) == draw:
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
        """Room may have shrunk, and spot machines may be taken back more often, or less."""
        for wanted in self._market.kinds_in_use():
            if wanted.model is Model.SPOT:
                self._shed(wanted)
                self._redraw(wanted)

    def _shed(self, wanted: Wanted) -> None:
        """The youngest spot machines above the room are taken back: those that start when they
        run. Those that are warned already are on their way."""
        excess = -self._market.room(wanted)
        if excess <= 0:
            return
        counted = [one for one in self._of_kind(wanted) if one.state is not State.OFF]
        running = [one for one in counted if one.state is State.RUNNING]
        excess -= len(counted) - len(running)
        running.sort(key=lambda one: (one.running_since, one.id))
        for machine in running[-excess:] if excess > 0 else ():
            self.preempt(machine)

    def _redraw(self, wanted: Wanted) -> None:
        """Whoever waits for something that happens at any moment may start to wait anew."""
        hazard = self._market.hazard_per_h(wanted)
        if self._hazards.get(wanted) == hazard:
            return
        self._hazards[wanted] = hazard
        for machine in self._of_kind(wanted):
            if machine.state is State.RUNNING:
                self._draw_preemption(machine)

    def _of_kind(self, wanted: Wanted) -> list[Machine]:
        return [one for one in self.all() if one.wanted == wanted and one.is_counted]

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
                self._billing.charge(
                    machine.wanted,
                    seconds=seconds,
                    labels=machine.labels,
                    is_managed=machine.is_managed,
                )
            self._market.give_back(machine.wanted)
            if not machine.is_managed:
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
