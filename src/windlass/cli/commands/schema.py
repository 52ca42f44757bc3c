"""`windlass schema`: the JSON Schema of a file that people write.

Must not hold logic.
"""

from __future__ import annotations

import click


@click.command("schema")
@click.argument("which", type=click.Choice(["spec", "config"]), default="spec")
@click.option("--json", "is_json", is_flag=True, help="It is JSON in any case.")
def command(which: str, is_json: bool) -> None:
    """Print the JSON Schema of a spec, or of the configuration: for editors.

    With the YAML language server: `windlass schema > spec.schema.json`, and as the first line of a
    spec `# yaml-language-server: $schema=spec.schema.json`.
    """
    from windlass.cli.documents import print_json
    from windlass.spec.schema import config_schema, spec_schema

    print_json(spec_schema() if which == "spec" else config_schema())
