"""Controllers as real processes: exactly one serves, no run is overlooked, and they end well."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from pathlib import Path

import pytest

from builders import make_event, make_run
from controllers import ToldEngine
from gangs import until
from windlass.controller import workers
from windlass.controller.loop import Loop
from windlass.controller.presence import Presence
from windlass.controller.site import Site
from windlass.controller.workers import Worker
from windlass.errors import StoreBusy, StoreUnreachable
from windlass.ports.world import system_world
from windlass.spec.canonical import to_json
from windlass.spec.model import Spec
from windlass.state.phases import RunPhase, Wanted
from windlass.state.sqlite_store import open_sqlite

ANOTHER_SERVES = 3
LONG_S = 60.0


def serve(
    home: Path, *, idle_s: float, retry_s: float = 0.5, cloud: str = "", wrap=lambda store: store
) -> int:
    """Be a controller whose engine never starts anything; returns its exit status."""
    workers.IDLE_S, workers.RETRY_S = idle_s, retry_s
    world, engine = system_world(), ToldEngine()
    store = wrap(open_sqlite(str(home / "windlass.db")))
    site = Site(
        world=world,
        store=store,
        engine=lambda name: engine,
        engine_names=(),
        folder_url=lambda run: (home / run).as_uri(),
        cloud=cloud,
    )
    worker = Worker(
        world.clock,
        store,
        loop=lambda: Loop(site, on_ended=lambda run: None, on_bug=lambda run, bug: None),
        presence=Presence(home, cloud=cloud),
        holder="us",
        is_on_demand=True,
    )
    return 0 if worker.run() else ANOTHER_SERVES


class Controllers:
    """Starts controllers of one home, and ends those that a failed test left."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = open_sqlite(str(home / "windlass.db"))
        self.presence = Presence(home)
        self._children: list[int] = []

    def start(self, *, idle_s: float = LONG_S, **options) -> int:
        child = os.fork()
        if child == 0:
            status = 70
            try:
                status = serve(self.home, idle_s=idle_s, **options)
            except BaseException:  # noqa: BLE001 - this copy of the tests must end here.
                traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(status)
        self._children.append(child)
        return child

    def wait(self, child: int) -> int:
        """Its exit status, or minus the signal that ended it."""
        self._children.remove(child)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def reap(self) -> list[int]:
        """Statuses of those that have ended by themselves."""
        statuses = []
        for child in list(self._children):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                self._children.remove(child)
                statuses.append(os.waitstatus_to_exitcode(status))
        return statuses

    def until_up(self) -> int:
        return until(lambda: self.presence.process_id() if self.presence.wake() else None)

    def add(self, run_id: str, **fields) -> None:
        spec = to_json(Spec(name=run_id, run="true"))
        self.store.add_run(make_run(run_id, spec=spec, **fields), make_event(run_id))

    def phase(self, run_id: str) -> RunPhase:
        return self.store.get_run(run_id).phase

    def close(self) -> None:
        for child in self._children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.store.close()


@pytest.fixture
def controllers(tmp_path):
    controllers = Controllers(tmp_path)
    yield controllers
    controllers.close()


def test_of_several_started_at_once_exactly_one_serves(controllers):
    for _ in range(6):
        controllers.start()
    statuses = []
    until(lambda: statuses.extend(controllers.reap()) or len(statuses) == 5)
    assert statuses == [ANOTHER_SERVES] * 5
    serving = controllers.until_up()
    os.kill(serving, signal.SIGTERM)
    assert controllers.wait(serving) == 0


def test_no_run_is_lost_between_the_last_look_and_the_end(controllers):
    """A controller that ends all the time, and runs that come at any moment of it."""
    for number in range(30):
        time.sleep(0.0007 * (number % 12))
        controllers.add(f"r{number}", wanted=Wanted.STOP)
        controllers.presence.ensure(lambda: controllers.start(idle_s=0.003))
        until(
            lambda number=number: controllers.phase(f"r{number}") is RunPhase.STOPPED,
            timeout_s=10.0,
            what=f"run {number} was overlooked",
        )
        controllers.reap()


def test_runs_that_several_commands_submit_at_once_are_all_seen(controllers):
    for number in range(20):
        controllers.add(f"r{number}", wanted=Wanted.STOP)
        controllers.presence.ensure(lambda: controllers.start(idle_s=0.0))
    until(lambda: not controllers.store.live_versions())


def test_it_ends_by_itself_when_nothing_is_left_to_do(controllers):
    child = controllers.start(idle_s=0.0)
    assert controllers.wait(child) == 0
    assert not controllers.presence.is_alive()


def test_it_does_not_end_while_a_run_lives(controllers):
    controllers.add("r")
    child = controllers.start(idle_s=0.0)
    until(lambda: controllers.phase("r") is RunPhase.STARTING)
    time.sleep(0.2)
    assert controllers.reap() == []
    os.kill(child, signal.SIGTERM)
    assert controllers.wait(child) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_lock_and_lease_free(controllers, number):
    controllers.add("r")  # Without one it would end when it is the lease's second.
    child = controllers.start()
    assert controllers.until_up() == child
    # For no time at all: who asks again and again must not keep it from the child.
    until(lambda: controllers.store.take_lease("x", now=time.time(), ttl_s=0.0) is None)
    os.kill(child, number)
    assert controllers.wait(child) == 0
    assert not controllers.presence.is_alive()
    assert controllers.store.take_lease("x", now=time.time(), ttl_s=1.0) is not None


def test_after_a_kill_the_next_serves_at_once(controllers):
    first = controllers.start()
    assert controllers.until_up() == first
    os.kill(first, signal.SIGKILL)
    assert controllers.wait(first) == -signal.SIGKILL
    assert not controllers.presence.is_alive()
    controllers.add("r", wanted=Wanted.STOP)
    controllers.presence.ensure(lambda: controllers.start(idle_s=0.0))
    until(lambda: controllers.phase("r") is RunPhase.STOPPED, timeout_s=10.0)


def test_a_home_whose_pipe_is_a_plain_file_is_served(controllers):
    controllers.presence.pipe.write_text("")
    child = controllers.start()
    assert controllers.until_up() == child


# ---- a lease that somebody else has --------------------------------------------------------------


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_it_waits_for_the_lease_without_spinning_and_then_serves(controllers):
    lease = controllers.store.take_lease("another", now=time.time(), ttl_s=1000.0)
    controllers.add("r", wanted=Wanted.STOP)
    child = controllers.start(idle_s=0.0)
    controllers.until_up()
    before = cpu_s(child)
    time.sleep(0.6)
    assert cpu_s(child) - before < 0.2, "a wake-up in the pipe must not keep it busy"
    assert controllers.phase("r") is RunPhase.QUEUED
    controllers.store.release_lease(lease)
    until(lambda: controllers.phase("r") is RunPhase.STOPPED)
    assert controllers.wait(child) == 0


def test_a_signal_ends_it_while_it_waits_for_the_lease(controllers):
    controllers.store.take_lease("another", now=time.time(), ttl_s=1000.0)
    controllers.add("r")
    child = controllers.start()
    controllers.until_up()
    os.kill(child, signal.SIGTERM)
    assert controllers.wait(child) == 0


def test_without_runs_it_does_not_wait_for_the_lease_of_another(controllers):
    controllers.store.take_lease("another", now=time.time(), ttl_s=1000.0)
    assert controllers.wait(controllers.start()) == 0


# ---- two clouds ----------------------------------------------------------------------------------

TWIN = "twin:/somewhere"


def test_a_controller_makes_room_for_one_of_another_cloud(controllers):
    """Also when it serves runs that need no cloud: the next one does so too."""
    controllers.add("anywhere")
    first = controllers.start(cloud="google")
    assert controllers.until_up() == first
    second = controllers.start(cloud=TWIN, retry_s=0.05)
    assert controllers.wait(first) == 0
    until(lambda: controllers.presence.held() == (second, TWIN, False))


def test_a_controller_that_a_run_of_its_cloud_needs_stays(controllers, monkeypatch):
    controllers.add("bound", cloud="google")
    first = controllers.start(cloud="google")
    assert controllers.until_up() == first
    monkeypatch.setattr(workers, "TURN_S", 0.3)
    assert controllers.wait(controllers.start(cloud=TWIN, retry_s=0.05)) == ANOTHER_SERVES
    assert controllers.presence.held() == (first, "google", False)


def test_a_controller_does_not_stay_for_runs_of_another_cloud(controllers):
    controllers.add("far", cloud=TWIN)
    assert controllers.wait(controllers.start(cloud="google", idle_s=0.05)) == 0
    assert controllers.phase("far") is RunPhase.QUEUED


# ---- a store in trouble --------------------------------------------------------------------------


class Troubled:
    """A store whose first calls fail."""

    def __init__(self, store, error, times):
        self._store = store
        self._error = error
        self._left = times

    def __getattr__(self, name):
        if self._left and name != "close":
            self._left -= 1
            raise self._error
        return getattr(self._store, name)


TROUBLES = {
    "busy": StoreBusy("locked"),
    "unreachable": StoreUnreachable("the disk is full", remedy="Free some."),
}


@pytest.mark.parametrize("error", TROUBLES.values(), ids=TROUBLES)
@pytest.mark.parametrize("times", [1, 3])
def test_a_store_in_trouble_is_waited_for(controllers, error, times):
    controllers.add("r", wanted=Wanted.STOP)
    child = controllers.start(
        idle_s=0.0, retry_s=0.02, wrap=lambda store: Troubled(store, error, times)
    )
    until(lambda: controllers.phase("r") is RunPhase.STOPPED)
    assert controllers.wait(child) == 0
