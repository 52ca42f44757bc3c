from __future__ import annotations

import pytest

from windlass.twin.machine import State
from windlass.twin.market import Rule
from yards import CPU, L4, SPOT, Yard, roomy


@pytest.fixture
def yard() -> Yard:
    return roomy()


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
