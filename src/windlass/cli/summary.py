"""What is said of a run when it has ended, or when somebody asks what it has got done.

Must not read anything: it is given the run and its report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.cli.table import facts
from windlass.cli.terminal import PHASE_STYLES
from windlass.cli.words import duration, number, percent, plural
from windlass.state.phases import RunPhase

if TYPE_CHECKING:
    from windlass.cli.terminal import Paint
    from windlass.controller.report import Cost, Report
    from windlass.state.model import Run

_MARKS = {RunPhase.SUCCEEDED: "✔", RunPhase.FAILED: "✘", RunPhase.STOPPED: "■"}


def summary_text(run: Run, report: Report, paint: Paint) -> str:
    """A few lines: the phase, then what was done, then what to type next."""
    end = run.ended_at if run.ended_at is not None else run.created_at
    mark = _MARKS.get(run.phase, "●")
    head = paint(f"{mark} {run.phase}", PHASE_STYLES[run.phase])
    lines = [f"{head}  {paint(run.id, 'bold')}  after {duration(end - run.created_at)}"]
    if run.phase is not RunPhase.SUCCEEDED and run.reason:
        lines[0] += f": {run.reason}"
    pairs = [*_attempts(run), *report_facts(report)]
    if pairs:
        lines.append(facts(pairs, indent="  "))
    if run.phase is RunPhase.FAILED:
        lines.append(f"  why and what to do: {paint(f'windlass explain {run.id}', 'bold')}")
    elif run.phase is RunPhase.STOPPED:
        lines.append(f"  to go on: {paint(f'windlass retry {run.id}', 'bold')}")
    return "\n".join(lines)


def _attempts(run: Run) -> list[tuple[str, str]]:
    if run.attempt <= 1:
        return []
    return [("attempts", f"{run.attempt} ({plural(run.restarts, 'restart')})")]


def report_facts(report: Report) -> list[tuple[str, str]]:
    """What a run has got done and what it cost, as names and values."""
    return [*_work_facts(report), *_cost_facts(report.cost)]


def _cost_facts(cost: Cost | None) -> list[tuple[str, str]]:
    if cost is None:
        return []
    said = [f"{cost.usd:.2f} USD"]
    if cost.race_usd:
        said.append(f"{cost.race_usd:.2f} of it for offers that were not used")
    if cost.usd_per_h:
        said.append(f"{cost.usd_per_h:.2f} an hour now")
    return [("cost", ", ".join(said))]


def _work_facts(report: Report) -> list[tuple[str, str]]:
    if report.steps is None:
        return []
    of = f" of {report.steps_total}" if report.steps_total else ""
    each = f", {duration_of_step(report.step_s)} each" if report.step_s is not None else ""
    pairs = [("steps", f"{report.steps}{of}{each}")]
    pairs += [(name, number(value)) for name, value in report.metrics.items()]
    if report.saved_step is not None:
        pairs.append(("checkpoint", f"step {report.saved_step}"))
    if report.losses:
        where = ", ".join(f"{loss.steps} in attempt {loss.attempt}" for loss in report.losses[:5])
        lost_s = report.seconds_lost
        took = "" if lost_s is None else f", {duration(lost_s)}"
        pairs.append(("work lost", f"{plural(report.steps_lost, 'step')}{took} ({where})"))
    elif report.restarts:
        pairs.append(("work lost", "none"))
    if report.goodput is not None:
        of_s = f"{duration(report.useful_s)} of {duration(report.wall_s)}"
        pairs.append(("goodput", f"{percent(report.goodput)} ({of_s})"))
    return pairs


def duration_of_step(seconds: float) -> str:
    """Steps are often far shorter than a second."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s"
