"""Rehearsals for tests: a program without a framework, real machines, a private twin.

Must not be slower than it has to: most of the time is a twin that comes up and goes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from windlass.twin.machines.machines import Machines

PROGRAM = """
import time
from windlass.runtime import Checkpointer, leave, notice, progress
checkpoints = Checkpointer(every_s=1.0)
found = checkpoints.restore()
for step in range(found.step + 1 if found else 1, {steps} + 1):
    time.sleep(0.05)
    progress(step, loss=3.0 / step)
    is_leaving = notice() is not None
    if is_leaving or checkpoints.due(step) or step == {steps}:
        checkpoints.save(step, {{"step": step}})
    if is_leaving:
        leave()
"""
SPEC = {
    "name": "rehearsed",
    "run": f"{sys.executable} program.py",
    "launch": "plain",
    "resources": {"nodes": 1, "machine": "g2-standard-4"},
    "where": {"regions": ["us-central1", "us-east1"], "buy": ["spot"]},
    "checkpoint": {"every": "1s"},
    "limits": {"ttl": "30m"},
}


def command(folder: Path, scenario: dict[str, Any], *words: str, steps: int, **keys: Any) -> list:
    """A rehearsal of so many steps of 50 ms; `keys` are of the spec."""
    folder.mkdir(parents=True, exist_ok=True)
    work = {"steps": steps, "reference": {"accelerators": "L4", "step_seconds": 0.05}}
    (folder / "program.py").write_text(PROGRAM.format(steps=steps))
    (folder / "spec.yaml").write_text(json.dumps({**SPEC, "work": work, **keys}))
    (folder / "scenario.yaml").write_text(json.dumps(scenario))
    called = [sys.executable, "-m", "windlass", "rehearse", "spec.yaml"]
    return [*called, "--scenario", "scenario.yaml", *words]


def rehearsed(
    folder: Path, scenario: dict[str, Any], *words: str, steps: int = 160, **keys: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What came of it, and everything that was said on the way."""
    done = subprocess.run(
        command(folder, scenario, *words, "--json", steps=steps, **keys),
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    said = [json.loads(line) for line in done.stdout.splitlines()]
    return said[-1], said


def environment(folder: Path) -> dict[str, str]:
    """Where what it leaves behind would be found."""
    temporary = folder / "t"
    temporary.mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(temporary)}


@pytest.fixture(scope="session")
def real_machines(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips where the twin cannot have any."""
    refusal = Machines(tmp_path_factory.mktemp("probe")).refusal()
    if refusal is not None:
        pytest.skip(refusal)
