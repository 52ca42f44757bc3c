"""Whole runs for tests: `windlass run` against a twin, as a user would, with real machines.

Must not help a run: it is watched through what the command prints, and struck as a cloud strikes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from windlass.assemble import open_home
from windlass.cli.rehearsing import await_children, end_controller
from windlass.rehearsal.evidence import left_behind
from windlass.rehearsal.stage import Stage, Wish

STEPS = 100
PROGRAM = f"""
import json, os, time
STEPS = {STEPS}
from windlass.runtime import Checkpointer, leave, notice, progress
SEEN = ("MEGASCALE_", "PJRT_", "TPU_", "CLOUD_ML_", "WINDLASS_")
print(json.dumps(dict(one for one in os.environ.items() if one[0].startswith(SEEN))))
checkpoints = Checkpointer(every_s=1.0)
found = checkpoints.restore()
for step in range(found.step + 1 if found else 1, STEPS + 1):
    time.sleep(0.05)
    progress(step)
    is_leaving = notice() is not None
    if is_leaving or checkpoints.due(step) or step == STEPS:
        checkpoints.save(step, dict(step=step))
    if is_leaving:
        leave()
"""
GONE_S = 60.0


class Cloud:
    """A twin with a bucket for runs, and what a user types against it."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage = stage
        self._folder = folder
        self._env = stage.environment()
        self.said: list[dict[str, Any]] = []

    def run(
        self,
        *words: str,
        program: str = PROGRAM,
        preempt_at: int | None = None,
        watch: Callable[[dict[str, Any]], None] = lambda said: None,
        **spec: Any,
    ) -> dict[str, Any]:
        """Run the program to its end; the summary. At that step the cloud takes it all back.
        Whoever watches sees every line that is printed."""
        (self._folder / "program.py").write_text(program)
        (self._folder / "spec.yaml").write_text(json.dumps(whole_spec(**spec)))
        with self._started("run", "spec.yaml", "--json", *words) as command:
            assert command.stdout is not None
            for line in command.stdout:
                said = json.loads(line)
                self.said.append(said)
                watch(said)
                if preempt_at is not None and said.get("step", 0) >= preempt_at:
                    self._strike(said)
                    preempt_at = None
            errors = command.stderr.read() if command.stderr is not None else ""
            assert command.wait(timeout=60) == 0, (errors, self.said[-40:])
        return self.said[-1]

    def typed(self, *words: str) -> str:
        """What another command of a user prints."""
        with self._started(*words) as command:
            said, errors = command.communicate(timeout=60)
        assert command.returncode == 0, errors
        return said

    def events(self, code: str) -> list[dict[str, Any]]:
        """What happened to the run, of one kind."""
        return [one for one in self.said if one["type"] == "event" and one["code"] == code]

    def environments(self) -> dict[tuple[int, int], dict[str, str]]:
        """What each rank of each attempt was given."""
        lines = [one for one in self.said if one["type"] == "log" and one["text"].startswith("{")]
        return {(one["attempt"], one["rank"]): json.loads(one["text"]) for one in lines}

    def await_nothing(self) -> None:
        """Until neither the twin nor `windlass reap` has anything of anybody's."""
        home, deadline = open_home(path=self.stage.path), time.monotonic() + GONE_S
        while left := self._at_home(lambda: left_behind(self.stage, home)):
            assert time.monotonic() < deadline, left
            time.sleep(0.25)

    def _at_home(self, look: Callable[[], list[str]]) -> list[str]:
        """With this cloud's credentials, which are in the environment."""
        before = dict(os.environ)
        os.environ.update(self._env)
        try:
            return look()
        finally:
            os.environ.clear()
            os.environ.update(before)

    def _strike(self, said: dict[str, Any]) -> None:
        run = next(one["id"] for one in self.said if one["type"] == "run")
        self.stage.ask("POST", "/twin/v1/faults", {"preempt": f"windlass-run={run}"})

    def _started(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "windlass", *words],
            cwd=self._folder,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def whole_spec(**keys: Any) -> dict[str, Any]:
    """A spec of the program; `keys` are of the spec."""
    return {
        "name": "whole",
        "run": f"{sys.executable} program.py",
        "launch": "plain",
        "work": {"steps": STEPS},
        "checkpoint": {"every": "1s"},
        "limits": {"ttl": "30m"},
        **keys,
    }


@contextmanager
def cloud(folder: Path, **scenario: Any) -> Iterator[Cloud]:
    """A twin of its own, with everything in it ended afterwards."""
    (folder / "scenario.yaml").write_text(json.dumps(scenario))
    (folder / "home").mkdir()
    stage = Stage(folder / "home", caller=dict(os.environ))
    stage.build(Wish(scenario=folder / "scenario.yaml"))
    try:
        yield Cloud(stage, folder)
    finally:
        home = open_home(path=stage.path)
        end_controller(home)
        stage.strike()
        await_children(home)
        stage.remove()
