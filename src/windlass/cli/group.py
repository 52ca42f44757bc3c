"""The `windlass` command and its subcommands, each imported when it is called.

Must not import a command's module to list or complete it: start-up is a feature.
"""

from __future__ import annotations

import importlib

import click

# Name to the one line that `windlass --help` shows; the module is `cli/commands/<name>.py`, with _
# for -.
COMMANDS = {
    "run": "Carry out a spec, and watch it.",
    "attach": "Watch a run: phase, logs and progress.",
    "ps": "List runs.",
    "show": "Everything about one run.",
    "logs": "What the ranks of a run printed.",
    "exec": "Run a command on a node of a run.",
    "ssh": "How to get a shell on a node at Google.",
    "stop": "Stop runs.",
    "retry": "Start an ended run again, from its last checkpoint.",
    "rm": "Forget ended runs and delete their folders.",
    "events": "What happened to a run.",
    "explain": "Why a run waits or failed, and what to do.",
    "plan": "What a run will cost and when it will end.",
    "render": "What an engine would be asked for: requests, gcloud, Terraform.",
    "rehearse": "The whole run on a twin, with faults, and what came of it.",
    "cost": "What machines have cost, by team, owner, run or environment.",
    "catalog": "What can be rented, where, and at what price.",
    "twin": "A Google Cloud on this machine: real clients, no bill.",
    "network": "Networks for gangs at Google: make, show, remove.",
    "bucket": "The bucket of run folders: make it.",
    "account": "The service account of runs: make and remove it.",
    "reap": "Find what was left behind at Google, and delete it.",
    "check": "Check specs, also against the platform team's policy.",
    "lint-gcloud": "Which gcloud commands of a tutorial are stale or wrong.",
    "init": "Write a spec from what is in a folder.",
    "schema": "Print the JSON Schema of a file.",
    "doctor": "Check this machine and say what is missing.",
    "up": "Run the controller in the foreground.",
    "completion": "Print the completion script of a shell.",
    "version": "Print the version.",
}


class LazyGroup(click.Group):
    """A group that imports a subcommand's module when it is called, and not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order a person needs them, not of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, from its own module."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"windlass.cli.commands.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Also suggests the command that was probably meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib

            near = difflib.get_close_matches(name, COMMANDS, n=1)
            meant = f" Did you mean `windlass {near[0]}`?" if near else ""
            ctx.fail(f"There is no command `{name}`.{meant}")
        return super().resolve_command(ctx, args)


def group() -> LazyGroup:
    """The `windlass` command."""
    made = LazyGroup(
        "windlass",
        help="One spec file and one command: start it, watch it, and it survives what happens.",
        epilog="Exit status: 0 fine, 1 the run failed, 2 a mistake in what was asked, "
        "3 something is missing on this machine, 4 no room, 5 an engine refused, "
        "6 the store is busy, 7 the run was stopped, 70 a bug in Windlass, "
        "130 detached or interrupted.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        no_args_is_help=True,
    )
    made.params.append(
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            help="Print the version.",
            callback=_print_version,
        )
    )
    return made


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        from windlass.version import VERSION

        click.echo(f"windlass {VERSION}")
        ctx.exit()
