"""`windlass rehearse`: the whole run on a private twin, with faults, and what came of it.

Must not touch the user's own home, credentials or projects.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from windlass.cli.params import json_option

STORM = Path(__file__).parents[2] / "rehearsal" / "data" / "storm.yaml"
SPEED_MAX = 20


@click.command("rehearse")
@click.argument("spec_path", metavar="SPEC", type=click.Path(path_type=Path))
@click.option(
    "--scenario",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=STORM,
    help="What the cloud is like and what happens in it; a gentle storm when not said.",
)
@click.option(
    "--preempt-at",
    metavar="PERCENT",
    type=click.FloatRange(0, 100, max_open=True),
    help="Take all machines away, with notice, when so much of `work.steps` is done.",
)
@click.option(
    "--speed",
    type=click.FloatRange(1, SPEED_MAX),
    default=1.0,
    help="How fast the cloud's time passes; 1 when not said.",
)
@click.option("--seed", type=int, default=0, help="Of the cloud's chance.")
@click.option(
    "--delays",
    type=click.Choice(("short", "google")),
    default="short",
    help="Whether things take as long as at Google; short when not said.",
)
@click.option("--on", "engine", metavar="ENGINE", help="Rehearse it on this engine.")
@click.option(
    "--env", "settings", metavar="NAME=VALUE", multiple=True, help="Set an environment variable."
)
@click.option("--keep", "is_kept", is_flag=True, help="Keep the folder of the rehearsal.")
@json_option
def command(spec_path: Path, is_json: bool, **options: Any) -> int:
    """Carry out the spec in the file SPEC on a Google Cloud of its own on this machine.

    Everything is really done: machines boot, ranks train, faults strike. Nothing is asked of Google
    and nothing of yours is touched. Ends in a report. Exit status: 0 the run succeeded and left
    nothing behind, 1 it failed, 3 this machine cannot have machines in it, 130 interrupted.
    """
    from windlass.cli.rehearsing import Wish, rehearse

    return rehearse(spec_path, Wish(**options), is_json=is_json)
