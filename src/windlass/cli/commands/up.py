"""`windlass up`: the controller in the foreground.

Must not hold logic.
"""

from __future__ import annotations

import click


@click.command("up")
@click.option("--on-demand", "is_on_demand", is_flag=True, help="End when nothing is left to do.")
def command(is_on_demand: bool) -> None:
    """Run the controller in the foreground until it is interrupted.

    Not needed for ordinary use: `windlass run` starts one when there is none. Ending it hurts no
    run; the next controller takes over.
    """
    from windlass.assemble import open_home

    open_home().serve(is_on_demand=is_on_demand)
