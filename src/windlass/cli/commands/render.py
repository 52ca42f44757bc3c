"""`windlass render`: what an engine would be asked for, before it is.

Must not hold logic: windlass.cli.renderings renders.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from windlass.cli.params import json_option
from windlass.cli.renderings import FORMATS, REQUEST


@click.command("render")
@click.argument("spec_path", metavar="SPEC", type=click.Path(path_type=Path))
@click.option(
    "--on", "engine", metavar="ENGINE", help="For this engine: compute, tpu, vertex, local."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default=REQUEST,
    help="Requests (so when not said), gcloud commands, or Terraform.",
)
@click.option("--offer", metavar="OFFER", help="Rent this, rather than the best of the plan.")
@json_option
def command(
    spec_path: Path, engine: str | None, form: str, offer: str | None, is_json: bool
) -> None:
    """Show what a run of the file SPEC would ask an engine for.

    Nothing is rented and nothing is asked of Google. The same spec gives the same text: times count
    from 1970, and the run is called NAME-00000.
    """
    from windlass.assemble import open_home
    from windlass.cli.commands.run import changed
    from windlass.cli.renderings import render
    from windlass.spec.load import load_spec

    home = open_home()
    spec = changed(load_spec(spec_path), name=None, engine=engine, settings=())
    spec = home.admitted(spec, spec_path)
    rendered = render(home, spec, spec_path, engine=home.engines_for(spec)[0], offer=offer)
    if is_json:
        from windlass.cli.documents import print_json

        print_json(rendered.document(form))
        return
    sys.stdout.write(rendered.text(form))
