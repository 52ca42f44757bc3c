from __future__ import annotations

from pathlib import Path

import pytest

from buckets import HandClock
from windlass.catalog.load import load_catalog
from windlass.ports.entropy import seeded
from windlass.twin.billing import Billing
from windlass.twin.cloud import Cloud
from windlass.twin.fleet import Fleet
from windlass.twin.journal import SqliteJournal
from windlass.twin.machine import Boot, End, Machine, State
from windlass.twin.market import Market, Model, Rule, Wanted
from windlass.twin.quotas import Quotas
from windlass.twin.settings import Settings

CATALOG = load_catalog()
CPU = Wanted("us-central1-a", "e2-standard-4", "", 0, Model.STANDARD)
SPOT = CPU._replace(model=Model.SPOT)
L4 = Wanted("us-central1-a", "g2-standard-4", "nvidia-l4", 1, Model.SPOT)


class Processes:
    """Machines that only remember what was done to them."""

    def __init__(self) -> None:
        self.alive: set[str] = set()
        self.exits: dict[str, int] = {}
        self.told: list[tuple[str, str]] = []

    def start(self, machine_id: str, boot: Boot) -> str:
        self.alive.add(machine_id)
        self.told.append(("start", machine_id))
        return f"127.64.0.{len(self.told)}"

    def resume(self, machine_id: str, address: str) -> None:
        self.told.append(("resume", machine_id))

    def warn(self, machine_id: str) -> None:
        self.told.append(("warn", machine_id))

    def kill(self, machine_id: str) -> None:
        self.alive.discard(machine_id)
        self.told.append(("kill", machine_id))

    def delete(self, machine_id: str) -> None:
        self.alive.discard(machine_id)
        self.told.append(("delete", machine_id))

    def exited(self, machine_id: str) -> int | None:
        return self.exits.get(machine_id)

    def living(self) -> list[str]:
        return sorted(self.alive)

    def words(self, machine: Machine) -> list[str]:
        return [word for word, one in self.told if one == machine.id]


class Yard:
    """A fleet with one service, which writes down what it hears."""

    def __init__(
        self,
        *,
        processes: Processes | None = None,
        clock: HandClock | None = None,
        journal: SqliteJournal | None = None,
        live: int = 16,
    ) -> None:
        self.clock = clock or HandClock()
        self.cloud = Cloud(
            clock=self.clock, chance=seeded(3), journal=journal, settings=Settings(live=live)
        )
        self.market = Market(self.cloud)
        self.quotas = Quotas(self.cloud, catalog=CATALOG)
        self.billing = Billing(self.cloud, catalog=CATALOG)
        self.fleet = Fleet(
            self.cloud,
            market=self.market,
            quotas=self.quotas,
            billing=self.billing,
            bodies=processes,
        )
        self.heard: list[str] = []
        self.fleet.watch("yard", self)

    def boot(self, machine: Machine) -> Boot | None:
        return Boot(hostname="m")

    def running(self, machine: Machine) -> None:
        self.heard.append("running")

    def warned(self, machine: Machine) -> None:
        self.heard.append("warned")

    def ended(self, machine: Machine, end: End, *, status: int | None) -> None:
        self.heard.append(end.value if status is None else f"{end.value} {status}")

    def started(
        self, wanted: Wanted = CPU, *, boot_s: float = 0.0, run_s: float | None = None
    ) -> Machine:
        machine = self.fleet.add("yard", "key", wanted, labels={"windlass-run": "r1"})
        self.fleet.start(machine, boot_s=boot_s, run_s=run_s)
        return machine

    def wait(self, seconds: float) -> None:
        end = self.clock.at + seconds
        while (due := self.cloud.next_at()) is not None and due <= end:
            self.clock.at = max(self.clock.at, due)
            self.cloud.advance()
        self.clock.at = end

    def used(self, wanted: Wanted) -> int:
        return 1000 - self.market.room(wanted)


@pytest.fixture
def yard() -> Yard:
    found = Yard()
    found.market.add(Rule(room=1000))
    return found


def test_machine_boots_runs_and_counts_until_it_is_stopped(yard: Yard) -> None:
    machine = yard.started(boot_s=25)
    assert (machine.state, yard.used(CPU), yard.heard) == (State.STARTING, 1, [])
    assert yard.quotas.usage("us-central1", "E2_CPUS") == 4
    yard.wait(25)
    assert (machine.state, yard.heard) == (State.RUNNING, ["running"])
    yard.fleet.stop(machine)
    assert (machine.state, yard.used(CPU)) == (State.OFF, 0)
    assert yard.quotas.usage("us-central1", "E2_CPUS") == 0
    yard.fleet.stop(machine)
    assert yard.used(CPU) == 0


def test_machine_stopped_while_it_boots_never_runs_and_costs_nothing(yard: Yard) -> None:
    machine = yard.started(boot_s=25)
    yard.wait(10)
    yard.fleet.stop(machine)
    yard.wait(100)
    assert (machine.state, yard.heard, yard.billing.total_usd()) == (State.OFF, [], 0.0)


def test_appointments_of_an_earlier_life_are_void(yard: Yard) -> None:
    machine = yard.started(boot_s=25, run_s=100)
    yard.wait(10)
    yard.fleet.stop(machine)
    yard.fleet.start(machine, boot_s=50)
    yard.wait(16)
    assert machine.state is State.STARTING, "the first life would run now"
    yard.wait(34)
    assert machine.state is State.RUNNING
    yard.wait(200)
    assert machine.state is State.RUNNING, "the first life would be over"
    assert yard.used(CPU) == 1


def test_machine_ends_when_its_time_is_over(yard: Yard) -> None:
    machine = yard.started(boot_s=25, run_s=60)
    yard.wait(84)
    assert machine.state is State.RUNNING
    yard.wait(1)
    assert (machine.state, yard.heard) == (State.OFF, ["running", "expired"])


def test_preempted_machine_has_thirty_seconds(yard: Yard) -> None:
    machine = yard.started(SPOT)
    yard.fleet.preempt(machine)
    yard.fleet.preempt(machine)
    yard.wait(29)
    assert machine.state is State.WARNED
    yard.wait(1)
    assert (machine.state, yard.heard) == (State.OFF, ["running", "warned", "preempted"])
    assert yard.used(SPOT) == 0


def test_machine_deleted_while_it_is_warned_is_not_preempted(yard: Yard) -> None:
    machine = yard.started(SPOT)
    yard.fleet.preempt(machine)
    yard.wait(10)
    yard.fleet.remove(machine)
    yard.wait(100)
    assert yard.heard == ["running", "warned"]
    assert (yard.fleet.get(machine.id), yard.used(SPOT)) == (None, 0)


def test_machine_that_is_warned_and_started_anew_is_not_taken(yard: Yard) -> None:
    machine = yard.started(SPOT)
    yard.fleet.preempt(machine)
    yard.fleet.stop(machine)
    yard.fleet.start(machine, boot_s=0)
    yard.wait(100)
    assert machine.state is State.RUNNING


def test_dead_host_gives_no_warning(yard: Yard) -> None:
    machine = yard.started()
    yard.fleet.fail(machine)
    yard.fleet.fail(machine)
    assert (machine.state, yard.heard) == (State.OFF, ["running", "failed"])


# ---- the market ------------------------------------------------------------------------------


def test_shrinking_room_takes_the_youngest_spot_machines(yard: Yard) -> None:
    machines = []
    for _ in range(4):
        machines.append(yard.started(SPOT))
        yard.wait(1)
    kept = yard.started(CPU)
    yard.market.add(Rule(what=SPOT.type, model="SPOT", room=1))
    yard.wait(0)
    assert [one.state is State.WARNED for one in machines] == [False, True, True, True]
    yard.wait(30)
    assert (yard.market.room(SPOT), kept.state) == (0, State.RUNNING)


def test_warned_machines_are_on_their_way_and_not_taken_twice(yard: Yard) -> None:
    machines = [yard.started(SPOT) for _ in range(4)]
    yard.market.add(Rule(model="SPOT", room=2))
    yard.wait(5)
    yard.market.add(Rule(zone="asia-*", room=0))
    yard.wait(5)
    assert sum(one.state is State.WARNED for one in machines) == 2
    yard.wait(60)
    assert sum(one.state is State.RUNNING for one in machines) == 2


def test_machines_that_boot_into_a_shrunk_market_are_taken_when_they_run(yard: Yard) -> None:
    old = [yard.started(SPOT) for _ in range(2)]
    yard.wait(1)
    new = yard.started(SPOT, boot_s=20)
    yard.market.add(Rule(model="SPOT", room=2))
    yard.wait(10)
    assert [one.state for one in (*old, new)] == [State.RUNNING, State.RUNNING, State.STARTING]
    yard.wait(10)
    assert [one.state for one in (*old, new)] == [State.RUNNING, State.RUNNING, State.WARNED]
    yard.wait(100)
    assert [one.state for one in old] == [State.RUNNING, State.RUNNING]


def test_rule_holds_from_one_moment_until_another(yard: Yard) -> None:
    now = yard.clock.at
    yard.market.add(Rule(what="nvidia-l4", since=now + 10, until=now + 20, room=0, reason="x"))
    rooms = []
    for _ in range(4):
        rooms.append(yard.market.room(L4))
        yard.wait(7)
    assert rooms == [1000, 1000, 0, 1000]


def test_stockout_leaves_what_runs(yard: Yard) -> None:
    machine = yard.started(L4)
    yard.market.add(Rule(what="nvidia-l4", is_closed=True))
    yard.wait(10)
    assert (yard.market.room(L4), machine.state) == (0, State.RUNNING)
    assert yard.market.room(SPOT) > 0


def test_hazard_begins_and_ends_while_machines_run() -> None:
    yard = Yard()
    machines = [yard.started(SPOT) for _ in range(200)]
    now = yard.clock.at
    yard.market.add(Rule(model="SPOT", since=now + 3600, until=now + 7200, hazard_per_h=1.0))
    yard.wait(3599)
    assert all(one.state is State.RUNNING for one in machines)
    yard.wait(3600)
    gone = sum(one.state is State.OFF for one in machines)
    assert gone == pytest.approx(200 * (1 - 2.718281828**-1), abs=25)
    yard.wait(60)
    after = sum(one.state is State.OFF for one in machines)
    yard.wait(100 * 3600)
    assert sum(one.state is State.OFF for one in machines) == after


def test_removed_rule_takes_its_hazard_along() -> None:
    yard = Yard()
    rule = yard.market.add(Rule(model="SPOT", hazard_per_h=0.001))
    machine = yard.started(SPOT)
    yard.market.remove(rule)
    yard.wait(10**9)
    assert machine.state is State.RUNNING


# ---- processes -------------------------------------------------------------------------------


def test_stopped_machine_is_told_and_killed_when_its_grace_is_over() -> None:
    processes = Processes()
    yard = Yard(processes=processes)
    machine = yard.started()
    yard.fleet.stop(machine, grace_s=90)
    assert (machine.state, machine.is_live) == (State.OFF, True)
    yard.wait(90)
    assert processes.words(machine) == ["start", "warn", "kill"]
    assert (machine.is_live, machine.address) == (False, "")


def test_started_anew_during_its_grace_it_is_not_killed_by_it() -> None:
    processes = Processes()
    yard = Yard(processes=processes)
    machine = yard.started()
    yard.fleet.stop(machine, grace_s=90)
    yard.wait(10)
    yard.fleet.start(machine, boot_s=0)
    yard.wait(200)
    assert processes.words(machine) == ["start", "warn", "kill", "start"]
    assert machine.is_live


def test_removed_machine_leaves_when_its_processes_have() -> None:
    processes = Processes()
    yard = Yard(processes=processes)
    machine = yard.started()
    yard.fleet.remove(machine, grace_s=90)
    yard.fleet.remove(machine, grace_s=90)
    assert yard.fleet.get(machine.id) is machine
    processes.exits[machine.id] = 0
    yard.fleet.poll()
    assert yard.fleet.get(machine.id) is None
    assert processes.words(machine)[-1] == "delete"
    assert yard.heard == ["running"]
    yard.wait(200)


def test_machine_whose_program_exits_ends_with_its_status() -> None:
    processes = Processes()
    yard = Yard(processes=processes)
    machine = yard.started()
    processes.exits[machine.id] = 3
    yard.fleet.poll()
    yard.fleet.poll()
    assert (machine.state, yard.heard) == (State.OFF, ["running", "exited 3"])


def test_warned_machine_that_shuts_down_at_once_was_preempted() -> None:
    processes = Processes()
    yard = Yard(processes=processes)
    machine = yard.started(SPOT)
    yard.fleet.preempt(machine)
    processes.exits[machine.id] = 0
    yard.fleet.poll()
    assert yard.heard == ["running", "warned", "preempted 0"]
    yard.wait(100)
    assert len(yard.heard) == 3


def test_only_so_many_machines_are_processes() -> None:
    processes = Processes()
    yard = Yard(processes=processes, live=2)
    machines = [yard.started() for _ in range(5)]
    assert yard.fleet.counts() == (2, 3)
    yard.fleet.stop(machines[0])
    yard.started()
    assert yard.fleet.counts() == (2, 3)


def test_after_a_restart_machines_go_on_or_boot_anew(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    processes = Processes()
    clock = HandClock()
    journal = SqliteJournal(path)
    yard = Yard(processes=processes, clock=clock, journal=journal)
    alive, lost, stopped, leaving = (yard.started(SPOT) for _ in range(4))
    booting = yard.started(SPOT, boot_s=25)
    warned = yard.started(SPOT)
    yard.fleet.preempt(warned)
    yard.fleet.stop(stopped)
    yard.fleet.remove(leaving, grace_s=90)
    yard.cloud.commit()
    journal.close()
    for machine in (lost, leaving):
        processes.alive.discard(machine.id)
    processes.told.clear()
    journal = SqliteJournal(path)
    again = Yard(processes=processes, clock=clock, journal=journal)
    again.market.add(Rule(room=1000))
    assert again.used(SPOT) == 4
    again.fleet.revive()
    assert processes.words(alive) == ["resume"]
    assert processes.words(lost) == ["start"]
    assert processes.words(stopped) == []
    assert processes.words(leaving) == ["delete"]
    again.wait(30)
    states = {one.id: one.state for one in again.fleet.all()}
    assert states == {
        alive.id: State.RUNNING,
        lost.id: State.RUNNING,
        stopped.id: State.OFF,
        booting.id: State.RUNNING,
        warned.id: State.OFF,
    }
    journal.close()


# ---- the bill --------------------------------------------------------------------------------


def test_bill_is_hours_times_the_catalogs_price(yard: Yard) -> None:
    machine = yard.started(L4, boot_s=600)
    yard.wait(600)
    yard.wait(5400)
    yard.fleet.stop(machine)
    offer = CATALOG.offer("us-central1-a/g2-standard-4/spot")
    assert offer is not None
    assert offer.usd_per_h is not None
    (line,) = yard.billing.lines()
    assert (line["hours"], line["run"], line["model"]) == (pytest.approx(1.5), "r1", "SPOT")
    assert line["usd"] == pytest.approx(1.5 * offer.usd_per_h)
    assert yard.billing.total_usd() == line["usd"]


def test_notice_is_paid_for_and_lines_add_up(yard: Yard) -> None:
    for _ in range(3):
        machine = yard.started(SPOT)
        yard.wait(570)
        yard.fleet.preempt(machine)
        yard.wait(30)
    (line,) = yard.billing.lines()
    assert line["hours"] == pytest.approx(0.5)


def test_what_has_no_price_is_counted_in_hours(yard: Yard) -> None:
    odd = Wanted("us-central1-a", "no-such-type", "", 0, Model.STANDARD)
    machine = yard.started(odd)
    yard.wait(3600)
    yard.fleet.stop(machine)
    (line,) = yard.billing.lines()
    assert (line["hours"], line["usd"], line["is_priced"]) == (pytest.approx(1.0), 0.0, False)


# ---- quota -----------------------------------------------------------------------------------


def test_quota_names_the_first_limit_that_is_passed(yard: Yard) -> None:
    gpu = L4._replace(model=Model.STANDARD)
    assert yard.quotas.exceeded(gpu) is None
    yard.quotas.set_limit("us-central1", "NVIDIA_L4_GPUS", 2)
    yard.started(gpu)
    exceeded = yard.quotas.exceeded(gpu, 2)
    assert exceeded is not None
    assert exceeded == ("us-central1", "NVIDIA_L4_GPUS", 2.0, 1.0, 2.0)
    assert yard.quotas.exceeded(gpu, 1) is None
    assert yard.quotas.exceeded(L4, 2) is None, "spot GPUs have a quota of their own"
    yard.quotas.set_limit("global", "GPUS_ALL_REGIONS", 1)
    assert yard.quotas.exceeded(gpu, 1) == ("global", "GPUS_ALL_REGIONS", 1.0, 1.0, 1.0)


def test_limit_of_a_place_goes_before_that_of_every_place(yard: Yard) -> None:
    yard.quotas.set_limit("*", "E2_CPUS", 8)
    yard.quotas.set_limit("us-central1", "E2_CPUS", 4)
    assert yard.quotas.exceeded(CPU, 2) is not None
    assert yard.quotas.exceeded(CPU._replace(zone="europe-west4-a"), 2) is None
    assert yard.quotas.exceeded(CPU._replace(zone="europe-west4-a"), 3) is not None
