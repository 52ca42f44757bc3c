"""`windlass init`: write a spec from what is in a folder.

Must not guess itself: windlass.spec.draft does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from windlass.cli.params import json_option

FILE = "train.yaml"


@click.command("init")
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path), default=Path()
)
@click.option("--force", "is_forced", is_flag=True, help="Replace a file that is there.")
@json_option
def command(folder: Path, is_forced: bool, is_json: bool) -> None:
    """Write a commented `train.yaml` from what is in DIR.

    It looks for the framework, the entry point and the requirements.
    """
    from windlass.errors import OptionRefused
    from windlass.spec.draft import draft_spec

    path = folder / FILE
    if not folder.is_dir():
        raise OptionRefused(f"{folder}: no such folder", remedy="Name a folder with your code.")
    if path.exists() and not is_forced:
        raise OptionRefused(
            f"{path} is there already", remedy="Add --force to replace it, or edit it."
        )
    try:
        path.write_text(draft_spec(folder), encoding="utf-8")
    except OSError as exc:
        raise OptionRefused(
            f"{path} cannot be written: {exc.strerror}", remedy="Make the folder writable."
        ) from exc
    if is_json:
        from windlass.cli.documents import print_json

        print_json({"path": str(path)})
        return
    sys.stdout.write(f"{path}\n")
    sys.stderr.write(f"Read it, then start it with `windlass run {path}`.\n")
