"""A thousand runs of `true`: how fast they are taken, how fast they are done, and what the
controller uses for it.

The baseline is Python starting `true`, as often at once as the machine has processors.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from clocks import PYTHON, environment
from figures import Figure, Result
from usage import Usage, controller_of, usage_of

from windlass.assemble import Home
from windlass.spec.load import load_spec
from windlass.state.phases import ENDED_RUNS, RunPhase

RUNS = int(os.environ.get("BENCH_RUNS", "1000"))
BASELINE_RUNS = 100
LIMIT_S = 170.0
LOOK_S = 0.2
LIVE = [phase for phase in RunPhase if phase not in ENDED_RUNS]
SUBPROCESS = "import subprocess; subprocess.run(['true'], check=True)"


def measure() -> Result:
    """Queue all of them from one process, then wait until none is left."""
    with tempfile.TemporaryDirectory(prefix="windlass-bench-") as folder:
        project = Path(folder, "project")
        project.mkdir()
        spec = project / "tiny.yaml"
        spec.write_text('name: tiny\nrun: "true"\n')
        env = environment(Path(folder, "home"))
        before = baseline_rate(env)
        home = Home(Path(folder, "home"), caller=env)
        home.path.mkdir()
        with controller_of(home.path):
            begun = time.perf_counter()
            queued_s = _submit(home, spec)
            used = _wait(home, begun + LIMIT_S)
            all_s = time.perf_counter() - begun
        _check(home)
        after = baseline_rate(env)
    return _result(queued_s, all_s, used, (before + after) / 2)


def baseline_rate(env: dict[str, str]) -> float:
    """Python programs a second that start `true`, one for each processor at once."""
    at_once = len(os.sched_getaffinity(0))
    begun = time.perf_counter()
    for _ in range(BASELINE_RUNS // at_once):
        children = [subprocess.Popen((PYTHON, "-c", SUBPROCESS), env=env) for _ in range(at_once)]
        for child in children:
            child.wait()
    return BASELINE_RUNS / (time.perf_counter() - begun)


def _submit(home: Home, path: Path) -> float:
    spec = load_spec(path)
    begun = time.perf_counter()
    for _ in range(RUNS):
        home.submit(path, spec)
    return time.perf_counter() - begun


def _wait(home: Home, until: float) -> Usage:
    """Until no run is live; what the controller had used when it was last seen at work."""
    while home.store().list_runs(phases=LIVE, limit=1):
        if time.perf_counter() > until:
            left = len(home.store().list_runs(phases=LIVE, limit=RUNS))
            raise SystemExit(f"{left} of {RUNS} runs had not ended after {LIMIT_S:.0f} s")
        time.sleep(LOOK_S)
    pid = home.presence.process_id()
    assert pid is not None, "a controller stays for a while after the last run"
    return usage_of(pid)


def _check(home: Home) -> None:
    phases = [run.phase for run in home.store().list_runs(limit=RUNS + 1)]
    if phases != [RunPhase.SUCCEEDED] * RUNS:
        raise SystemExit(f"of {RUNS} runs {phases.count(RunPhase.SUCCEEDED)} succeeded")


def _result(queued_s: float, all_s: float, used: Usage, baseline: float) -> Result:
    rate = RUNS / all_s
    return Result(
        title=f"{RUNS:,} runs of `true`, queued at once",
        baseline="time for each of as many Python programs that start `true` themselves",
        limit=(
            "about 1.5 x: an agent is a Python that stays until its ranks have ended, forks once "
            "and starts a shell; everything else could overlap with other runs"
        ),
        peers="Ray, with workers that stay: 1,150 tasks a second (2026-11-15)",
        figures=(
            Figure(name="python, subprocess", value=baseline, unit="/s", ratio=1.0),
            Figure(
                name="runs done, from first submit",
                value=rate,
                unit="/s",
                ratio=baseline / rate,
                note="all succeeded",
            ),
            Figure(name="runs queued", value=RUNS / queued_s, unit="/s"),
            Figure(name="controller, peak memory", value=used.peak_mib, unit="MiB"),
            Figure(
                name="controller, processor time a run", value=used.cpu_s / RUNS * 1e3, unit="ms"
            ),
            Figure(
                name="agents, processor time a run",
                value=used.children_cpu_s / RUNS * 1e3,
                unit="ms",
            ),
        ),
    )
