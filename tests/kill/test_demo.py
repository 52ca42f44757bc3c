"""The demo takes a node away from a real run, tells what it cost, and leaves nothing behind."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tree

PROGRAM = """
import time
from windlass.runtime import Checkpointer, leave, notice, progress
checkpoints = Checkpointer()
found = checkpoints.restore()
for step in range(found.step + 1 if found else 1, 101):
    progress(step, loss=3.0 / step)
    if step % 20 == 0:
        checkpoints.save(step, {"step": step})
    if notice() is not None:
        leave()
    time.sleep(0.02)
"""
SPEC = """
name: demo
run: {python} program.py
launch: plain
resources: {{nodes: 2, cpus: 0.1}}
work: {{steps: 100}}
"""


@pytest.fixture
def demo(tmp_path: Path):
    """The demo, started with a program that needs no framework."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "program.py").write_text(PROGRAM)
    spec = tmp_path / "source" / "spec.yaml"
    spec.write_text(SPEC.format(python=shlex.quote(sys.executable)))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, str(tree.ROOT / "scripts" / "demo.py"), "--spec", str(spec)]
    env = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as started:
        yield started, temporary
        started.kill()


def test_demo_loses_a_node_and_tells_what_it_cost(demo):
    started, temporary = demo
    said, _ = started.communicate(timeout=120)
    assert started.returncode == 0, said
    lines = [line.split(maxsplit=1) for line in said.splitlines()]
    facts = {line[0]: line[1] for line in lines if len(line) == 2}
    assert said.count("demo: node 1 is killed at step") == 1
    assert "windlass: node 1 was lost" in said
    assert facts["trained"] == "100 steps, loss 3.00 to 0.03"
    assert facts["restarts"] == "1, without being asked"
    assert "\x1b" not in said and "Traceback" not in said
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_interrupted_demo_leaves_nothing_behind(demo, number: signal.Signals):
    started, temporary = demo
    assert started.stdout is not None
    for line in started.stdout:
        if "is running" in line:
            break
    time.sleep(0.2)
    started.send_signal(number)
    said, _ = started.communicate(timeout=120)
    assert started.returncode == 130, said
    assert "stopping the run" in said
    assert list(temporary.iterdir()) == []


def test_demo_whose_reader_leaves_cleans_up(demo):
    """`make demo | head -1`."""
    started, temporary = demo
    assert started.stdout is not None
    started.stdout.readline()
    started.stdout.close()
    started.wait(timeout=120)
    assert list(temporary.iterdir()) == []
