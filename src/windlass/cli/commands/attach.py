"""`windlass attach`: watch a run.

Must not hold logic: windlass.cli.attach does the watching.
"""

from __future__ import annotations

import click

from windlass.cli.params import json_option, run_argument


@click.command("attach")
@run_argument
@json_option
def command(run_name: str, is_json: bool) -> int:
    """Watch a run: its phase, its logs from the beginning, its progress.

    Ctrl-C asks whether to detach, stop the run, or go on. The exit status tells how the run ended.
    """
    from windlass.assemble import open_home
    from windlass.cli.attach import attach
    from windlass.cli.interrupts import noted_interrupts
    from windlass.cli.runs import find_run
    from windlass.state.phases import is_ended

    home = open_home()
    run = find_run(home.store(), run_name)
    if not is_ended(run.phase) and not home.summons.is_served(run):
        home.wake(run)
    with noted_interrupts() as interrupts:
        return attach(home, run, is_json=is_json, interrupts=interrupts)
