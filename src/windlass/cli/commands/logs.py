"""`windlass logs`: what the ranks of a run printed.

Must not hold logic: windlass.controller.logs reads, windlass.cli.attach follows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.params import follow_option, json_option, run_argument

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.controller.logs import Choice, LogLine
    from windlass.state.model import Run


@click.command("logs")
@run_argument
@follow_option("Go on until the run ends.")
@click.option("--node", type=click.IntRange(0), metavar="K", help="Only of node K.")
@click.option("--rank", type=click.IntRange(0), metavar="R", help="Only of rank R.")
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="Only of attempt N.")
@click.option("--tail", type=click.IntRange(0), metavar="N", help="Only the last N lines.")
@click.option("-t", "--timestamps", "has_times", is_flag=True, help="Begin lines with the time.")
@click.option("--setup", "is_setup", is_flag=True, help="What `setup` printed, not the ranks.")
@json_option
def command(
    run_name: str,
    is_following: bool,
    tail: int | None,
    has_times: bool,
    is_json: bool,
    **which: Any,
) -> int:
    """What the ranks of a run printed, merged by time, over all its attempts.

    With several ranks, lines begin with `node/rank |`. With --json one document a line.
    """
    from windlass.assemble import open_home
    from windlass.cli.runs import find_run
    from windlass.controller.logs import Choice, read_lines, tail_lines

    is_setup = which.pop("is_setup")
    choice = Choice(**which, has_ranks=not is_setup, has_setup=is_setup)
    home = open_home()
    run = find_run(home.store(), run_name)
    if is_following:
        return _follow(home, run, choice, (tail, has_times, is_json))
    folder = home.folder(run.id)
    lines: Iterable[LogLine]
    if tail is not None:
        lines = tail_lines(folder, run.attempt, choice, count=tail)
    else:
        lines = read_lines(folder, run.attempt, choice)
    count = _print(home, run, lines, has_times=has_times, is_json=is_json)
    if not count and tail != 0:
        _say_nothing(run, choice)
    return 0


def _say_nothing(run: Run, choice: Choice) -> None:
    """An empty screen looks like a mistake: say whose silence it is, and where to look."""
    said = f"no rank has written anything; `windlass explain {run.id}` says why"
    if choice.has_setup:
        said = f"`setup` has written nothing; `windlass explain {run.id}` says where the run is"
    elif (choice.node, choice.rank, choice.attempt) != (None, None, None):
        said = f"nothing fits; `windlass show {run.id}` lists its attempts and nodes"
    sys.stderr.write(f"windlass: {said}\n")


def _print(
    home: Home, run: Run, lines: Iterable[LogLine], *, has_times: bool, is_json: bool
) -> int:
    """How many lines there were."""
    count = 0
    if is_json:
        import json

        from windlass.cli.documents import line_document

        for line in lines:
            sys.stdout.write(json.dumps(line_document(line), ensure_ascii=False) + "\n")
            count += 1
        return count
    from windlass.cli.screens import LineFormat
    from windlass.cli.terminal import Paint
    from windlass.controller.logs import gang_size

    layout = LineFormat(Paint(sys.stdout), has_times=has_times)
    layout.is_gang = run.attempt > 0 and gang_size(home.folder(run.id), run.attempt) > 1
    for line in lines:
        sys.stdout.write(f"{layout(line)}\n")
        count += 1
    return count


def _follow(home: Home, run: Run, choice: Choice, how: tuple[int | None, bool, bool]) -> int:
    """Follow without the rest of `attach`: Ctrl-C ends the reading and nothing else."""
    from windlass.cli.attach import Attachment
    from windlass.cli.interrupts import Interrupts
    from windlass.cli.screens import JsonLines, PlainScreen
    from windlass.cli.watch import Watch

    tail, has_times, is_json = how
    screen = JsonLines() if is_json else PlainScreen(has_times=has_times, has_events=False)
    watch = Watch(home, run, choice, tail=tail)
    Attachment(home, run, screen, interrupts=Interrupts()).follow(watch)
    return 0
