"""Cancelling reaches every process of a claim, and nobody else's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from conformance.engines import Bench
from gangs import is_alive
from windlass.agent import layout
from windlass.agent.processes import start_ticks
from windlass.engines.base import Seen
from windlass.engines.local import engine as local_engine
from windlass.engines.local.desk import Desk
from windlass.engines.local.factory import build
from windlass.engines.local.nodes import SPAWN_TIMEOUT_S
from windlass.ports.clock import SystemClock

DETACH = """
import os, sys, time
kinds = sys.argv[1:]
if os.fork():
    time.sleep(60)
if "setsid" in kinds:
    os.setsid()
if "fork" in kinds and os.fork():
    os._exit(0)
if "environment" in kinds:
    os.execve(sys.executable, [sys.executable, "-c",
        "import os, time; print('child', os.getpid(), flush=True); time.sleep(60)"], {})
print("child", os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.fixture
def bench(tmp_path):
    bench = Bench(build, tmp_path / "home")
    yield bench
    bench.close()


@pytest.fixture
def desk(bench):
    return Desk(bench.home / "local")


def pids(bench, claim="a-1-0", node=0):
    return [int(line.split()[1]) for line in bench.output(claim, node=node).splitlines()]


HIDING = {
    "setsid": "setsid",
    "double fork": "setsid fork",
    "double fork without its environment": "setsid fork environment",
    "without its environment": "environment",
}


@pytest.mark.parametrize("kinds", HIDING.values(), ids=HIDING)
@pytest.mark.parametrize("now", [True, False], ids=["now", "with notice"])
def test_children_that_hide_are_ended_too(bench, tmp_path, kinds, now):
    program = tmp_path / "detach.py"
    program.write_text(DETACH)
    claim = bench.claim("a-1-0", f"exec {sys.executable} '{program}' {kinds}")
    shorten_notice(bench, "a-1-0")
    handle = bench.submit(claim)
    (child,) = bench.until(lambda: pids(bench))
    assert is_alive(child)
    bench.engine.cancel(handle, now=now)
    bench.wait(handle, Seen.GONE)
    assert not is_alive(child)


def shorten_notice(bench, claim):
    name = layout.claim_file(1, claim)
    order = json.loads(bench.folder("a").read(name))
    bench.folder("a").write(name, json.dumps({**order, "notice_s": 0.3}).encode())


def kill_keeper_and_agent(bench, desk, claim="a-1-0"):
    """Both at once, so that neither can clean up after the other."""
    keeper = bench.until(lambda: desk.keeper(claim, 0))
    beat = layout.heartbeat(1, claim, 0)
    agent = json.loads(bench.until(lambda: bench.folder("a").read(beat)))["pid"]
    for pid in (keeper, agent):
        os.kill(pid, signal.SIGSTOP)
    for pid in (agent, keeper):
        os.kill(pid, signal.SIGKILL)
    bench.until(lambda: not desk.is_alive(claim, 0))


def test_ranks_whose_keeper_and_agent_were_killed_at_once_are_found_by_their_mark(
    bench, desk, tmp_path
):
    program = tmp_path / "detach.py"
    program.write_text(DETACH)
    handle = bench.submit(bench.claim("a-1-0", f"exec {sys.executable} '{program}' setsid fork"))
    (child,) = bench.until(lambda: pids(bench))
    kill_keeper_and_agent(bench, desk)
    seen = bench.look(handle)
    assert (seen.seen, seen.missing) == (Seen.RUNNING, (0,))
    assert seen.reason == "its agents are gone but processes of it are left"
    assert is_alive(child)
    bench.until(lambda: bench.engine.cancel(handle) or bench.look(handle).seen is Seen.GONE)
    assert not is_alive(child)


def test_what_nobody_looks_at_again_is_let_go_by_cancelling_alone(bench):
    """The sweep only cancels; what it has ended must not hold the machine for ever."""
    handle = bench.submit(bench.claim("a-1-0", "echo up; sleep 60"))
    bench.until(lambda: bench.output("a-1-0"))
    bench.until(lambda: bench.engine.cancel(handle, now=True) or not bench.engine.owned())


def test_a_process_that_was_given_a_keepers_number_is_not_signalled(bench, desk):
    handle = bench.submit(bench.claim("a-1-0", "echo up; sleep 60"))
    bench.until(lambda: bench.output("a-1-0"))
    lock = desk.path("a-1-0", "node-0.lock")
    told = json.loads(lock.read_text())
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        lock.write_text(json.dumps({**told, "pid": stranger.pid}))
        assert start_ticks(stranger.pid) != told["started"]
        bench.engine.cancel(handle, now=True)
        assert is_alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()
    lock.write_text(json.dumps(told))


class LateClock(SystemClock):
    """The machine's clock, so many seconds later."""

    late_s = 0.0

    def now(self):
        return super().now() + self.late_s

    def monotonic(self):
        return super().monotonic() + self.late_s


@pytest.fixture
def clock(bench):
    clock = LateClock()
    bench.world = replace(bench.world, clock=clock)
    bench.restart()
    return clock


def test_an_agent_that_does_not_obey_is_killed_after_its_notice(bench, desk, clock):
    handle = bench.submit(bench.claim("a-1-0", "echo $$; sleep 60"))
    rank = int(bench.until(lambda: bench.output("a-1-0")))
    keeper = desk.keeper("a-1-0", 0)
    beat = json.loads(bench.folder("a").read(layout.heartbeat(1, "a-1-0", 0)))
    for pid in (keeper, beat["pid"]):
        os.kill(pid, signal.SIGSTOP)
    bench.engine.cancel(handle)
    assert bench.look(handle).seen is Seen.RUNNING
    clock.late_s = local_engine.KILL_AFTER_S + 1.0
    bench.engine.cancel(handle)
    bench.until(lambda: not is_alive(keeper))
    # The agent is stopped and holds the lock: without a keeper it is found by its mark.
    bench.until(lambda: bench.engine.cancel(handle) or bench.look(handle).seen is Seen.GONE)
    assert not is_alive(rank)


def test_a_keeper_that_dies_before_it_has_its_lock_is_missed_at_once(bench, desk):
    handle = bench.submit(bench.claim("a-1-0", "true"))
    spawned = next(iter(bench.engine._nodes._spawned.values()))
    os.kill(spawned, signal.SIGKILL)
    bench.wait(handle, Seen.GONE, timeout_s=5)


def test_a_node_that_never_came_up_is_missing_after_a_while(bench, desk, clock):
    request = bench.engine.render(bench.claim("a-1-0", "true"))
    desk.write("a-1-0", "request.json", request.to_json())
    desk.write("a-1-0", "placed.json", {"gpus": [[]]})
    desk.write("a-1-0", "cancelled.json", {"at": 0.0})
    assert bench.look("a-1-0").seen is Seen.RUNNING
    clock.late_s = SPAWN_TIMEOUT_S + 1.0
    assert bench.look("a-1-0").seen is Seen.GONE
