"""`windlass twin`: a Google Cloud on this machine: start it, ask it, use it, stop it.

Must not be the twin, nor import it before a command is called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from windlass.cli.params import json_option
from windlass.cli.twin_faults import fault
from windlass.cli.twin_packages import check_packages

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.twin.server.home import Running, TwinHome

Function = TypeVar("Function", bound=Callable[..., Any])
NOT_UP = 3

mode_option = click.option(
    "--mode",
    type=click.Choice(("proxy", "endpoints")),
    default="proxy",
    show_default=True,
    help="How clients find the twin: as their proxy (every API, TLS), or by endpoints (gcloud).",
)


@click.group("twin", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """A Google Cloud on this machine: real clients, no account, no bill."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _wishes(function: Function) -> Function:
    """How the twin is to be."""
    file = click.Path(dir_okay=False, path_type=Path)
    for option in (
        click.option(
            "--speed",
            type=click.FloatRange(min=0, min_open=True, max=1_000_000),
            help="How fast the twin's time passes; 1 when not said.",
        ),
        click.option("--seed", type=int, help="Of its chance; kept with its state."),
        click.option(
            "--scenario",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Capacity, hazards, quotas and faults from this file.",
        ),
        click.option(
            "--port", type=click.IntRange(1, 65535), help="Of 127.0.0.1; a free one when not said."
        ),
        click.option(
            "--delays",
            type=click.Choice(("short", "google")),
            help="Whether things take as long as at Google; short when not said.",
        ),
        click.option(
            "--live",
            type=click.IntRange(min=0),
            help="At most so many machines are real processes; 16 when not said.",
        ),
        click.option("--record", type=file, help="Write every call and its answer to this file."),
    ):
        function = option(function)
    return function


@command.command("up")
@_wishes
@click.option("--foreground", "is_foreground", is_flag=True, help="Stay here until Ctrl-C.")
@json_option
def up(is_foreground: bool, is_json: bool, **wishes: Any) -> None:
    """Start the twin, unless it is up. It has everything that it had before."""
    from windlass.twin.server import control

    check_packages()
    home, twin = _homes()
    for name in ("scenario", "record"):
        if wishes[name] is not None:
            wishes[name] = str(wishes[name].absolute())
    _check_scenario(twin, wishes["scenario"])
    wish = control.Wish(**wishes)
    environment = _clean(home.caller)
    if is_foreground:
        _serve_here(twin, control.command(twin, wish), environment)
    if sys.stderr.isatty() and not is_json:
        sys.stderr.write("starting the twin …\n")
    running, is_new = control.start(twin, wish, environment=environment)
    if is_json:
        _print_status(twin, running, is_json=True)
        return
    from windlass.cli.twin_text import said

    sys.stdout.write(said(running, is_new=is_new))


@command.command("down")
@json_option
def down(is_json: bool) -> None:
    """Stop the twin and its machines. What it was told is kept."""
    from windlass.twin.server import control

    was_up = control.stop(_homes()[1])
    if is_json:
        from windlass.cli.documents import print_json

        print_json({"was_up": was_up})
        return
    sys.stdout.write("The twin is down.\n" if was_up else "The twin was not up.\n")


@command.command("status")
@json_option
def status(is_json: bool) -> int:
    """What the twin is doing, and what it would have cost. Exit status 3 when it is not up."""
    twin = _homes()[1]
    running = twin.running()
    _print_status(twin, running, is_json=is_json)
    return 0 if running is not None else NOT_UP


@command.command("env")
@mode_option
@click.option(
    "--shell", type=click.Choice(("sh", "fish", "json")), default="sh", help="For which reader."
)
def env(mode: str, shell: str) -> None:
    """Print what makes this shell's Google clients talk to the twin."""
    from windlass.twin.server.variables import script

    _, _, found = _found(mode)
    if shell == "json":
        from windlass.cli.documents import print_json

        print_json(
            {
                "set": {name: value for name, value in found.items() if value is not None},
                "unset": [name for name, value in found.items() if value is None],
            }
        )
        return
    sys.stdout.write(script(found, shell=shell))


@command.command(
    "exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@mode_option
@click.argument("words", metavar="-- COMMAND...", nargs=-1, type=click.UNPROCESSED)
def execute(mode: str, words: tuple[str, ...]) -> None:
    """Run a program that talks to the twin. The exit status is the program's."""
    from windlass.cli.twin_shell import become
    from windlass.errors import OptionRefused
    from windlass.twin.server.variables import applied

    if not words:
        raise OptionRefused(
            "there is no command to run",
            remedy="Give it behind `--`: `windlass twin exec -- gcloud compute zones list`.",
        )
    home, _, found = _found(mode)
    become(list(words), applied(home.caller, found))


@command.command("shell")
@mode_option
def shell(mode: str) -> None:
    """Start a shell that talks to the twin; its prompt says so. Leave it with `exit`."""
    from windlass.cli.twin_shell import become, shell_call
    from windlass.twin.server.variables import applied, script

    home, twin, found = _found(mode)
    words, environment = shell_call(
        home.caller.get("SHELL") or "/bin/sh",
        twin.path / "shell",
        environment=applied(home.caller, found),
        scripts={name: script(found, shell=name) for name in ("sh", "fish")},
    )
    become(words, environment)


@command.command("reset")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
@json_option
def reset(is_sure: bool, is_json: bool) -> int:
    """Empty the twin: machines, buckets, everything it was told. Shells that use it go on."""
    from windlass.cli.terminal import is_interactive
    from windlass.errors import OptionRefused
    from windlass.twin.server import control

    home, twin = _homes()
    if not is_sure and not is_interactive():
        raise OptionRefused(
            "nobody is there to confirm it",
            remedy="Say `windlass twin reset --yes`. Nothing was removed.",
        )
    if not is_sure and not click.confirm(f"Empty the twin in {twin.path}?", err=True):
        sys.stderr.write("Nothing was removed.\n")
        return 1
    running = control.reset(twin, environment=_clean(home.caller))
    if is_json:
        _print_status(twin, running, is_json=True)
    else:
        sys.stdout.write("The twin is empty.\n")
    return 0


@command.command("gcloud-config")
def gcloud_config() -> None:
    """Print a folder for CLOUDSDK_CONFIG with which gcloud alone finds the twin."""
    from windlass.twin.server import control
    from windlass.twin.server.clients import write_gcloud
    from windlass.twin.settings import Settings

    _, twin = _homes()
    running = control.running_or_refuse(twin)
    write_gcloud(twin, running.port, Settings(project=running.project))
    sys.stdout.write(f"{twin.gcloud}\n")


command.add_command(fault)


def _homes() -> tuple[Home, TwinHome]:
    from windlass.assemble import open_home
    from windlass.twin.server.home import TwinHome

    home = open_home()
    return home, TwinHome(home.path / "twin")


def _found(mode: str) -> tuple[Home, TwinHome, dict[str, str | None]]:
    """The environment of clients; TwinNotUp when there is nobody to talk to."""
    from windlass.twin.server import control
    from windlass.twin.server.variables import variables

    home, twin = _homes()
    running = control.running_or_refuse(twin)
    return home, twin, variables(twin, running, mode=mode, caller=home.caller)


def _print_status(twin: TwinHome, running: Running | None, *, is_json: bool) -> None:
    from windlass.cli.twin_text import document, text
    from windlass.ports.clock import SystemClock
    from windlass.twin.server import control

    answer = control.status(twin, running) if running is not None else {}
    shown = document(twin, running, answer, now=SystemClock().now())
    if is_json:
        from windlass.cli.documents import print_json

        print_json(shown)
    else:
        sys.stdout.write(text(shown) + "\n")


def _clean(caller: Mapping[str, str]) -> dict[str, str]:
    """A twin that was started from inside a rank must not carry the rank's marks."""
    return {name: value for name, value in caller.items() if not name.startswith("WINDLASS_")}


def _check_scenario(twin: TwinHome, named: str | None) -> None:
    """Refuse a file that is wrong here, where somebody reads what is said about it."""
    if named is None:
        return
    from windlass.catalog.load import chosen, load_catalog
    from windlass.twin.scenario.load import load_scenario

    load_scenario(Path(named), catalog=load_catalog(chosen(twin.path.parent / "catalog")))


def _serve_here(twin: TwinHome, words: list[str], environment: dict[str, str]) -> NoReturn:
    from windlass.cli.twin_shell import become
    from windlass.errors import OptionRefused

    running = twin.running()
    if running is not None:
        raise OptionRefused(
            f"the twin is up already (process {running.pid})",
            remedy="Stop it first with `windlass twin down`.",
        )
    become(words, environment)
