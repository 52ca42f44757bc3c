from __future__ import annotations

from pathlib import Path

import pytest

from buckets import HandClock
from windlass.twin.journal import SqliteJournal
from windlass.twin.machine import State
from windlass.twin.market import Rule
from yards import CPU, SPOT, Processes, Yard, roomy


@pytest.fixture
def yard() -> Yard:
    return roomy()


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
    processes.alive.add("started by the last twin, which was killed before it wrote that down")
    again.fleet.revive()
    assert processes.alive == {alive.id, lost.id, warned.id}
    words = [word for word, _ in processes.told]
    assert "resume" not in words[words.index("start") :], "their addresses were not free"
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
