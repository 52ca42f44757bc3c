"""Arguments and options that several commands share, and how run names complete.

Must not carry anything out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])


def complete_runs(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ids of runs that begin with what was typed, newest first."""
    from windlass.assemble import open_home
    from windlass.errors import WindlassError

    try:
        runs = open_home().store().list_runs(limit=200)
    except WindlassError:
        return []  # A shell that completes has no place for an error.
    return [
        CompletionItem(run.id, help=f"{run.name} ({run.phase})")
        for run in runs
        if run.id.startswith(incomplete)
    ]


json_option = click.option("--json", "is_json", is_flag=True, help="Print JSON for programs.")
run_argument = click.argument("run_name", metavar="RUN", shell_complete=complete_runs)
runs_argument = click.argument(
    "run_names", metavar="RUN...", nargs=-1, shell_complete=complete_runs
)


def follow_option(help_text: str) -> Callable[[Function], Function]:
    """`-f`, in the words of the command."""
    return click.option("-f", "--follow", "is_following", is_flag=True, help=help_text)
