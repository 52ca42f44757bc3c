"""`windlass explain`: why a run waits or failed, and what to do.

Must not explain itself: windlass.controller.explain does.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option, run_argument

if TYPE_CHECKING:
    from windlass.controller.explanation import Explanation


@click.command("explain")
@run_argument
@json_option
def command(run_name: str, is_json: bool) -> None:
    """Why a run waits, or why it failed, and what to do about it."""
    from windlass.assemble import open_home
    from windlass.cli.facts import gather
    from windlass.cli.runs import find_run
    from windlass.controller.explain import explain

    home = open_home()
    run = find_run(home.store(), run_name)
    explanation = explain(gather(home, run))
    if is_json:
        from windlass.cli.documents import explanation_document, print_json, run_document

        print_json({**explanation_document(explanation), "run": run_document(run)})
    else:
        sys.stdout.write(explanation_text(explanation) + "\n")


def explanation_text(explanation: Explanation) -> str:
    """The explanation as a person reads it."""
    from windlass.cli.terminal import Paint

    paint = Paint(sys.stdout)
    blocks = [paint(explanation.headline, "bold")]
    if explanation.why:
        blocks[0] += "".join(f"\n  {line}" for line in explanation.why)
    if explanation.evidence:
        bar = paint("│", "dim")
        lines = "\n".join(f"  {bar} {line}" for line in explanation.evidence)
        blocks.append(f"The last lines it printed:\n{lines}")
    if explanation.remedy:
        blocks.append(f"What to do: {explanation.remedy}")
    if explanation.next_commands:
        commands = "\n".join(f"  {paint(line, 'cyan')}" for line in explanation.next_commands)
        blocks.append(f"Next:\n{commands}")
    return "\n\n".join(blocks)
