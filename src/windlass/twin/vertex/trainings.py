"""The life of trainings: they wait for machines, run, are restarted, and end.

Must not run anything: the fleet does, and tells of it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from windlass.twin.machine import Boot, End, Machine, State
from windlass.twin.shelf import Shelf
from windlass.twin.vertex import words
from windlass.twin.vertex.environment import boot
from windlass.twin.vertex.room import (
    MOST_RESTARTS,
    RETRY_S,
    is_flexible,
    patience,
    wanted_machine,
    zone_with_room,
)
from windlass.twin.vertex.specs import Pool, pools, timeout
from windlass.twin.vertex.training import (
    CANCELLED,
    CANCELLING,
    FAILED,
    PENDING,
    QUEUED,
    RUNNING,
    SUCCEEDED,
    Training,
    decoded,
    encoded,
)

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.fleet import Fleet
    from windlass.twin.market import Market
    from windlass.twin.vertex.kinds import Kinds
    from windlass.twin.vertex.speech import Speech

SERVICE = "aiplatform"
PRIMARY = "workerpool0-0"
"""The replica whose end is the training's end."""
GRACE_S = 30.0
"""So long programs have to end when a training is cancelled."""
ENDING_LOOK_S = 0.25
"""So often a cancelled training is looked at whose programs have yet to end."""
MODELLED_S = 60.0
SECONDS_LABEL = "twin-seconds"
STATUS_LABEL = "twin-exit-status"
"""Labels that say how long a replica without processes runs, and how it ends."""


class Trainings:
    """All trainings of the project. Watches their machines."""

    def __init__(
        self, cloud: Cloud, *, fleet: Fleet, market: Market, kinds: Kinds, speech: Speech
    ) -> None:
        self._cloud = cloud
        self._fleet = fleet
        self._market = market
        self._kinds = kinds
        self._speech = speech
        self.listeners: list[Callable[[Training], None]] = []
        """Told of every training that is over."""
        self.modelled_s = MODELLED_S
        """How long a replica without processes runs."""
        self._shelf: Shelf[Training] = cloud.shelf(
            Shelf("aiplatform.trainings", encode=encoded, decode=decoded)
        )
        self._active = {name: None for name, one in self._shelf.items() if not one.is_over}
        fleet.watch(SERVICE, self)
        cloud.on("aiplatform.place", self._place_due)
        cloud.on("aiplatform.timeout", self._timeout_due)
        cloud.on("aiplatform.exit", self._exit_due)
        cloud.on("aiplatform.cancelled", self._cancelled_due)

    # --- what is there

    def find(self, name: str) -> Training | None:
        """By full name."""
        return self._shelf.get(name)

    def under(self, prefix: str) -> Iterator[Training]:
        """Those of a place."""
        return (training for _, training in self._shelf.under(prefix))

    def used(self, region: str) -> Iterator[list[Pool]]:
        """The pools of every training of a region that is under way."""
        for name in self._active:
            training = self._shelf.get(name)
            if training is not None and training.region == region:
                yield pools(training.spec, self._kinds)

    # --- what is done to them

    def create(self, name: str, body: dict[str, Any]) -> Training:
        """A new one, in the queue. Whoever asks has checked it."""
        now = self._cloud.clock.now()
        training = Training(name=name, body=body, created=now, updated=now)
        self._active[name] = None
        self._save(training)
        self._cloud.later(0.0, "aiplatform.place", training.appointment)
        return training

    def cancel(self, training: Training) -> None:
        """End it soon. Nothing happens to one that is over."""
        if training.is_over or training.state == CANCELLING:
            return
        training.leaving = list(training.replicas.values())
        self._to(training, CANCELLING)
        self._drop_machines(training, grace_s=GRACE_S)
        delay = self._cloud.settings.delays.stop
        self._cloud.later(delay, "aiplatform.cancelled", training.name)

    def delete(self, training: Training) -> None:
        """Forget one that is over."""
        self._shelf.drop(training.name)

    def _place_due(self, appointment: str) -> None:
        """Look for a zone of the region that has room for all of it."""
        training = self._at(appointment)
        if training is None or training.state not in (QUEUED, PENDING) or training.replicas:
            return
        wanted = pools(training.spec, self._kinds)
        zones = self._kinds.zones_with(training.region, (pool.kind.type for pool in wanted))
        zone = zone_with_room(self._market, zones, wanted)
        if zone:
            self._start(training, zone, wanted)
        else:
            self._wait_for_room(training, wanted)

    def _wait_for_room(self, training: Training, wanted: list[Pool]) -> None:
        search_s = self._cloud.settings.delays.search
        left = patience(training, wanted, now=self._cloud.clock.now(), search_s=search_s)
        if left <= 0:
            chips = any(pool.kind.chip for pool in wanted)
            self._fail(training, words.out_of_stock(training.region, has_accelerator=chips))
            return
        if training.restarts and not is_flexible(wanted):
            training.restarts += 1
        self._to(training, PENDING)
        self._cloud.later(min(RETRY_S, left), "aiplatform.place", training.appointment)

    def _start(self, training: Training, zone: str, wanted: list[Pool]) -> None:
        training.zone = zone
        machines = []
        for at, pool in enumerate(wanted):
            for number in range(pool.machines):
                machines.append(self._add(training, f"workerpool{at}-{number}", pool))
        self._to(training, PENDING)
        delay = self._cloud.settings.delays.replica
        for machine in machines:
            self._fleet.start(machine, boot_s=delay)

    def _add(self, training: Training, replica: str, pool: Pool) -> Machine:
        machine = self._fleet.add(
            SERVICE,
            f"{training.name} {replica}",
            wanted_machine(training.zone, pool),
            labels=training.labels,
        )
        training.replicas[replica] = machine.id
        return machine

    # --- what their machines tell (fleet.Watcher)

    def boot(self, machine: Machine) -> Boot | None:
        """See fleet.Watcher."""
        training, replica = self._whose(machine)
        if training is None:
            return None
        kind = machine.wanted
        is_gpu = kind.chip.startswith("nvidia")
        gpus = (kind.chip,) * kind.chips if is_gpu else ()
        return boot(training, replica, gpus=gpus, cloud=self._cloud)

    def running(self, machine: Machine) -> None:
        """See fleet.Watcher."""
        training, replica = self._whose(machine)
        if training is None:
            return
        if replica not in training.up:
            training.up.append(replica)
            self._save(training)
        if machine.is_live:
            self._speech.listen(training, replica, machine.id)
            self._speech.say(
                training,
                f"twin: {replica} runs its command on this host; its container image is not used.",
            )
        else:
            self.model(machine)
        if training.state == PENDING and len(training.up) == len(training.replicas):
            self._runs(training)

    def model(self, machine: Machine) -> None:
        """A replica has no processes: its program is said to end after a while."""
        training, replica = self._whose(machine)
        if training is not None:
            self._speech.say(training, f"twin: {replica} is modelled, its program does not run.")
            text = training.labels.get(SECONDS_LABEL, "")
            delay = float(text) if text.isdecimal() else self.modelled_s
            self._cloud.later(delay, "aiplatform.exit", machine.appointment)

    def _runs(self, training: Training) -> None:
        if training.started is None:
            training.started = self._cloud.clock.now()
            limit = timeout(training.spec)
            self._cloud.later(limit, "aiplatform.timeout", training.name)
        self._to(training, RUNNING)
        self._speech.say(training, "Job is running.")

    def warned(self, machine: Machine) -> None:
        """See fleet.Watcher."""
        training, replica = self._whose(machine)
        if training is not None:
            training.warned.append(replica)
            self._save(training)
            self._speech.say(
                training, f"The VM of {replica} is being preempted.", severity="NOTICE"
            )

    def ended(self, machine: Machine, end: End, *, status: int | None) -> None:
        """See fleet.Watcher."""
        training, replica = self._whose(machine)
        self._speech.drain(machine.id, is_last=True)
        self._fleet.remove(machine)
        if training is None:
            return
        # A program that heeds the notice ends before its machine is taken.
        if end is End.EXITED and status and replica in training.warned:
            end = End.PREEMPTED
        if end is End.EXITED:
            self._exited(training, replica, status or 0)
        else:
            self._lost(training, replica, end)

    def _exited(self, training: Training, replica: str, status: int) -> None:
        if status != 0:
            number = self._cloud.settings.project_number
            error = words.exited(replica, status, number=number, training_id=training.id)
            self._fail(training, error)
        elif replica == PRIMARY:
            self._finish(training, SUCCEEDED)
        else:
            self._save(training)

    def _lost(self, training: Training, replica: str, end: End) -> None:
        """A machine is gone under its program. A preempted one starts everything again; the worker
        of a host that died is started alone, unless the user wants otherwise."""
        is_preempted = end is End.PREEMPTED
        if training.scheduling.get("disableRetries") or training.restarts >= MOST_RESTARTS:
            taken = words.preempted(replica, training.region)
            self._fail(training, taken if is_preempted else words.host_failed(replica))
            return
        training.restarts += 1
        is_whole = is_preempted or training.scheduling.get("restartJobOnWorkerRestart")
        pool = pools(training.spec, self._kinds)[int(replica[len("workerpool")])]
        alone = not is_whole and self._market.room(wanted_machine(training.zone, pool)) > 0
        self._speech.say(training, f"The VM of {replica} was lost ({end.value}); restarting.")
        if alone:
            training.up.remove(replica)
            machine = self._add(training, replica, pool)
            self._save(training)
            self._fleet.start(machine, boot_s=self._cloud.settings.delays.replica)
        else:
            self._drop_machines(training)
            self._to(training, PENDING)
            self._cloud.later(0.0, "aiplatform.place", training.appointment)

    # --- what is due

    def _exit_due(self, appointment: str) -> None:
        """A replica without processes ends its program."""
        machine_id, _, starts = appointment.rpartition(":")
        machine = self._fleet.get(machine_id)
        if machine is None or str(machine.starts) != starts or machine.state is not State.RUNNING:
            return
        training, replica = self._whose(machine)
        self._fleet.remove(machine)
        if training is not None:
            text = training.labels.get(STATUS_LABEL, "")
            self._exited(training, replica, int(text) if text.isdecimal() else 0)

    def _timeout_due(self, name: str) -> None:
        training = self._shelf.get(name)
        if training is not None and training.state in (RUNNING, PENDING):
            self._fail(training, words.timed_out(timeout(training.spec)))

    def _cancelled_due(self, name: str) -> None:
        training = self._shelf.get(name)
        if training is None or training.state != CANCELLING:
            return
        if any(self._fleet.get(machine_id) is not None for machine_id in training.leaving):
            # What runs in its replicas has yet to end.
            self._cloud.later(ENDING_LOOK_S, "aiplatform.cancelled", name)
        else:
            training.error = {"code": words.CANCELLED, "message": "CANCELED"}
            self._finish(training, CANCELLED)

    # --- how they end

    def _fail(self, training: Training, error: dict[str, Any]) -> None:
        training.error = error
        self._speech.say(training, error["message"], severity="ERROR")
        self._finish(training, FAILED)

    def _finish(self, training: Training, state: str) -> None:
        self._drop_machines(training)
        training.ended = self._cloud.clock.now()
        self._active.pop(training.name, None)
        self._to(training, state)
        endings = {SUCCEEDED: "completed successfully", FAILED: "failed", CANCELLED: "cancelled"}
        self._speech.say(training, f"Job {endings[state]}.")
        for listener in self.listeners:
            listener(training)

    def _drop_machines(self, training: Training, *, grace_s: float = 0.0) -> None:
        for machine_id in training.replicas.values():
            machine = self._fleet.get(machine_id)
            if machine is not None and not machine.is_leaving:
                self._speech.drain(machine_id, is_last=grace_s <= 0)
                self._fleet.remove(machine, grace_s=grace_s)
        training.replicas = {}
        training.up, training.warned = [], []

    def _whose(self, machine: Machine) -> tuple[Training | None, str]:
        name, _, replica = machine.owner.rpartition(" ")
        training = self._shelf.get(name)
        if training is None or training.replicas.get(replica) != machine.id:
            return None, replica
        return training, replica

    def _at(self, appointment: str) -> Training | None:
        name, _, restarts = appointment.rpartition(" ")
        training = self._shelf.get(name)
        return training if training is not None and str(training.restarts) == restarts else None

    def _to(self, training: Training, state: str) -> None:
        training.state = state
        training.updated = self._cloud.clock.now()
        self._save(training)

    def _save(self, training: Training) -> None:
        self._shelf.put(training.name, training)
