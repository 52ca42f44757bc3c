"""`windlass retry`: start an ended run again.

Must not hold logic.
"""

from __future__ import annotations

import click

from windlass.cli.params import json_option, run_argument


@click.command("retry")
@run_argument
@click.option("-d", "--detach", "is_detached", is_flag=True, help="Return at once.")
@json_option
def command(run_name: str, is_detached: bool, is_json: bool) -> int:
    """Start an ended run again; it goes on from its last checkpoint.

    The source is the one that was shipped when the run was submitted; secrets are taken from the
    environment again.
    """
    from windlass.assemble import open_home
    from windlass.cli.attach import attach
    from windlass.cli.commands.run import say_queued
    from windlass.cli.intents import retry_run
    from windlass.cli.interrupts import noted_interrupts
    from windlass.cli.runs import find_run

    home = open_home()
    with noted_interrupts() as interrupts:
        run = retry_run(home, find_run(home.store(), run_name))
        if is_detached:
            say_queued(run, is_json=is_json)
            return 0
        first = run.attempt + 1
        return attach(home, run, is_json=is_json, interrupts=interrupts, first_attempt=first)
