"""Finding processes: by descent, by mark, and never the wrong one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gangs import is_alive, until
from windlass.agent import processes, ps
from windlass.agent.processes import Process


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    command = ["/bin/sh", "-c", "sleep 1000 & sleep 1000 & wait"]
    started = subprocess.Popen(command, env={**os.environ, processes.MARK: "r (odd) name-1-0"})
    until(lambda: len(processes.descendants(started.pid)) == 2)
    family = processes.descendants(started.pid)
    yield started
    for process in family:
        processes.send(process, signal.SIGKILL)
    started.kill()
    started.wait()


def test_descendants_are_found_and_killed(child: subprocess.Popen[bytes]) -> None:
    found = processes.descendants(os.getpid())
    mine = [process.pid for process in processes.descendants(child.pid)]
    assert {child.pid, *mine} <= {process.pid for process in found}
    assert processes.kill_descendants(child.pid) == 2
    assert child.wait() is not None
    assert processes.kill_descendants(child.pid) == 0
    assert not any(is_alive(pid) for pid in mine)


def test_marked_processes_are_found_with_their_descendants(child: subprocess.Popen[bytes]) -> None:
    mine = {child.pid, *(process.pid for process in processes.descendants(child.pid))}
    assert set(processes.find_marked("r (odd) name-1-0")) == mine
    for other in ("r (odd) name-1", "r (odd) name-1-00", ""):
        assert processes.find_marked(other) == []
    assert processes.kill_marked("r (odd) name-1-0") == 3
    child.wait()
    until(lambda: processes.find_marked("r (odd) name-1-0") == [])


def test_a_cleared_environment_does_not_hide_a_child_of_a_marked_process() -> None:
    command = ["/bin/sh", "-c", "env -i sleep 1000 & wait"]
    with subprocess.Popen(command, env={processes.MARK: "r-2-0"}) as marked:
        until(lambda: len(processes.find_marked("r-2-0")) == 2)
        processes.kill_marked("r-2-0")
        assert marked.wait() == -signal.SIGKILL


def test_a_process_does_not_find_itself_by_the_mark() -> None:
    code = "from windlass.agent import processes; print(processes.find_marked('r-3-0'))"
    root = Path(processes.__file__).parents[2]
    env = {processes.MARK: "r-3-0", "PYTHONPATH": str(root)}
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert said.stdout == b"[]\n"


def test_a_signal_does_not_reach_a_later_process_with_the_same_number(
    child: subprocess.Popen[bytes],
) -> None:
    living = processes.snapshot()[child.pid]
    earlier = living._replace(started=str(int(living.started) - 1))
    assert processes.send(earlier, signal.SIGKILL) is False
    assert is_alive(child.pid)
    orphaned = living._replace(parent=1)
    assert processes.send(orphaned, signal.SIGKILL) is True
    assert child.wait() == -signal.SIGKILL
    assert processes.send(living, signal.SIGKILL) is False


def test_zombies_have_ended() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert child.pid not in processes.snapshot()
    assert processes.start_ticks(child.pid) is None
    child.wait()


def test_ps_tells_the_same_as_proc(child: subprocess.Popen[bytes]) -> None:
    found = processes.descendants(child.pid, living=ps.snapshot())
    assert {process.pid for process in found} == {
        process.pid for process in processes.descendants(child.pid)
    }


def test_lines_of_ps_are_read() -> None:
    said = (
        "    1     0     1 Ss   Mon Jun  1 10:00:00 2026\n"
        "   77     1     1 Z+   Mon Jun  1 10:00:01 2026\n"
        "  812    77   800 S    Mon Jun  1 10:00:02 2026\n"
    )
    assert ps.parse_processes(said) == {
        1: Process(1, 0, 1, "Mon Jun  1 10:00:00 2026"),
        812: Process(812, 77, 800, "Mon Jun  1 10:00:02 2026"),
    }
    listed = "  5 python train.py A=1 WINDLASS_MARK=r-1-0 B=2\n 6 sh WINDLASS_MARK=r-1-01\n7\n"
    assert ps.parse_marked(listed, "WINDLASS_MARK=r-1-0") == [5]
