"""`windlass lint-gcloud`: which gcloud commands of a tutorial or script are stale or wrong.

Must not hold logic.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.cli.terminal import Paint
    from windlass.gcloudlint.finding import Finding

FOUND = 2
_STYLES = {"error": "bold red", "wrong": "red", "stale": "yellow", "hint": "dim"}


@click.command("lint-gcloud")
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
)
@click.option("--strict", is_flag=True, help="Exit status 2 for stale commands too.")
@click.option("--hints", "has_hints", is_flag=True, help="Show hints about security and costs too.")
@json_option
def command(files: tuple[str, ...], strict: bool, has_hints: bool, is_json: bool) -> int:
    """Say which gcloud commands of a tutorial or script are stale or wrong, and the right form.

    Reads Markdown, shell scripts, Dockerfiles and notebooks; `-` is standard input. Exit status 2
    when a command fails or does not do what is meant.
    """
    from windlass.catalog.load import load_catalog
    from windlass.gcloudlint.lint import lint

    catalog = load_catalog()
    findings = [
        finding
        for name in files
        for finding in lint(name, _read(name), catalog=catalog)
        if has_hints or finding.severity != "hint"
    ]
    if is_json:
        from windlass.cli.documents import print_json

        print_json([_document(finding) for finding in findings])
    else:
        from windlass.cli.terminal import Paint

        sys.stdout.write(_text(findings, Paint(sys.stdout)))
    counted = ("error", "wrong", "stale") if strict else ("error", "wrong")
    return FOUND if any(finding.severity in counted for finding in findings) else 0


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    from windlass.errors import OptionRefused

    try:
        return Path(name).read_text(encoding="utf-8", errors="replace")
    except OSError as exc:
        message = f"{name} cannot be read: {exc.strerror}"
        raise OptionRefused(message, remedy="Name a file that you may read.") from exc


def _document(finding: Finding) -> dict[str, object]:
    return {
        "path": finding.path,
        "line": finding.line,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "command": finding.command or None,
        "fixed": finding.fixed or None,
    }


def _text(findings: list[Finding], paint: Paint) -> str:
    """A line for each finding; the corrected command once, below the last one about it."""
    if not findings:
        return "Every gcloud command is fine.\n"
    lines = []
    for finding, after in zip(findings, [*findings[1:], None], strict=True):
        place = paint(f"{finding.path}:{finding.line}", "bold")
        severity = paint(finding.severity.value, _STYLES[finding.severity.value])
        lines.append(f"{place}: {severity} {finding.message} {paint(f'[{finding.rule}]', 'dim')}")
        is_last = after is None or (after.command, after.fixed) != (finding.command, finding.fixed)
        if finding.fixed and is_last:
            lines += [f"    {paint(line, 'green')}" for line in finding.fixed.split("\n")]
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.severity.value] = counts.get(finding.severity.value, 0) + 1
    lines.append(", ".join(f"{count} {name}" for name, count in counts.items()))
    return "\n".join(lines) + "\n"
