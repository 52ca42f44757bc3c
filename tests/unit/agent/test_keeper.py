"""The keeper: one agent per node, and nothing outlives it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from gangs import Gang, is_alive, until
from windlass.agent import processes

# Each of these leaves its parent in another way, and none can be found by the mark afterwards.
ESCAPE = """
import os, signal, sys, time

def note(name):
    with open(sys.argv[1] + "/" + name + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(sys.argv[1] + "/" + name + ".part", sys.argv[1] + "/" + name)

def stay(name):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    note(name)
    os.execve("/bin/sleep", ["sleep", "1000"], {})

if os.fork() == 0:
    os.setsid()
    stay("session")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        stay("double")
    os._exit(0)
if os.fork() == 0:
    os.setpgid(0, 0)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            stay("deep")
        os._exit(0)
    os._exit(0)
note("rank")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(100)
"""
NAMES = ("rank", "session", "double", "deep")


def start_escaping(root: Path, **fields: object) -> tuple[Gang, list[int]]:
    script, notes = root / "escape.py", root / "notes"
    script.write_text(ESCAPE)
    notes.mkdir()
    command = f"{sys.executable} '{script}' '{notes}' & wait"
    gang = Gang(root, command=command, notice_s=0.3, **fields)
    gang.start()
    pids = [int(until((notes / name).exists) and (notes / name).read_text()) for name in NAMES]
    assert all(is_alive(pid) for pid in pids)
    return gang, pids


def test_sigterm_ends_every_descendant_however_it_hides(tmp_path: Path) -> None:
    gang, pids = start_escaping(tmp_path)
    gang.signal(signal.SIGTERM)
    assert gang.wait() == [0]
    assert not any(is_alive(pid) for pid in pids)
    exit_said = gang.exit()
    assert exit_said is not None and exit_said["outcome"] == "preempted"


def test_killing_the_agent_ends_every_descendant_and_leaves_no_exit(tmp_path: Path) -> None:
    gang, pids = start_escaping(tmp_path)
    os.kill(gang.agent_pid(), signal.SIGKILL)
    assert gang.wait() == [1]
    assert not any(is_alive(pid) for pid in pids)
    assert gang.exit() is None


def test_killing_the_keeper_ends_every_descendant_and_leaves_no_exit(tmp_path: Path) -> None:
    gang, pids = start_escaping(tmp_path)
    agent = gang.agent_pid()
    gang.signal(signal.SIGKILL)
    until(lambda: not any(is_alive(pid) for pid in [agent, *pids]), what="something lives on")
    assert gang.exit() is None
    gang.wait()


def test_when_both_are_killed_at_once_the_rank_dies_and_the_rest_is_found_by_its_mark(
    tmp_path: Path,
) -> None:
    gang = Gang(tmp_path, command="setsid sleep 1000 & echo $$ $!; wait")
    keeper = gang.start()
    rank, daemon = map(int, until(gang.log).split())
    agent = gang.agent_pid()
    for pid in (keeper.pid, agent):
        os.kill(pid, signal.SIGSTOP)
    for pid in (keeper.pid, agent):
        os.kill(pid, signal.SIGKILL)
    gang.wait()
    until(lambda: not is_alive(rank), what="the rank lives on")
    until(lambda: not is_alive(agent))
    assert processes.find_marked(gang.mark) == [daemon]
    processes.kill_marked(gang.mark)
    until(lambda: not is_alive(daemon))


def test_an_agent_that_hangs_longer_than_its_lease_is_ended_with_its_ranks(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="echo $$; sleep 1000 & sleep 1000")
    gang.start(changes="node.LEASE_S = 0.5; node.HEARTBEAT_S = 0.1")
    rank = int(until(gang.log))
    os.kill(gang.agent_pid(), signal.SIGSTOP)
    assert gang.wait() == [1]
    assert not is_alive(rank)
    assert gang.exit() is None


def test_of_two_agents_over_one_lock_one_runs(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="echo started >> ../../count; sleep 0.5")
    for _ in range(4):
        gang.start()
    assert gang.wait() == [0, 0, 0, 0]
    assert (tmp_path / "work of node 0" / "count").read_text() == "started\n"


def test_a_node_that_was_started_before_does_nothing(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="echo started >> ../../count")
    gang.start()
    gang.wait()
    (gang.folder / f"attempts/1/{gang.claim}/nodes/0/exit.json").unlink()
    gang.start()
    assert gang.wait() == [0, 0]
    assert gang.exit() is None
    assert (tmp_path / "work of node 0" / "count").read_text() == "started\n"


def test_the_lock_tells_the_keeper_and_ranks_do_not_hold_it(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="ls -l /proc/self/fd; sleep 1000")
    keeper = gang.start()
    until(lambda: "->" in gang.log())
    said = json.loads((tmp_path / "node-1-0.lock").read_text())
    assert said["pid"] == keeper.pid
    ticks = Path(f"/proc/{keeper.pid}/stat").read_text().rpartition(")")[2].split()[19]
    assert said["started"] == int(ticks)
    assert "lock" not in gang.log()
    gang.signal(signal.SIGUSR1)
    gang.wait()


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_a_second_order_to_stop_leaves_no_time(tmp_path: Path, number: signal.Signals) -> None:
    command = "trap 'echo told' TERM; echo up; while :; do sleep 0.05; done"
    gang = Gang(tmp_path, command=command, notice_s=1000)
    gang.start()
    until(lambda: "up" in gang.log())
    gang.signal(signal.SIGTERM)
    until(lambda: "told" in gang.log())
    time.sleep(0.3)
    gang.signal(number)
    gang.wait()
    said = gang.exit()
    assert said is not None and said["outcome"] == "stopped"


def test_a_signal_to_keeper_and_agent_both_is_one_order(tmp_path: Path) -> None:
    command = "trap 'echo told; sleep 0.3; echo saved; exit 75' TERM; echo up; sleep 1000 & wait"
    gang = Gang(tmp_path, command=command, notice_s=30)
    keeper = gang.start()
    until(lambda: "up" in gang.log())
    os.killpg(keeper.pid, signal.SIGTERM)
    gang.wait()
    assert gang.log() == "up\ntold\nsaved\n"


def test_an_agent_without_its_claim_says_so(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="true")
    (gang.folder / f"attempts/1/{gang.claim}/claim.json").unlink()
    gang.start()
    assert gang.wait() == [78]
    assert "there is no attempts/1/r-1-0/claim.json" in gang.said_by_agent()
