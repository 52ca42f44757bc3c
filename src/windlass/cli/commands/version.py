"""`windlass version`.

Must not import anything it can do without: it is the measure of start-up.
"""

from __future__ import annotations

import click

from windlass.version import VERSION


@click.command("version")
@click.option("--json", "is_json", is_flag=True, help="Print JSON for programs.")
def command(is_json: bool) -> None:
    """Print the version."""
    if not is_json:
        click.echo(f"windlass {VERSION}")
        return
    import platform

    from windlass.cli.documents import print_json

    print_json({"version": VERSION, "python": platform.python_version()})
