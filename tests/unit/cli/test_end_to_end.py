"""The command line over a real controller, real agents and real processes."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from windlass.assemble import open_home

WINDLASS = [sys.executable, "-m", "windlass"]
LONG = "i=0; while true; do i=$((i+1)); echo line $i; sleep 0.05; done"


class Machine:
    """Calls commands as processes, with a home and a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def spec(self, name: str, run: str, **keys: object) -> str:
        """Write a spec; JSON is YAML too."""
        path = self.folder / "spéc file.yaml"
        path.write_text(json.dumps({"name": name, "run": run, **keys}), encoding="utf-8")
        return str(path)

    def call(self, *arguments: str, timeout_s: float = 40.0, **env: str):
        return subprocess.run(
            [*WINDLASS, *arguments],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env={**os.environ, **env},
        )

    def start(self, name: str, run: str, **keys: object) -> str:
        """Submit and wait until it runs; the run's id."""
        done = self.call("run", "--detach", self.spec(name, run, **keys))
        assert done.returncode == 0, done.stderr
        run_id = done.stdout.strip()
        self.wait_for(run_id, "running")
        return run_id

    def wait_for(self, run_id: str, phase: str) -> None:
        store = open_home().store()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            run = store.get_run(run_id)
            if run is not None and run.phase == phase:
                store.close()
                return
            time.sleep(0.02)
        pytest.fail(f"{run_id} did not become {phase}: {run}")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    yield Machine(tmp_path)
    home = open_home()
    Machine(tmp_path).call("stop", "--all", "--now")
    controller = home.presence.process_id()
    if controller is not None:
        os.kill(controller, signal.SIGTERM)
    while home.is_controller_alive():
        time.sleep(0.02)


def test_a_run_is_carried_out_and_watched(machine):
    done = machine.call("run", machine.spec("Grüße aus 東京", "echo 'hällo  wörld'; echo two >&2"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "hällo  wörld\ntwo\n"
    assert done.stderr.startswith("plan: engine local, nothing to rent\n")
    assert "windlass: attempt 1 is running\n" in done.stderr
    assert "✔ succeeded  " in done.stderr
    (run,) = json.loads(machine.call("ps", "--all", "--json").stdout)
    assert (run["name"], run["phase"]) == ("Grüße aus 東京", "succeeded")


def test_a_failure_is_told_explained_and_retried(machine):
    spec = machine.spec("fails", 'echo "have $FLAG"; exit $FLAG', env={"FLAG": "3"})
    done = machine.call("run", spec)
    assert done.returncode == 1
    assert "windlass explain fails-" in done.stderr
    assert "exit status 3" in machine.call("explain", "fails").stdout
    again = machine.call("retry", "fails")
    assert (again.returncode, again.stdout) == (1, "have 3\n")
    shown = json.loads(machine.call("show", "fails", "--json").stdout)
    assert [attempt["exit_status"] for attempt in shown["attempts"]] == [3, 3]
    assert machine.call("logs", "fails").stdout == "have 3\nhave 3\n"
    assert machine.call("rm", "fails").returncode == 0
    assert machine.call("show", "fails").returncode == 2


def test_options_of_run_reach_the_ranks(machine):
    spec = machine.spec("x", 'echo "$A $WINDLASS_RUN"', env={"A": "1"})
    done = machine.call("run", spec, "--name", "other name", "--env", "A=ü =2", "--json")
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert (documents[0]["type"], documents[0]["is_rented"]) == ("plan", False)
    (line,) = [document for document in documents if document["type"] == "log"]
    assert line["text"] == f"ü =2 {documents[-1]['id']}"
    assert documents[-1]["type"] == "summary"
    assert (documents[-1]["name"], documents[-1]["phase"]) == ("other name", "succeeded")


REPORTS = """\
import time, windlass.runtime
for step in range(1, 6):
    windlass.runtime.progress(step)
    time.sleep(0.02)
"""


def test_what_a_run_will_cost_and_how_fast_it_went_is_kept(machine):
    (machine.folder / "steps.py").write_text(REPORTS)
    run = f"{sys.executable} steps.py"
    resources = {"accelerators": "L4:1"}
    spec = machine.spec("steps", run, resources=resources, work={"params": 1e9, "tokens": 1e9})
    quiet = machine.call("run", "--no-plan", "--emulate", spec)
    assert "plan:" not in quiet.stderr
    done = machine.call("run", "--detach", "--emulate", "--json", spec)
    document = json.loads(done.stdout)
    assert document["plan"]["cloud"]["candidates"][0]["accelerator"] == "L4"
    machine.wait_for(document["id"], "succeeded")
    shown = json.loads(machine.call("show", document["id"], "--json").stdout)
    (attempt,), (claim,) = shown["attempts"], shown["claims"]
    assert attempt["step_s"] == pytest.approx(shown["report"]["step_s"])
    assert attempt["step_s"] >= 0.02
    assert (claim["offer"], claim["nodes"]) == (None, 1)
    assert claim["accelerators"] is None, "what was measured on a CPU says nothing of an L4"


def test_the_next_plan_knows_how_fast_the_last_run_went(machine):
    tools = machine.folder / "tools"
    tools.mkdir()
    driver = tools / "nvidia-smi"
    driver.write_text("#!/bin/sh\necho '0, NVIDIA L4, 23034'\n")
    driver.chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    (machine.folder / "steps.py").write_text(REPORTS)
    reference = {"accelerators": "A100-80:8", "step_seconds": 60}
    work = {"steps": 1000, "reference": reference}
    on = {"accelerators": "L4:1"}
    spec = machine.spec("steps", f"{sys.executable} steps.py", resources=on, work=work)
    before = json.loads(machine.call("plan", spec, "--json").stdout)
    done = machine.call("run", spec, PATH=path)
    assert done.returncode == 0, done.stderr
    after = json.loads(machine.call("plan", spec, "--json").stdout)
    assert before["history"] == []
    (step,) = after["history"]
    assert step["source"] == "your own runs: on 1 x L4:1"
    alone = next(one for one in after["candidates"] if one["chips"] == 1)
    assert alone["seconds"]["useful"] == pytest.approx(1000 * step["value"], rel=1e-3)
    shown = json.loads(machine.call("show", "steps", "--json").stdout)
    assert step["value"] == pytest.approx(shown["attempts"][0]["step_s"], rel=1e-5)


def test_a_gang_is_watched_followed_entered_and_stopped(machine):
    run_id = machine.start("gang", LONG, resources={"nodes": 2})
    follow = subprocess.Popen([*WINDLASS, "logs", "-f", run_id], stdout=subprocess.PIPE, text=True)
    where = machine.call(
        "exec", run_id, "--node", "1", "--", "sh", "-c", "echo $WINDLASS_NODE; exit 9"
    )
    assert (where.returncode, where.stdout) == (9, "1\n")
    one_word = machine.call("exec", run_id, "--json", "--", "echo a b | wc -w")
    assert json.loads(one_word.stdout)["output"].strip() == "2"
    stopped = machine.call("stop", run_id)
    assert (stopped.returncode, stopped.stdout) == (0, f"{run_id} stopped\n")
    text, _ = follow.communicate(timeout=20)
    assert "0/0 | line 1\n" in text
    assert "1/1 | line 1\n" in text
    attached = machine.call("attach", run_id)
    assert attached.returncode == 7
    assert f"windlass retry {run_id}" in attached.stderr
    codes = [
        json.loads(line)["code"]
        for line in machine.call("events", run_id, "--json").stdout.splitlines()
    ]
    assert codes[0] == "submitted"
    assert "stop-asked" in codes


def test_a_run_goes_on_after_its_watcher_is_interrupted(machine):
    command = [*WINDLASS, "run", machine.spec("steady", LONG)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline() == "line 1\n"
        watcher.send_signal(signal.SIGINT)
        _, said = watcher.communicate(timeout=20)
    assert watcher.returncode == 130
    assert "goes on" in said and "windlass attach steady-" in said
    (run,) = json.loads(machine.call("ps", "--json").stdout)
    assert run["phase"] == "running"


def test_exec_is_cancelled_by_an_interrupt_and_the_run_goes_on(machine):
    run_id = machine.start("host", LONG)
    command = [*WINDLASS, "exec", run_id, "--", "echo up; sleep 60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as asked:
        assert asked.stdout is not None
        assert asked.stdout.readline() == "up\n"
        asked.send_signal(signal.SIGINT)
        asked.communicate(timeout=20)
    assert asked.returncode != 0
    (run,) = json.loads(machine.call("ps", "--json").stdout)
    assert run["phase"] == "running"


def test_secrets_are_taken_from_the_environment_again_on_retry(machine):
    spec = machine.spec("secretive", 'test "$TOKEN" = second', secrets=["TOKEN"])
    missing = machine.call("run", spec)
    assert missing.returncode == 3
    assert machine.call("run", spec, TOKEN="first").returncode == 1
    assert machine.call("retry", "secretive").returncode == 3
    assert machine.call("retry", "secretive", TOKEN="second").returncode == 0


def test_a_dead_controller_is_replaced_while_somebody_watches(machine):
    spec = machine.spec("watched", "echo up; sleep 3; echo done")
    command = [*WINDLASS, "run", spec]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline() == "up\n"
        controller = open_home().presence.process_id()
        assert controller is not None
        os.kill(controller, signal.SIGKILL)
        text, _ = watcher.communicate(timeout=30)
    assert (watcher.returncode, text) == (0, "done\n")


class Terminal:
    """A command with a terminal of its own."""

    def __init__(self, arguments: list[str]) -> None:
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(sys.executable, [*WINDLASS, *arguments])
        self.text = ""

    def until(self, wanted: str, timeout_s: float = 30.0) -> None:
        """Read until the text was shown."""
        end = time.monotonic() + timeout_s
        while wanted not in self.text:
            ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{wanted!r} was not shown: {self.text!r}"
            self.text += os.read(self._master, 65536).decode("utf-8", "replace")

    def type(self, text: str) -> None:
        """Press keys."""
        self.text = ""
        os.write(self._master, text.encode())

    def status(self) -> int:
        """Wait for the end; the exit status."""
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                break
            if not data:
                break
            self.text += data.decode("utf-8", "replace")
        os.close(self._master)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


CTRL_C = "\x03"


@pytest.mark.parametrize(
    ("keys", "status", "phase"),
    [
        pytest.param(["d\n"], 130, "running", id="detach"),
        pytest.param([CTRL_C], 130, "running", id="a second Ctrl-C detaches"),
        pytest.param(["s\n"], 7, "stopped", id="stop"),
        pytest.param(["huh\n", "c\n", CTRL_C, "d\n"], 130, "running", id="continue, then detach"),
    ],
)
def test_ctrl_c_asks_and_never_hurts_the_run(machine, keys, status, phase):
    terminal = Terminal(["run", machine.spec("asked", LONG)])
    terminal.until("line 9")
    terminal.until("running")  # The line below the logs is drawn.
    terminal.type(CTRL_C)
    for key in keys:
        terminal.until("line" if key == CTRL_C and len(keys) > 1 else "[d/s/c]")
        terminal.type(key)
    assert terminal.status() == status
    (run,) = json.loads(machine.call("ps", "--all", "--json").stdout)
    assert run["phase"] == phase
    if phase == "running":
        assert "goes on" in terminal.text
