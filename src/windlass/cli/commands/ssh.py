"""`windlass ssh`: how to get a shell on a node at Google.

Must not open a tunnel itself: gcloud does.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option, run_argument

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.governance.shells import Shell
    from windlass.state.model import Run

UNTRIED = "The tunnel was not tried; it needs `roles/iap.tunnelResourceAccessor` and OS Login."


@click.command("ssh")
@run_argument
@click.argument("node", type=click.IntRange(0), required=False)
@click.option("--exec", "is_run", is_flag=True, help="Run the command instead of printing it.")
@json_option
def command(run_name: str, node: int | None, is_run: bool, is_json: bool) -> None:
    """Print the gcloud command that leads to a node of a run, through IAP; NODE is 0 or higher.

    Without NODE, all of them. Machines have no external address, and Windlass itself needs no way
    in: `windlass exec` runs commands through the run's folder.
    """
    from windlass.assemble import open_home
    from windlass.cli.runs import find_run

    home = open_home()
    run = find_run(home.store(), run_name)
    home.summons.check_here(run)
    found = _found(home, run, node)
    if is_run:
        _run(found[0])
    if is_json:
        from windlass.cli.documents import print_json

        print_json([{**shell._asdict(), "is_tried": False} for shell in found])
        return
    for shell in found:
        sys.stdout.write(shlex.join(shell.words) + "\n")
    sys.stdout.flush()
    sys.stderr.write(f"windlass: {UNTRIED}\n")


def _found(home: Home, run: Run, node: int | None) -> Sequence[Shell]:
    from windlass.errors import RunNotReady
    from windlass.governance.holdings import survey
    from windlass.governance.shells import shells

    attempts = home.store().list_attempts(run.id)
    winner = attempts[-1].winner if attempts else ""
    holdings = survey(home.google_session, home.project, regions=()).holdings
    found = shells(holdings, run.id, project=home.project, winner=winner)
    wanted = [shell for shell in found if node is None or shell.node == node]
    if not wanted:
        what = f"node {node}" if found else "machine at Google"
        raise RunNotReady(
            f"{run.id} has no {what} now",
            remedy=f"See where it is with `windlass show {run.id}`; `windlass exec {run.id} -- "
            "COMMAND` works on every engine.",
        )
    return wanted


def _run(shell: Shell) -> None:
    """Become gcloud: nothing is left to do for us."""
    import os

    from windlass.errors import ToolMissing

    sys.stdout.flush()
    try:
        os.execvp(shell.words[0], list(shell.words))
    except OSError as error:
        raise ToolMissing(
            f"gcloud cannot be run: {error.strerror}",
            remedy="Install it from https://cloud.google.com/sdk/docs/install.",
        ) from error
