"""A new controller over what an earlier one left, killed at every stage of a claim's life."""

from __future__ import annotations

import os

import pytest

from conformance.engines import Bench
from windlass.engines.base import Seen
from windlass.engines.local.desk import Desk
from windlass.engines.local.factory import build
from windlass.ports.process import Processes

WHOLE_MACHINE = float(len(os.sched_getaffinity(0)))


class Killed(BaseException):
    """The controller ended here."""


class FewStarts(Processes):
    """A controller that is killed after it has started so many agents."""

    def __init__(self, starts):
        super().__init__()
        self.starts = starts

    def spawn(self, argv, *, env, output):
        if self.starts == 0:
            raise Killed
        self.starts -= 1
        return super().spawn(argv, env=env, output=output)


@pytest.fixture
def bench(tmp_path):
    bench = Bench(build, tmp_path / "home")
    yield bench
    bench.close()


@pytest.fixture
def desk(bench):
    return Desk(bench.home / "local")


def starts_of(bench, claim):
    """The command of a claim that counts its own starts, and the count so far."""
    path = bench.home / "starts"
    command = f"echo {claim}-$WINDLASS_NODE >> '{path}'"
    return command, lambda: sorted(path.read_text().split()) if path.exists() else []


def submit_and_die(bench, claim, *, after):
    """Submit with a controller that is killed after so many agents; then there is a new one."""
    bench.processes = FewStarts(after)
    bench.restart()
    with pytest.raises(Killed):
        bench.submit(claim)
    bench.processes = Processes()
    return bench.restart()


@pytest.mark.parametrize("after", [0, 1], ids=["placed, none started", "one of two started"])
def test_nodes_that_were_not_started_are_started_once(bench, desk, after):
    command, starts = starts_of(bench, "a")
    claim = bench.claim("a-1-0", command, nodes=2)
    submit_and_die(bench, claim, after=after)
    assert desk.read("a-1-0", "placed.json") is not None
    (owned,) = bench.engine.owned()
    bench.wait(owned.handle, Seen.GONE)
    assert starts() == ["a-0", "a-1"]


def test_a_request_that_was_not_placed_yet_is_placed(bench, desk):
    command, starts = starts_of(bench, "a")
    claim = bench.claim("a-1-0", command)
    desk.write("a-1-0", "request.json", bench.engine.render(claim).to_json())
    bench.restart()
    handle = bench.submit(claim)
    bench.wait(handle, Seen.GONE)
    assert starts() == ["a-0"]


def test_agents_that_are_just_starting_are_not_started_twice(bench):
    command, starts = starts_of(bench, "a")
    handle = bench.submit(bench.claim("a-1-0", f"{command}; sleep 60", nodes=2))
    for _ in range(3):
        bench.restart()
        assert bench.look(handle).seen is Seen.RUNNING
    bench.until(lambda: len(starts()) == 2)
    bench.restart()
    bench.engine.cancel(handle, now=True)
    bench.wait(handle, Seen.GONE)
    assert starts() == ["a-0", "a-1"]


def test_a_claim_that_ended_while_nobody_looked_is_gone(bench):
    handle = bench.submit(bench.claim("a-1-0", "true"))
    bench.until(lambda: bench.exit("a-1-0"))
    bench.restart()
    bench.wait(handle, Seen.GONE)
    bench.restart()
    assert bench.look(handle).seen is Seen.GONE


def test_a_cancelled_claim_is_not_started_again(bench, desk):
    command, starts = starts_of(bench, "a")
    submit_and_die(bench, bench.claim("a-1-0", command, nodes=2), after=0)
    desk.write("a-1-0", "cancelled.json", {"at": 0.0})
    bench.restart()
    (owned,) = bench.engine.owned()
    assert bench.look(owned.handle).seen is Seen.RUNNING
    bench.engine.cancel(owned.handle)
    assert bench.look(owned.handle).seen is Seen.GONE
    assert starts() == []


def test_a_cancel_before_the_first_look_starts_nothing(bench):
    command, starts = starts_of(bench, "a")
    submit_and_die(bench, bench.claim("a-1-0", command), after=0)
    (owned,) = bench.engine.owned()
    bench.engine.cancel(owned.handle)
    bench.wait(owned.handle, Seen.GONE)
    bench.restart()
    assert bench.engine.owned() == []
    assert starts() == []


def test_a_cancel_under_way_is_finished_by_the_next_controller(bench):
    command = "trap '' TERM; echo up; while :; do sleep 1; done"
    handle = bench.submit(bench.claim("a-1-0", command))
    bench.until(lambda: bench.output("a-1-0"))
    bench.engine.cancel(handle)
    bench.restart()
    assert bench.look(handle).seen is Seen.RUNNING
    bench.engine.cancel(handle, now=True)
    bench.wait(handle, Seen.GONE)


def test_a_tombstone_without_an_end_is_an_end(bench, desk):
    """Killed between the two: it waited, and must not come back."""
    bench.submit(bench.claim("a-1-0", "sleep 60", cpus_per_node=WHOLE_MACHINE))
    second = bench.submit(bench.claim("b-1-0", "echo no", cpus_per_node=WHOLE_MACHINE))
    (bench.home / "local" / "ended" / "b-1-0").touch()
    bench.restart()
    assert bench.look(second).seen is Seen.GONE
    assert [owned.claim for owned in bench.engine.owned()] == ["a-1-0"]


UNREADABLE = {"torn": b'{"claim": "a-1', "of another version": b'{"claim": "a-1-0"}', "empty": b""}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_a_request_that_cannot_be_read_costs_its_claim_and_no_other(bench, desk, data):
    lost = bench.submit(bench.claim("a-1-0", "echo up; sleep 60", cpus_per_node=0.1))
    other = bench.submit(bench.claim("b-1-0", "sleep 60", cpus_per_node=0.1))
    bench.until(lambda: bench.output("a-1-0"))
    desk.path("a-1-0", "request.json").write_bytes(data)
    bench.restart()
    seen = bench.engine.observe([lost, other])
    assert [seen[lost].seen, seen[other].seen] == [Seen.GONE, Seen.RUNNING]


def test_a_torn_placement_is_made_again(bench, desk):
    command, starts = starts_of(bench, "a")
    submit_and_die(bench, bench.claim("a-1-0", command), after=0)
    desk.path("a-1-0", "placed.json").write_bytes(b"")
    bench.restart()
    (owned,) = bench.engine.owned()
    bench.wait(owned.handle, Seen.GONE)
    assert starts() == ["a-0"]
