"""`windlass stop`: stop runs.

Must not hold logic: the wish is written, the controller carries it out.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option, runs_argument

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.state.model import Run


PATIENCE_S = 40.0
"""Longer than ranks may take to save; then somebody who waits is told where to look."""


@click.command("stop")
@runs_argument
@click.option("--now", "is_urgent", is_flag=True, help="Kill the ranks: no notice, no last save.")
@click.option(
    "--wait/--no-wait", "is_waiting", default=True, help="Return when they have ended (default)."
)
@click.option("--all", "is_all", is_flag=True, help="Stop every run that has not ended.")
@json_option
def command(
    run_names: tuple[str, ...], is_urgent: bool, is_waiting: bool, is_all: bool, is_json: bool
) -> None:
    """Stop runs. Their ranks get their notice and may save a checkpoint first."""
    from windlass.assemble import open_home
    from windlass.cli.intents import stop_run

    home = open_home()
    asked = []
    for run in _chosen(home, run_names, is_all=is_all):
        asked.append(stop_run(home, run, is_urgent=is_urgent))
    ended = [_wait_for(home, run) if is_waiting else run for run in asked]
    if is_json:
        from windlass.cli.documents import print_json, run_document

        print_json([run_document(run) for run in ended])
        return
    for run in ended:
        verb = str(run.phase) if is_waiting else "asked to stop"
        sys.stdout.write(f"{run.id} {verb}\n")


def _chosen(home: Home, names: tuple[str, ...], *, is_all: bool) -> list[Run]:
    from windlass.cli.runs import find_run
    from windlass.errors import OptionRefused
    from windlass.state.phases import ENDED_RUNS, RunPhase

    if bool(names) == is_all:
        raise OptionRefused(
            "name the runs to stop, or say --all" if not names else "--all already means every run",
            remedy="`windlass ps` lists the live ones.",
        )
    store = home.store()
    if not is_all:
        return [find_run(store, name) for name in names]
    live = [phase for phase in RunPhase if phase not in ENDED_RUNS]
    return list(store.list_runs(phases=live, limit=100_000))


def _wait_for(home: Home, run: Run) -> Run:
    from windlass.cli.attach import FIRST_PAUSE_S, LAST_PAUSE_S, Keeper, pause
    from windlass.state.phases import is_ended

    keeper, store = Keeper(home), home.store()
    wait_s = FIRST_PAUSE_S
    clock = home.world.clock
    told_at = clock.monotonic() + PATIENCE_S
    while not is_ended(run.phase):
        if clock.monotonic() >= told_at:
            told_at = float("inf")
            sys.stderr.write(
                f"windlass: {run.id} is still stopping; `windlass explain {run.id}` says what it "
                "waits for, and Ctrl-C leaves it to the controller\n"
            )
        pause(wait_s)
        wait_s = min(wait_s * 1.2, LAST_PAUSE_S)
        keeper.check()
        run = store.get_run(run.id) or run
    return run
