"""`make demo`: trains a small model on two machines that are taken away, and shows what it cost.

It is `windlass rehearse`: spot machines of a Google Cloud on this machine, a zone without any, and
a preemption. Where the machine has no namespaces, or a spec is named, it is `windlass run` in a
home of its own, on this machine's own nodes, and one of them is killed.

Must not help the run in any way. Nothing of it is left behind, unless `--keep` says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from windlass.agent import layout, processes
from windlass.assemble import Home, open_home
from windlass.cli.terminal import Paint
from windlass.controller.progress import ProgressFollower, Record, read_records

if TYPE_CHECKING:
    from windlass.state.model import Run

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "pretrain"
SPEC = EXAMPLE / "train.yaml"
PREEMPT_AT = "40"
STRIKE_AT = 0.45
"""The part of the steps after which the node is taken away."""
LOOK_S = 0.05
END_S = 20.0


def main() -> int:
    """The exit status: 0 when the node was lost and the run succeeded all the same."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="keep the home folder of the demo")
    parser.add_argument("--local", action="store_true", help="kill a node of this machine instead")
    parser.add_argument("--spec", type=Path, help="run this spec instead, on this machine's nodes")
    options = parser.parse_args()
    if not options.local and options.spec is None:
        refusal = machines_refusal()
        if refusal is None:
            return rehearse(keep=options.keep)
        say(f"Nothing is rehearsed here: {refusal}. A node of this machine is killed instead.\n")
    # A terminal that is closed, or a `kill`, must not leave a training behind.
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        with private_home(keep=options.keep) as path:
            return show(path, options.spec or SPEC)
    except KeyboardInterrupt:
        return 130


def machines_refusal() -> str | None:
    """Why the twin cannot have real machines here; None when it can."""
    from windlass.twin.machines.machines import Machines

    path = Path(tempfile.mkdtemp(prefix="windlass-demo-"))
    try:
        return Machines(path).refusal()
    finally:
        shutil.rmtree(path, ignore_errors=True)


def rehearse(*, keep: bool) -> int:
    """The same as by hand."""
    from windlass.cli.main import run

    use_this_python()
    words = ["rehearse", os.path.relpath(EXAMPLE / "rented.yaml")]
    words += ["--scenario", os.path.relpath(EXAMPLE / "storm.yaml"), "--preempt-at", PREEMPT_AT]
    say(Paint(sys.stdout)(f"$ windlass {' '.join(words)}", "bold"))
    return run([*words, "--keep"] if keep else words)


def use_this_python() -> None:
    """The specs say `python`: the one that has JAX, whether its environment is active or not."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def show(path: Path, spec: Path) -> int:
    """Run it, take a node away, and tell what happened."""
    from windlass.cli.main import run

    paint = Paint(sys.stdout)
    say(paint(f"$ windlass run {os.path.relpath(spec)}", "bold"))
    thief = Thief(path, paint)
    thief.start()
    status = run(["run", str(spec)])
    thief.is_over = True
    thief.join()
    if status != 0:
        return status
    if thief.took_at is None:
        say("The run was over before a node could be taken away.")
        return 1
    say("\n" + summary(open_home(path=path), thief.took_at, paint))
    return 0


def say(text: str) -> None:
    """Print a line; while a progress bar is drawn, stdout puts it above. Whoever reads it may have
    gone (`| head`), which must not keep anything from being cleaned up."""
    with suppress(BrokenPipeError):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


# ---- the home ------------------------------------------------------------------------------------


@contextmanager
def private_home(*, keep: bool) -> Iterator[Path]:
    """A home folder for this demo alone, with nothing alive in it afterwards."""
    path = Path(tempfile.mkdtemp(prefix="windlass-demo-"))
    os.environ["WINDLASS_HOME"] = str(path)
    use_this_python()
    try:
        yield path
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        end_everything(open_home(path=path))
        if keep:
            say(f"Everything is kept in {path}; look with `WINDLASS_HOME={path} windlass ps -a`.")
        else:
            shutil.rmtree(path, ignore_errors=True)


def end_everything(home: Home) -> None:
    """End a run that was interrupted, then the controller."""
    from windlass.cli.intents import stop_run
    from windlass.cli.rehearsing import await_children, end_controller

    deadline = time.monotonic() + END_S
    if home.store().live():
        say("The demo leaves nothing behind: stopping the run.")
    while home.store().live() and time.monotonic() < deadline:
        for state in home.store().live():
            stop_run(home, state.run, is_urgent=True)
        time.sleep(0.2)
    end_controller(home)
    await_children(home)
    home.store().close()


# ---- the loss of a node --------------------------------------------------------------------------


class Thief(threading.Thread):
    """Waits until there is something to lose, then takes node 1 away."""

    def __init__(self, home: Path, paint: Paint) -> None:
        super().__init__(daemon=True)
        self._home = home
        self._paint = paint
        self.is_over = False
        self.took_at: float | None = None

    def run(self) -> None:
        """See Thread. It has a store of its own: one belongs to one thread."""
        home = open_home(path=self._home)
        try:
            run = self._wait_for_run(home)
            if run is not None:
                self._watch(home, run)
        finally:
            home.store().close()

    def _wait_for_run(self, home: Home) -> Run | None:
        while not self.is_over:
            for run in home.store().list_runs(limit=1):
                return run
            time.sleep(LOOK_S)
        return None

    def _watch(self, home: Home, run: Run) -> None:
        from windlass.cli.attach import steps_of

        wanted = STRIKE_AT * (steps_of(run) or 0)
        follower = ProgressFollower(home.folder(run.id))
        saved: Record | None = None
        while not self.is_over:
            for record in follower.fresh(1):
                if record.event == "saved":
                    saved = record
                elif saved is not None and record.step >= wanted and record.step > saved.step:
                    self._take_node(home, run, now=record, saved=saved)
                    return
            time.sleep(LOOK_S)

    def _take_node(self, home: Home, run: Run, *, now: Record, saved: Record) -> None:
        """SIGKILL to everything on node 1, as if its power was cut."""
        beat = home.folder(run.id).read(layout.heartbeat(1, f"{run.id}-1-0", 1))
        living = processes.snapshot()
        agent = living.get(json.loads(beat)["pid"]) if beat else None
        if agent is None:
            return  # It has ended at this very moment.
        # The agent's parent is the first process of the node: everything else descends from it.
        doomed = [living[agent.parent], *processes.descendants(agent.parent, living=living)]
        self.took_at = time.time()
        for process in doomed:
            processes.send(process, signal.SIGKILL)
        said = f"demo: node 1 is killed at step {now.step}; the last checkpoint is of {saved.step}"
        say(self._paint(said, "bold yellow"))


# ---- what came of it -----------------------------------------------------------------------------


def summary(home: Home, took_at: float, paint: Paint) -> str:
    """What was trained and what the loss of a node has cost."""
    from windlass.cli.attach import report_of
    from windlass.cli.table import facts
    from windlass.cli.words import duration, percent, plural

    run = home.store().list_runs(limit=1)[0]
    first, *_ = home.store().list_attempts(run.id)
    records = read_records(home.folder(run.id), run.attempt)
    report = report_of(home, run)
    losses = [record.metrics["loss"] for record in records if "loss" in record.metrics]
    again = next((r.time for r in records if r.attempt > 1 and not r.event and r.time), None)
    lost_s = report.steps_lost * (report.step_s or 0.0)
    pairs = [
        ("trained", f"{report.steps} steps, loss {losses[0]:.2f} to {losses[-1]:.2f}"),
        ("restarts", f"{report.restarts}, without being asked"),
        ("noticed", f"{duration((first.ended_at or took_at) - took_at)} after the node was killed"),
        ("work lost", f"{plural(report.steps_lost, 'step')}, {duration(lost_s)} of training"),
    ]
    if again is not None:
        pairs.insert(3, ("recovered", f"{duration(again - took_at)} after, at the next step done"))
    if report.goodput is not None:
        useful, wall = duration(report.useful_s or 0.0), duration(report.wall_s or 0.0)
        pairs.append(("goodput", f"{percent(report.goodput)}: {useful} of {wall} made the model"))
    pairs.append(("in all", duration((run.ended_at or took_at) - run.created_at)))
    return f"{paint('What the demo has shown', 'bold')}\n{facts(pairs, indent='  ')}"


if __name__ == "__main__":
    sys.exit(main())
