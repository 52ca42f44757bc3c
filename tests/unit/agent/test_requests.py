"""Commands that people ask a node to run, through the run folder."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from gangs import Gang, is_alive, until
from windlass.agent import layout


@pytest.fixture
def gang(tmp_path: Path) -> Gang:
    gang = Gang(tmp_path, command="sleep 1000", notice_s=30)
    gang.secrets = {"TOKEN": "hf_abcdefgh"}
    gang.start()
    until(lambda: (gang.heartbeat() or {}).get("state") == "running")
    return gang


def where(gang: Gang, name: str) -> str:
    return f"{layout.requests(1, gang.claim, 0)}/{name}"


def ask(gang: Gang, name: str, command: str) -> None:
    gang.write(f"{where(gang, name)}/request.json", json.dumps({"command": command, "time": 1.0}))


def answer(gang: Gang, name: str) -> tuple[int, str]:
    said = until(lambda: gang.read(f"{where(gang, name)}/exit.json"), what=f"no answer to {name}")
    return said["status"], gang.chunks(where(gang, name)).decode()


def stop(gang: Gang) -> None:
    gang.signal(signal.SIGUSR1)
    gang.wait()


def test_a_command_runs_where_the_rank_runs_with_its_environment(gang: Gang) -> None:
    ask(gang, "a", 'printf "%s %s\\n" $WINDLASS_RANK $TOKEN; pwd; echo oops >&2; exit 7')
    status, text = answer(gang, "a")
    assert status == 7
    assert text == f"0 ***\n{gang.root}/work of node 0/empty/src\noops\n"
    stop(gang)


def test_each_request_runs_once_and_eight_at_a_time(gang: Gang) -> None:
    for number in range(20):
        ask(gang, f"r{number:02}", "echo $$ >> ../../ran; sleep 0.1")
    for number in range(20):
        assert answer(gang, f"r{number:02}") == (0, "")
    stop(gang)
    assert len((gang.root / "work of node 0" / "ran").read_text().split()) == 20


def test_a_request_that_was_taken_before_is_not_run_again(gang: Gang) -> None:
    gang.write(f"{where(gang, 'a')}/taken.json", "{}")
    ask(gang, "a", "touch ../../ran")
    ask(gang, "b", "true")
    assert answer(gang, "b") == (0, "")
    stop(gang)
    assert not (gang.root / "work of node 0" / "ran").exists()


def test_a_cancelled_request_is_killed_with_what_it_started(gang: Gang) -> None:
    ask(gang, "a", "setsid sleep 1000 & echo $!; sleep 1000")
    child = int(until(lambda: gang.chunks(where(gang, "a"))))
    gang.write(f"{where(gang, 'a')}/cancel.json", "{}")
    status, _ = answer(gang, "a")
    assert status == -signal.SIGKILL
    until(lambda: not is_alive(child))
    stop(gang)


def test_a_request_that_makes_no_sense_is_answered(gang: Gang) -> None:
    gang.write(f"{where(gang, 'a')}/request.json", '{"time": 1}')
    gang.write(f"{where(gang, 'b')}/request.json", "not json")
    assert answer(gang, "a")[0] == 126
    assert answer(gang, "b")[0] == 126
    stop(gang)


def test_a_request_does_not_hold_up_the_end_of_the_node(gang: Gang) -> None:
    ask(gang, "a", "trap '' TERM; echo up; while :; do sleep 0.1; done")
    until(lambda: gang.chunks(where(gang, "a")))
    gang.signal(signal.SIGTERM)
    gang.wait(10)
    assert answer(gang, "a") == (-signal.SIGKILL, "up\n")
    said = gang.exit()
    assert said is not None and said["outcome"] == "preempted"
