"""`windlass run`: carry out a spec and watch it.

Must not hold logic: the spec is checked by windlass.spec, submitted by the home.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.cli.foresight import Foresight
    from windlass.spec.model import Spec
    from windlass.state.model import Run


@click.command("run")
@click.argument("spec_path", metavar="SPEC", type=click.Path(path_type=Path))
@click.option("-d", "--detach", "is_detached", is_flag=True, help="Submit it and return at once.")
@click.option("--emulate", is_flag=True, help="Run on CPU what asks for accelerators.")
@click.option("--name", help="Name the run otherwise than the spec does.")
@click.option("--on", "engine", metavar="ENGINE", help="Run it on this engine.")
@click.option(
    "--env", "settings", metavar="NAME=VALUE", multiple=True, help="Set an environment variable."
)
@click.option("--no-plan", "has_no_plan", is_flag=True, help="Do not show the plan first.")
@json_option
def command(spec_path: Path, is_detached: bool, is_json: bool, **changes: Any) -> int:
    """Carry out the spec in the file SPEC, and watch it until it ends.

    Ctrl-C asks whether to detach, stop the run, or go on. Exit status: 0 it succeeded, 1 it failed,
    7 it was stopped, 130 you detached.
    """
    from windlass.assemble import open_home
    from windlass.cli.foresight import Foresight
    from windlass.cli.interrupts import noted_interrupts
    from windlass.spec.load import load_spec

    emulate, is_shown = bool(changes.pop("emulate")), not changes.pop("has_no_plan")
    home = open_home()
    spec = home.admitted(changed(load_spec(spec_path), **changes), spec_path)
    foresight = Foresight(home, spec, spec_path, is_shown=is_shown)
    with noted_interrupts() as interrupts:
        chosen = foresight.choose()
        if not is_json:
            foresight.tell_before()
        run = home.submit(
            spec_path,
            spec,
            emulate=emulate,
            engine=foresight.engine,
            chosen=chosen,
            others=foresight.others(),
        )
        if is_detached:
            return _leave(run, foresight, is_json=is_json)
        _tell(foresight, is_json=is_json)
        # Loaded while the run starts, so that its first line is not kept waiting.
        from windlass.cli.attach import attach

        return attach(home, run, is_json=is_json, interrupts=interrupts)


def _tell(foresight: Foresight, *, is_json: bool) -> None:
    """The rest of the plan, worked out while the run starts."""
    if not is_json:
        foresight.tell_after()
        return
    document = foresight.document()
    if document is not None:
        from windlass.cli.documents import print_line

        print_line({"type": "plan", **document})


def _leave(run: Run, foresight: Foresight, *, is_json: bool) -> int:
    if is_json:
        from windlass.cli.documents import print_json, run_document

        print_json({**run_document(run), "plan": foresight.document()})
    else:
        foresight.tell_after()
        say_queued(run, is_json=False)
    return 0


def changed(spec: Spec, *, name: str | None, engine: str | None, settings: tuple[str, ...]) -> Spec:
    """The spec with what the command line says otherwise."""
    from dataclasses import replace

    from windlass.spec import names

    if name is not None:
        spec = replace(spec, name=_checked("--name", names.run_name, name))
    if engine is not None:
        only = (_checked("--on", names.engine_name, engine),)
        spec = replace(spec, where=replace(spec.where, engines=only))
    if settings:
        given = (_setting(setting, names.variable_name) for setting in settings)
        spec = replace(spec, env={**spec.env, **dict(given)})
    return spec


def _setting(setting: str, check: Callable[[str], str]) -> tuple[str, str]:
    from windlass.errors import OptionRefused

    name, mark, value = setting.partition("=")
    if not mark:
        raise OptionRefused(
            f"--env {name}: there is no `=`", remedy="Write it as `--env LOG_LEVEL=debug`."
        )
    return _checked("--env", check, name), value


def _checked(option: str, check: Callable[[str], str], text: str) -> str:
    """The same rules as in the file; what breaks them is the option's fault here."""
    from windlass.errors import OptionRefused
    from windlass.spec.refused import Refused

    try:
        return check(text)
    except Refused as refused:
        raise OptionRefused(f"{option}: {refused.message}", remedy=refused.remedy) from refused


def say_queued(run: Run, *, is_json: bool) -> None:
    """What is printed of a run that nobody watches: its id, for programs to keep."""
    if is_json:
        from windlass.cli.documents import print_json, run_document

        print_json(run_document(run))
        return
    sys.stdout.write(f"{run.id}\n")
    sys.stdout.flush()
    sys.stderr.write(f"windlass: {run.id} is queued; watch it with `windlass attach {run.id}`\n")
