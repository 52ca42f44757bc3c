"""Commands travel through the run's folder and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders import make_run
from folders import HandMadeFolder
from windlass.controller.commands import node_of
from windlass.errors import OptionRefused, RunNotReady
from windlass.state.phases import RunPhase

REQUESTS = "attempts/1/c1/nodes/0/exec/q7"
RUNNING = make_run(phase=RunPhase.RUNNING, attempt=1)


@pytest.fixture
def made(tmp_path: Path) -> HandMadeFolder:
    return HandMadeFolder(tmp_path / "run").win(nodes=2)


def test_a_command_is_asked_streamed_and_answered(made):
    command = node_of(made.folder, RUNNING, node=0).command("q7")
    command.ask("ls 'é'", now=5.0)
    request = json.loads(made.folder.read(f"{REQUESTS}/request.json"))
    assert request == {"command": "ls 'é'", "time": 5.0}
    assert (command.output(), command.status()) == (b"", None)
    made.folder.append(f"{REQUESTS}/log-00001.txt", b"a\n\xff")
    assert command.output() == b"a\n\xff"
    made.put(f"{REQUESTS}/exit.json", {"status": 3})
    assert (command.output(), command.status()) == (b"", 3)


def test_a_command_can_be_cancelled(made):
    node_of(made.folder, RUNNING, node=0).command("q7").cancel()
    assert made.folder.read(f"{REQUESTS}/cancel.json") is not None


@pytest.mark.parametrize(
    ("beat_at", "has_ended", "trouble"),
    [
        (None, False, "has not reported yet"),
        (95.0, False, ""),
        (50.0, False, "has not been heard of for 50 s"),
        (99.0, True, "has ended"),
    ],
)
def test_a_node_that_will_not_answer_is_known(made, beat_at, has_ended, trouble):
    if beat_at is not None:
        made.beat(beat_at, node=1)
    if has_ended:
        made.put("attempts/1/c1/nodes/1/exit.json", {"outcome": "succeeded"})
    found = node_of(made.folder, RUNNING, node=1).trouble(100.0)
    assert trouble in found if trouble else found == ""


@pytest.mark.parametrize(
    ("run", "error", "said"),
    [
        (make_run(phase=RunPhase.SUCCEEDED, attempt=1), RunNotReady, "has ended"),
        (make_run(), RunNotReady, "not up yet"),
        (make_run(phase=RunPhase.STARTING, attempt=2), RunNotReady, "not up yet"),
    ],
)
def test_a_run_without_a_gang_takes_no_command(made, run, error, said):
    with pytest.raises(error, match=said) as caught:
        node_of(made.folder, run, node=0)
    assert "windlass" in caught.value.remedy


def test_a_node_that_does_not_exist_is_refused_with_those_that_do(made):
    with pytest.raises(OptionRefused) as caught:
        node_of(made.folder, RUNNING, node=2)
    assert "nodes 0 to 1" in caught.value.remedy
