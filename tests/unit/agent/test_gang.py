"""Whole agents: what the nodes of a gang do together."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from gangs import Gang, is_alive, pythons, until
from windlass.agent import layout
from windlass.agent.pack import build

SHORT = "node.LEASE_S = 1.0; node.LEASE_WARNING_S = 0.6; node.HEARTBEAT_S = 0.1"


@pytest.mark.parametrize("python", pythons(), ids=lambda path: Path(path).name)
def test_packed_agent_runs_on_every_python_here(python: str, tmp_path: Path) -> None:
    agent = build(tmp_path / "agent folder")
    command = f"{python} -c 'import windlass.runtime, sys; print(sys.version_info[:2])'"
    gang = Gang(tmp_path, nodes=2, ranks_per_node=2, command=command)
    gang.start_all(python=python, program=[str(agent)])
    assert gang.wait() == [0, 0]
    version = until(lambda: gang.log(0))
    assert version.startswith("(3, ")
    assert all(gang.log(rank, rank // 2) == version for rank in range(4))
    assert [said and said["outcome"] for said in map(gang.exit, range(2))] == ["succeeded"] * 2


def test_ranks_start_only_when_every_node_is_there(tmp_path: Path) -> None:
    gang = Gang(tmp_path, nodes=2, command="date +%s.%N")
    gang.start(0)
    until(lambda: gang.heartbeat(0))
    time.sleep(0.3)
    assert gang.read(layout.winner(1)) is None
    assert gang.log(0) == ""
    late = time.time()
    gang.start(1)
    gang.wait()
    first, second = float(gang.log(0, 0)), float(gang.log(1, 1))
    assert min(first, second) >= late
    assert abs(first - second) < 2.0


def test_nodes_fail_together_and_the_first_failure_decides(tmp_path: Path) -> None:
    command = "if [ $WINDLASS_NODE = 1 ]; then exit 3; else sleep 1000; fi"
    gang = Gang(tmp_path, nodes=2, command=command)
    gang.start_all()
    assert gang.wait() == [0, 0]
    end = gang.read(layout.end(1, gang.claim))
    assert end is not None
    assert (end["node"], end["rank"], end["status"]) == (1, 1, 3)
    assert end["outcome"] == "user-error"
    assert end["reason"] == "rank 1 on node 1 exited with status 3"
    first, second = gang.exit(0), gang.exit(1)
    assert first is not None and first["outcome"] == "gang-ended"
    assert second is not None and second["outcome"] == "user-error"


def test_a_claim_that_comes_up_after_it_was_given_up_never_starts_ranks(tmp_path: Path) -> None:
    gang = Gang(tmp_path, setup="touch ../../prepared", command="touch ../../ran")
    gang.write(layout.winner(1), json.dumps({"claim": None}))
    gang.start()
    assert gang.wait() == [0]
    said = gang.exit()
    assert said is not None and said["outcome"] == "given-up"
    work = tmp_path / "work of node 0"
    assert not (work / "ran").exists() and not (work / "prepared").exists()


NOTICE = """
import json, os, signal, sys, time

def told(number, frame):
    said = json.load(open(os.environ["WINDLASS_NOTICE"]))
    is_ahead = 0 < said["deadline"] - time.time() <= said["seconds"]
    print("told", is_ahead, said["seconds"], said["reason"])

signal.signal(signal.SIGTERM, told)
print("up", os.environ["WINDLASS_NOTICE_S"], os.path.exists(os.environ["WINDLASS_NOTICE"]))
while True:
    time.sleep(0.01)
"""


def test_notice_file_comes_first_then_sigterm_then_sigkill(tmp_path: Path) -> None:
    (tmp_path / "notice.py").write_text(NOTICE)
    gang = Gang(tmp_path, nodes=2, command=f"{sys.executable} '{tmp_path}/notice.py'", notice_s=0.8)
    gang.start_all()
    until(lambda: "up" in gang.log(0, 0) and "up" in gang.log(1, 1))
    asked = time.monotonic()
    gang.signal(signal.SIGTERM, node=1)
    gang.wait()
    assert time.monotonic() - asked >= 0.8
    for node in range(2):
        assert gang.log(node, node) == "up 0.8 False\ntold True 0.8 it was told to stop\n"
        said = gang.exit(node)
        assert said is not None and said["had_notice"] and said["outcome"] == "preempted"
        assert said["status"] == -signal.SIGKILL
        assert said["reason"] == f"rank {node} on node {node} was killed by SIGKILL"
    assert gang.read(layout.notice(1, gang.claim, 1)) is not None


def test_ranks_that_end_in_time_are_not_waited_for_longer(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="trap 'exit 75' TERM; echo up; sleep 1000 & wait", notice_s=60)
    gang.start()
    until(lambda: "up" in gang.log())
    gang.signal(signal.SIGTERM)
    # `sleep` got the signal too: the whole group does.
    assert gang.wait(10) == [0]
    said = gang.exit()
    assert said is not None and (said["status"], said["outcome"]) == (75, "preempted")


CUT_OFF = {
    "unwritable": lambda folder: folder.chmod(0o500),
    "replaced by a file": lambda folder: (folder.rename(f"{folder}.away"), folder.touch()),
}


@pytest.mark.parametrize("how", CUT_OFF)
def test_cut_off_from_the_folder_the_node_stops_its_ranks(tmp_path: Path, how: str) -> None:
    if how == "unwritable" and os.geteuid() == 0:
        pytest.skip("root writes wherever it wants")
    gang = Gang(
        tmp_path, command="trap 'touch ../../told; exit 1' TERM; echo $$; sleep 1000 & wait"
    )
    gang.start(changes=SHORT)
    rank = int(until(gang.log))
    CUT_OFF[how](gang.folder)
    cut = time.monotonic()
    gang.wait(15)
    assert not is_alive(rank)
    assert (tmp_path / "work of node 0" / "told").exists()
    assert time.monotonic() - cut < 5


def test_after_a_sleep_longer_than_the_lease_the_node_is_lost(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="echo $$; sleep 1000")
    keeper = gang.start(changes=SHORT)
    rank = int(until(gang.log))
    tree = [keeper.pid, gang.agent_pid(), rank]
    for pid in tree:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(1.2)
    for pid in tree[::-1]:
        os.kill(pid, signal.SIGCONT)
    gang.wait(10)
    assert not is_alive(rank)
    said = gang.exit()
    assert said is None or said["outcome"] == "lost"


HOW_RANKS_END = {
    "status": ("exit 1", 1, "rank 0 on node 0 exited with status 1"),
    "signal": ("kill -SEGV $$", -11, "rank 0 on node 0 was killed by SIGSEGV"),
    "killed": (
        "kill -KILL $$",
        -9,
        "rank 0 on node 0 was killed by SIGKILL "
        "(often out of memory: the kernel kills the largest process)",
    ),
    "killed inside": (
        "exit 137",
        137,
        "rank 0 on node 0 exited with status 137 "
        "(often out of memory: the kernel kills the largest process)",
    ),
    "no such program": ("no-such-program", 127, "rank 0 on node 0 exited with status 127"),
}


@pytest.mark.parametrize("case", HOW_RANKS_END)
def test_how_a_rank_ended_is_said_in_words(tmp_path: Path, case: str) -> None:
    command, status, reason = HOW_RANKS_END[case]
    gang = Gang(tmp_path, command=command)
    gang.start()
    gang.wait()
    said = gang.exit()
    assert said is not None
    assert (said["status"], said["reason"]) == (status, reason)


def test_what_ranks_leave_behind_is_killed_not_waited_for(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="setsid sleep 1000 & echo $!; echo done")
    gang.start()
    assert gang.wait(10) == [0]
    said = gang.exit()
    assert said is not None and said["outcome"] == "succeeded"
    assert not is_alive(int(gang.log().split()[0]))
    assert "done" in gang.log()


def test_what_an_ended_rank_left_in_its_group_is_told_too(tmp_path: Path) -> None:
    daemon = "(trap 'touch ../../told; exit' TERM; echo up; while :; do sleep 0.05; done) &"
    command = f"if [ $RANK = 0 ]; then {daemon} exit 0; else sleep 1000; fi"
    gang = Gang(tmp_path, command=command, ranks_per_node=2, notice_s=20)
    gang.start()
    until(lambda: "up" in gang.log())
    time.sleep(0.2)
    gang.signal(signal.SIGTERM)
    gang.wait(10)
    assert (tmp_path / "work of node 0" / "told").exists()


def test_environment_reaches_ranks_as_it_was_written(tmp_path: Path) -> None:
    odd = "ünïcode 'single' \"double\" $HOME `x` \\ end"
    gang = Gang(
        tmp_path,
        command='printf "%s\\n" "$GREETING" "$ODD" "$TOKEN" "$RANK"; pwd',
        env={"ODD": odd, "RANK": "not for you to say", "TOKEN": "from the spec"},
    )
    gang.secrets = {"TOKEN": "abc"}
    gang.start()
    gang.wait()
    assert gang.log().splitlines() == [
        "grüß dich, $HOME `x` \"y\" 'z'",
        odd,
        "abc",
        "0",
        str(tmp_path / "work of node 0" / "empty" / "src"),
    ]


def test_whoever_listens_is_woken_when_ranks_start_and_when_they_have_ended(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="sleep 0.3")
    gang.wake = str(tmp_path / "wake")
    os.mkfifo(gang.wake)
    reader = os.open(gang.wake, os.O_RDONLY | os.O_NONBLOCK)
    gang.start()
    said = until(lambda: _read(reader))
    assert gang.exit() is None
    gang.wait()
    assert gang.exit() is not None
    assert _read(reader) == said == f"{gang.claim}\n".encode()
    os.close(reader)


def _read(reader: int) -> bytes:
    try:
        return os.read(reader, 1000)
    except BlockingIOError:
        return b""


def test_progress_is_mirrored_line_by_line(tmp_path: Path) -> None:
    command = (
        'cd "$WINDLASS_FOLDER/rank-$WINDLASS_RANK"; printf \'{"step": 1}\\n{"st\' > progress.jsonl;'
        " sleep 0.5; printf 'ep\": 2}\\n' >> progress.jsonl; sleep 0.4"
    )
    gang = Gang(tmp_path, command=command)
    gang.start()
    first = until(lambda: gang.chunks(gang.rank_folder(), "progress-*.jsonl"))
    assert first == b'{"step": 1}\n'
    gang.wait()
    assert gang.chunks(gang.rank_folder(), "progress-*.jsonl") == b'{"step": 1}\n{"step": 2}\n'
