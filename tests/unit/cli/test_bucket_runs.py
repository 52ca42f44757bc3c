"""Runs whose folder is in a bucket, over a real controller, real agents and the twin's storage."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from faulty_twin import FaultyTwin
from windlass.assemble import open_home
from windlass.twin.server.variables import applied, variables

BUCKET = "runs-of-tests"
WINDLASS = [sys.executable, "-m", "windlass"]
TRAIN = """
import time
import numpy as np
from windlass.runtime import Checkpointer, progress
checkpoints = Checkpointer(every_s=0.5)
found = checkpoints.restore()
step = found.step if found else 0
print("begun at", step, "in", checkpoints.folder, flush=True)
while step < 20:
    step += 1
    time.sleep(0.1)
    print("said at", time.time(), flush=True)
    progress(step, loss=1.0 / step)
    if checkpoints.due(step):
        checkpoints.save(step, {"w": np.full(10, step)})
    if step == 10 and not found:
        raise SystemExit(75)
"""


class Home:
    """A home whose run folders are in the bucket of a twin."""

    def __init__(self, root: Path, twin: FaultyTwin) -> None:
        self.twin = twin
        self.work = root / "work"
        self.work.mkdir()
        (self.work / "train.py").write_text(TRAIN)
        path = Path(os.environ["WINDLASS_HOME"])
        path.mkdir(parents=True)
        (path / "config.yaml").write_text(f"run_folder: gs://{BUCKET}/home\n")
        made = twin.ask("POST", "/storage/v1/b?project=twin-project", {"name": BUCKET})
        assert made.status in (200, 409), made.content
        found = variables(twin.home, twin.home.running(), mode="proxy", caller=os.environ)
        self.environment = applied(os.environ, found)

    def command(self, *words: str) -> list[str]:
        return [*WINDLASS, *words]

    def call(self, *words: str, timeout_s: float = 60.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            env=self.environment,
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )

    def spec(self, run: str, **keys: object) -> str:
        (self.work / "spec.yaml").write_text(json.dumps({"name": "r", "run": run, **keys}))
        return "spec.yaml"


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyTwin]:
    twin = FaultyTwin.start(tmp_path_factory.mktemp("twin"))
    yield twin
    twin.stop()


@pytest.fixture
def home(tmp_path: Path, twin: FaultyTwin) -> Iterator[Home]:
    yield Home(tmp_path, twin)
    opened = open_home()
    controller = opened.presence.process_id()
    if controller is not None:
        os.kill(controller, signal.SIGTERM)
    while opened.is_controller_alive():
        time.sleep(0.02)
    twin.clear()
    for name in names_in(twin):
        twin.ask("DELETE", f"/storage/v1/b/{BUCKET}/o/{quote(name, safe='')}")


def test_a_run_over_a_bucket_is_watched_preempted_resumed_shown_and_removed(
    home: Home, record_property: pytest.RecordProperty
) -> None:
    command = home.command("run", "--on", "local", home.spec(f"{sys.executable} train.py"))
    lateness, lines = [], []
    with subprocess.Popen(
        command, env=home.environment, cwd=home.work, stdout=subprocess.PIPE, text=True
    ) as watched:
        assert watched.stdout is not None
        for line in watched.stdout:
            lines.append(line)
            if line.startswith("said at"):
                lateness.append(time.time() - float(line.split()[2]))
    assert watched.returncode == 0
    record_property("longest wait of a line from rank to screen, s", round(max(lateness), 2))
    assert max(lateness) < 5.0
    begun = [line.split() for line in lines if line.startswith("begun")]
    assert [int(words[2]) > 0 for words in begun] == [False, True], "resumed from the bucket"
    (run,) = json.loads(home.call("ps", "--all", "--json").stdout)
    url = f"gs://{BUCKET}/home/runs/{run['id']}"
    assert begun[0][4] == f"{url}/checkpoints"
    shown = json.loads(home.call("show", run["id"], "--json").stdout)
    assert shown["folder"] == url and len(shown["attempts"]) == 2
    assert home.call("logs", run["id"]).stdout == "".join(lines)
    assert any("/checkpoints/" in name for name in names_in(home.twin))
    assert home.call("rm", run["id"]).returncode == 0
    assert names_in(home.twin) == []


def test_a_command_runs_beside_the_ranks(home: Home) -> None:
    done = home.call("run", "--on", "local", "--detach", home.spec("sleep 100"))
    assert done.returncode == 0, done.stderr
    run_id = done.stdout.strip()
    deadline = time.monotonic() + 20
    while True:
        said = home.call("exec", run_id, "--", "echo", "hi there")
        if said.returncode == 0 or time.monotonic() > deadline:
            break
    assert said.stdout == "hi there\n", said.stderr
    assert home.call("stop", run_id, "--now").returncode == 0


def test_a_run_on_the_twin_is_not_asked_about_at_google(home: Home) -> None:
    submitted = home.call("run", "--on", "local", "--detach", home.spec("sleep 100"))
    assert submitted.returncode == 0, submitted.stderr
    run_id = submitted.stdout.strip()
    inside, home.environment = home.environment, dict(os.environ)
    told = json.loads(home.call("explain", run_id, "--json").stdout)
    assert told["run"]["cloud"] == f"twin:{home.twin.home.path.resolve()}"
    assert told["next_commands"] == [f"windlass twin exec -- windlass explain {run_id}"]
    refused = home.call("stop", run_id)
    assert (refused.returncode, "error[run-elsewhere]" in refused.stderr) == (3, True)
    home.environment = inside
    assert home.call("stop", run_id, "--now").returncode == 0


def test_a_bad_network_is_no_matter(home: Home) -> None:
    for kind in ("lost-reply", "lost-request"):
        home.twin.fault(kind=kind, method="storage.*", share=0.1)
    done = home.call("run", "--on", "local", home.spec("for i in 1 2 3; do echo $i; sleep 1; done"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\n2\n3\n"


def test_a_bucket_that_is_not_there_is_named_before_anything_is_made(home: Home) -> None:
    config = Path(os.environ["WINDLASS_HOME"], "config.yaml")
    config.write_text("run_folder: gs://no-such-bucket-here/home\n")
    done = home.call("run", "--on", "local", home.spec("true"))
    assert done.returncode == 3
    assert "error[folder-unreachable]" in done.stderr and "no-such-bucket-here" in done.stderr
    assert json.loads(home.call("ps", "--all", "--json").stdout) == []


def names_in(twin: FaultyTwin) -> list[str]:
    page = twin.ask("GET", f"/storage/v1/b/{BUCKET}/o").document
    return [item["name"] for item in page.get("items", ())]
