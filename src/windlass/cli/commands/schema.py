"""`windlass schema`: the JSON Schema of a file that people write.

Must not hold logic.
"""

from __future__ import annotations

import click


@click.command("schema")
@click.argument("which", type=click.Choice(["spec", "config", "policy"]), default="spec")
@click.option("--json", "is_json", is_flag=True, help="It is JSON in any case.")
def command(which: str, is_json: bool) -> None:
    """Print the JSON Schema of a spec, the configuration or a policy: for editors.

    With the YAML language server: `windlass schema > spec.schema.json`, and as the first line of a
    spec `# yaml-language-server: $schema=spec.schema.json`.
    """
    from windlass.cli.documents import print_json
    from windlass.policy.document import policy_schema
    from windlass.spec.schema import config_schema, spec_schema

    schemas = {"spec": spec_schema, "config": config_schema, "policy": policy_schema}
    print_json(schemas[which]())
