"""`windlass rm`: forget ended runs and delete their folders.

Must not touch a run that has not ended, nor checkpoints kept outside the run's folder.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option, runs_argument

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.state.model import Run


@click.command("rm")
@runs_argument
@click.option("-f", "--force", "is_forced", is_flag=True, help="Do not ask.")
@click.option("--all-ended", "is_all", is_flag=True, help="Every run that has ended.")
@json_option
def command(run_names: tuple[str, ...], is_forced: bool, is_all: bool, is_json: bool) -> int:
    """Forget ended runs: their rows, logs, shipped source, and checkpoints in the run's folder."""
    from windlass.assemble import open_home
    from windlass.cli.terminal import is_interactive

    home = open_home()
    runs = _chosen(home, run_names, is_all=is_all)
    if runs and not is_forced and not is_json and is_interactive() and not _is_sure(runs):
        sys.stderr.write("Nothing was removed.\n")
        return 1
    for run in runs:
        _tell_what_stays(home, run)
        home.remove(run)
        if not is_json:
            sys.stdout.write(f"{run.id} removed\n")
    if is_json:
        from windlass.cli.documents import print_json

        print_json([run.id for run in runs])
    return 0


def _tell_what_stays(home: Home, run: Run) -> None:
    """A bucket of another cloud cannot be emptied from here."""
    from windlass.controller.clouds import is_within, named

    if not is_within(run, home.cloud):
        place = f"{home.folders.shown(run.id)} on {named(run.cloud)}"
        sys.stderr.write(f"windlass: {place} is not removed\n")


def _chosen(home: Home, names: tuple[str, ...], *, is_all: bool) -> list[Run]:
    from windlass.cli.runs import find_run
    from windlass.errors import OptionRefused, RunNotReady
    from windlass.state.phases import ENDED_RUNS, is_ended

    if bool(names) == is_all:
        raise OptionRefused(
            "name the runs to remove, or say --all-ended, not both",
            remedy="`windlass ps --all` lists them.",
        )
    store = home.store()
    if is_all:
        return list(store.list_runs(phases=sorted(ENDED_RUNS), limit=1_000_000))
    runs = list({run.id: run for run in (find_run(store, name) for name in names)}.values())
    for run in runs:
        if not is_ended(run.phase):
            raise RunNotReady(
                f"{run.id} has not ended: it is {run.phase}",
                remedy=f"Stop it first with `windlass stop {run.id}`. Nothing was removed.",
            )
    return runs


def _is_sure(runs: list[Run]) -> bool:
    from windlass.cli.words import plural

    names = ", ".join(run.id for run in runs[:5]) + (", …" if len(runs) > 5 else "")
    sys.stderr.write(
        f"Remove {plural(len(runs), 'run')} ({names}) with logs and checkpoints? [y/N] "
    )
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
