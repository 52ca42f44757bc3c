"""`windlass doctor`: check this machine and say what is missing.

Must not change anything but make the home folder, as every command does.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option
from windlass.policy.findings import Finding

if TYPE_CHECKING:
    from windlass.assemble import Home

DISK_LOW_BYTES = 5 << 30
_MARKS = {"ok": ("✔", "green"), "note": ("•", "dim"), "bad": ("✘", "red")}


@click.command("doctor")
@click.option("--on", "engine", metavar="ENGINE", help="Check the project that an engine rents in.")
@click.option(
    "--spec",
    "spec_path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With `--on`: check what this spec would need.",
)
@json_option
def command(engine: str | None, spec_path: Path | None, is_json: bool) -> int:
    """Check this machine and say what is missing. Exit status 3 when something is.

    With `--on gcp`, or the name of one engine that rents from Google, the project is checked
    instead: credentials, APIs, permissions, quotas, networks, buckets, and what is dangerous.
    """
    from windlass.assemble import open_home

    findings = _findings(open_home(), engine, spec_path)
    if is_json:
        from windlass.cli.documents import print_json

        print_json(
            [
                {"name": one.name, "verdict": one.verdict, "said": one.said, "remedy": one.remedy}
                for one in findings
            ]
        )
    else:
        sys.stdout.write(_text(findings) + "\n")
    return 3 if any(one.verdict == "bad" for one in findings) else 0


def _findings(home: Home, engine: str | None, spec_path: Path | None) -> list[Finding]:
    from windlass.errors import OptionRefused

    if engine is None:
        if spec_path is not None:
            raise OptionRefused("--spec needs --on", remedy="Add `--on gcp`.")
        return list(examine(home))
    from windlass.cli.preflight import preflight

    return list(preflight(home, engine, spec_path))


def examine(home: Home) -> Iterator[Finding]:
    """Everything worth looking at, in the order to show it."""
    from windlass.version import VERSION

    python = f"{platform.python_version()} ({sys.executable})"
    yield Finding(name="windlass", verdict="ok", said=VERSION)
    yield Finding(name="python", verdict="ok", said=python)
    yield _home(home)
    yield _disk(home)
    yield from _store_and_config(home)
    yield _controller(home)
    yield _git()
    yield from _engines(home)


def _home(home: Home) -> Finding:
    if os.access(home.path, os.W_OK | os.X_OK):
        return Finding(name="home", verdict="ok", said=str(home.path))
    return Finding(
        name="home",
        verdict="bad",
        said=f"{home.path} cannot be written",
        remedy="Set WINDLASS_HOME to a folder that you can write.",
    )


def _disk(home: Home) -> Finding:
    from windlass.cli.words import size

    free = shutil.disk_usage(home.path).free
    if free >= DISK_LOW_BYTES:
        return Finding(name="disk", verdict="ok", said=f"{size(free)} free")
    return Finding(
        name="disk",
        verdict="note",
        said=f"only {size(free)} free",
        remedy="Remove ended runs with `windlass rm --all-ended`.",
    )


def _store_and_config(home: Home) -> Iterator[Finding]:
    from windlass.errors import SpecInvalid, WindlassError

    file = home.path / "config.yaml"
    try:
        said = ", ".join(home.config.engines) if file.exists() else "none; defaults are used"
        yield Finding(name="config", verdict="ok", said=said)
        count = len(home.store().list_runs(limit=100_000))
        kind = home.store_url.partition(":")[0]
        yield Finding(name="store", verdict="ok", said=f"{kind}, {count} runs")
    except SpecInvalid as error:
        for one in error.problems:
            said = f"{one.path}:{one.line}: {one.message}"
            yield Finding(name="config", verdict="bad", said=said, remedy=one.remedy)
    except WindlassError as error:
        yield Finding(name="store", verdict="bad", said=error.message, remedy=error.remedy)


def _controller(home: Home) -> Finding:
    if home.is_controller_alive():
        return Finding(name="controller", verdict="ok", said="running")
    said = "not running; it is started when there is something to do"
    return Finding(name="controller", verdict="ok", said=said)


def _git() -> Finding:
    found = shutil.which("git")
    if found:
        return Finding(name="git", verdict="ok", said=found)
    return Finding(
        name="git",
        verdict="note",
        said="not installed; .gitignore is honoured all the same",
    )


def _engines(home: Home) -> Iterator[Finding]:
    from windlass.assemble import DEFAULT_ENGINE
    from windlass.engines.base import Explains
    from windlass.errors import WindlassError

    # Engines that the user has not chosen need no project, and none is asked for here.
    for name in sorted({DEFAULT_ENGINE, *_chosen_engines(home)}):
        try:
            engine = home.engine(name)
            facts = engine.inventory() if isinstance(engine, Explains) else {}
        except WindlassError as error:
            yield Finding(name=name, verdict="bad", said=error.message, remedy=error.remedy)
            continue
        yield Finding(name=name, verdict="ok", said="engine ready")
        for fact, said in facts.items():
            yield Finding(name=f"{name}: {fact}", verdict="note", said=said)


def _chosen_engines(home: Home) -> tuple[str, ...]:
    from windlass.engines.registry import engine_names
    from windlass.errors import WindlassError

    try:
        chosen = home.config.engines
    except WindlassError:
        return ()  # The configuration is a finding of its own.
    return tuple(name for name in chosen if name in engine_names())


def _text(findings: list[Finding]) -> str:
    from windlass.cli.table import facts
    from windlass.cli.terminal import Paint

    paint = Paint(sys.stdout)
    pairs = []
    for one in findings:
        said = f"{one.said}\n{one.remedy}" if one.remedy else one.said
        pairs.append((one.name, said))
    lines = facts(pairs).split("\n")
    marked, position = [], 0
    for one, (_, said) in zip(findings, pairs, strict=True):
        mark, style = _MARKS[one.verdict]
        count = said.count("\n") + 1
        marked.append(f"{paint(mark, style)} {lines[position]}")
        marked += [f"  {line}" for line in lines[position + 1 : position + count]]
        position += count
    return "\n".join(marked)
