"""`windlass ps`: list runs.

Must not import rich or the spec's parser: this is the command that is typed most.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.controller.progress import Record
    from windlass.state.model import Run

HEADER = ("ID", "NAME", "PHASE", "AGE", "TIME", "RESTARTS", "PROGRESS", "REASON")
PHASE_COLUMN = HEADER.index("PHASE")


@click.command("ps")
@click.option("-a", "--all", "is_all", is_flag=True, help="Also show runs that have ended.")
@click.option(
    "-n", "count", type=click.IntRange(1), metavar="N", default=50, help="At most N runs (50)."
)
@json_option
def command(is_all: bool, count: int, is_json: bool) -> None:
    """List runs, newest first: those that have not ended, or all of them."""
    from windlass.assemble import open_home
    from windlass.state.phases import ENDED_RUNS, RunPhase

    home = open_home()
    live = [phase for phase in RunPhase if phase not in ENDED_RUNS]
    runs = home.store().list_runs(phases=() if is_all else live, limit=count + 1)
    shown = runs[:count]
    progress = _progress_of_all(home, shown)
    usd = _spent(home, shown)
    if is_json:
        _print_json(shown, progress, usd)
    elif not shown:
        _say_none(home, is_all=is_all)
    else:
        _print_table(home, shown, progress, usd)
        if len(runs) > count:
            sys.stderr.write(f"There are more: `windlass ps -n {count * 2}`.\n")


def _progress_of_all(home: Home, runs: Sequence[Run]) -> dict[str, Record | None]:
    """What runs have reported. A bucket that cannot be read hides this, and not the runs."""
    from windlass.errors import SetupError

    found: dict[str, Record | None] = {}
    troubles: dict[str, None] = {}
    for run in runs:
        try:
            found[run.id] = _progress(home, run)
        except (OSError, SetupError) as error:
            found[run.id] = None
            troubles[str(error)] = None
    for trouble in troubles:
        sys.stderr.write(f"windlass: progress cannot be read: {trouble}\n")
    return found


def _progress(home: Home, run: Run) -> Record | None:
    if run.started_at is None:
        return None
    from windlass.controller.progress import read_last_record

    return read_last_record(home.folder(run.id), run.attempt)


def _spent(home: Home, runs: Sequence[Run]) -> dict[str, float]:
    """Dollars so far of the runs that have cost any. What is held now is one query for all."""
    usd = {run.id: run.spent_usd for run in runs if run.spent_usd}
    if any('"rented"' in run.options and run.ended_at is None for run in runs):
        from windlass.policy.totals import usd_since

        now, shown = home.world.clock.now(), {run.id for run in runs}
        for charge in home.store().charges(since=now):
            if charge.run in shown:
                usd[charge.run] = usd.get(charge.run, 0.0) + usd_since(charge, now=now)
    return usd


def _steps_total(run: Run) -> int | None:
    """Straight out of the canonical spec: checking it again would cost more than the listing."""
    work = json.loads(run.spec).get("work") or {}
    steps = work.get("steps")
    return steps if isinstance(steps, int) else None


def _print_json(
    runs: Sequence[Run], progress: dict[str, Record | None], usd: dict[str, float]
) -> None:
    from windlass.cli.documents import print_json, record_document, run_document

    documents = []
    for run in runs:
        record = progress[run.id]
        documents.append(
            {
                **run_document(run),
                "progress": record_document(record) if record else None,
                "steps_total": _steps_total(run),
                "usd": round(usd[run.id], 4) if run.id in usd else None,
            }
        )
    print_json(documents)


def _print_table(
    home: Home, runs: Sequence[Run], progress: dict[str, Record | None], usd: dict[str, float]
) -> None:
    from windlass.cli.table import draw
    from windlass.cli.terminal import PHASE_STYLES, Paint, width

    now = home.world.clock.now()
    paint = Paint(sys.stdout)

    def style(text: str, column: int) -> str:
        return paint(text, PHASE_STYLES.get(text, "")) if column == PHASE_COLUMN else text

    rows = [_row(run, now, progress[run.id]) for run in runs]
    header: tuple[str, ...] = HEADER
    right = {3, 4, 5}
    if usd:  # Where nothing is rented, nobody needs a column for it.
        header, right = (*HEADER[:-1], "USD", HEADER[-1]), {*right, len(HEADER) - 1}
        costs = [f"{usd[run.id]:.2f}" if run.id in usd else "-" for run in runs]
        rows = [(*row[:-1], cost, row[-1]) for row, cost in zip(rows, costs, strict=True)]
    table = draw(header, rows, width=width(sys.stdout), right=frozenset(right), style=style)
    sys.stdout.write(table + "\n")


def _row(run: Run, now: float, record: Record | None) -> tuple[str, ...]:
    from windlass.cli.words import duration
    from windlass.state.phases import RunPhase

    since = run.started_at
    end = run.ended_at if run.ended_at is not None else now
    is_told = run.phase not in (RunPhase.SUCCEEDED, RunPhase.RUNNING)
    return (
        run.id,
        run.name,
        str(run.phase),
        duration(now - run.created_at),
        duration(end - since if since is not None else None),
        str(run.restarts),
        _progress_text(run, record),
        run.reason if is_told else "",
    )


def _progress_text(run: Run, record: Record | None) -> str:
    if record is None:
        return "-"
    total = _steps_total(run)
    if not total:
        return f"step {record.step}"
    return f"{record.step}/{total} {min(1.0, record.step / total) * 100:.0f}%"


def _say_none(home: Home, *, is_all: bool) -> None:
    if is_all or not home.store().list_runs(limit=1):
        sys.stderr.write("No runs yet. Start one with `windlass run SPEC`.\n")
    else:
        sys.stderr.write("No live runs. `windlass ps --all` also lists those that have ended.\n")
