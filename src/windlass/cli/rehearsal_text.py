"""What is said of a rehearsal when it is over, for people and for programs.

Must not compute anything: the story has it all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.cli.summary import duration_of_step
from windlass.cli.table import draw, facts
from windlass.cli.terminal import PHASE_STYLES
from windlass.cli.words import duration, iso, percent, plural

if TYPE_CHECKING:
    from windlass.cli.terminal import Paint
    from windlass.rehearsal.story import Interruption, Story


def text(story: Story, paint: Paint) -> str:
    """The report."""
    run = story.run
    phase = paint(str(run.phase), PHASE_STYLES[run.phase])
    head = f"{paint('Rehearsed', 'bold')}  {run.id}  {phase}"
    if run.reason and run.phase != "succeeded":
        head += f": {run.reason}"
    return f"\n{head}\n{_forecast(story)}\n\n{facts(_facts(story), indent='  ')}"


def _forecast(story: Story) -> str:
    said = story.forecast
    header = ("", "PREDICTED P50", "P90", "HERE")
    rows = [
        ("cost", f"${said.usd_p50:.3f}", f"${said.usd_p90:.3f}", f"${story.usd:.3f}"),
        ("finish", duration(said.p50_s), duration(said.p90_s), duration(story.finish_s)),
    ]
    table = draw(header, rows, width=100, right=frozenset({1, 2, 3}))
    if not said.is_of_work:
        table += "\nThe spec does not say how much there is to do: predicted is an upper bound."
    return "\n".join(f"  {line}" for line in table.splitlines())


def _facts(story: Story) -> list[tuple[str, str]]:
    report = story.report
    pairs = [(event.code, event.details.get("offer", event.message)) for event in story.refusals]
    for one in story.interruptions:
        pairs += _interrupted(one)
    if report.steps is not None:
        of = f" of {report.steps_total}" if report.steps_total else ""
        pairs.append(("steps", f"{report.steps}{of}"))
    if story.interruptions:
        lost_s = report.seconds_lost
        took = f", {duration(lost_s)} of training" if lost_s else ""
        steps = plural(report.steps_lost, "step")
        pairs.append(("work lost", f"{steps}{took}" if report.steps_lost else "none"))
    if report.goodput is not None:
        of_s = f"{duration(report.useful_s)} of {duration(report.wall_s)}"
        pairs.append(("goodput", f"{percent(report.goodput)} ({of_s})"))
    if story.finish_s > 0:
        pairs.append(("time", _times(story)))
    pairs.append(("left behind", ", ".join(story.left) or "nothing"))
    return pairs


def _times(story: Story) -> str:
    spent = story.times
    said = {
        "finding machines": spent.finding_s,
        "starting": spent.starting_s,
        "training": spent.training_s,
        "leaving": spent.ending_s,
    }
    return ", ".join(f"{what} {duration(seconds)}" for what, seconds in said.items())


def _interrupted(one: Interruption) -> list[tuple[str, str]]:
    pairs = [(str(one.outcome), f"attempt {one.attempt} on {one.place}")]
    if one.detect_s is not None:
        pairs.append(("  told", f"{duration_of_step(one.detect_s)} after the notice was written"))
    if one.resumed_step is not None:
        pairs.append(("  resumed", f"from the checkpoint of step {one.resumed_step}"))
    if one.again_s is not None:
        since = "the notice" if one.noticed_at is not None else "its end"
        where = f", on {one.next_place}" if one.next_place else ""
        pairs.append(("  training", f"again {one.again_s:.1f} s after {since}{where}"))
    return pairs


def document(story: Story) -> dict[str, Any]:
    """The same for programs."""
    report, said = story.report, story.forecast
    return {
        "run": story.run.id,
        "phase": str(story.run.phase),
        "predicted": {
            "usd_p50": said.usd_p50,
            "usd_p90": said.usd_p90,
            "p50_s": said.p50_s,
            "p90_s": said.p90_s,
            "is_of_work": said.is_of_work,
        },
        "usd": story.usd,
        "finish_s": story.finish_s,
        "times": story.times._asdict(),
        "refusals": [
            {"code": event.code, "offer": event.details.get("offer"), "at": iso(event.at)}
            for event in story.refusals
        ],
        "interruptions": [_interruption_document(one) for one in story.interruptions],
        "steps": report.steps,
        "steps_lost": report.steps_lost,
        "seconds_lost": report.seconds_lost,
        "goodput": report.goodput,
        "left_behind": list(story.left),
    }


def _interruption_document(one: Interruption) -> dict[str, Any]:
    return {
        "attempt": one.attempt,
        "outcome": str(one.outcome),
        "offer": one.place,
        "next_offer": one.next_place or None,
        "noticed_at": iso(one.noticed_at),
        "detect_s": one.detect_s,
        "again_s": one.again_s,
        "saved_step": one.saved_step,
        "resumed_step": one.resumed_step,
        "steps_lost": one.steps_lost,
    }
