"""`windlass account`: the service account that machines of runs act as.

Must not hold logic: windlass.governance does it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.governance.account import Account, Step

yes_option = click.option("--yes", "is_yes", is_flag=True, help="Do not ask.")
engine_option = click.option(
    "--on", "engine", metavar="ENGINE", default="gcp", help="For these engines; all of Google's."
)


@click.group("account")
def command() -> None:
    """The service account of runs: make and remove it.

    Without one, machines act as the project's default account, which may do nearly anything. This
    one may use the bucket of run folders, write logs, and delete the run's own machines.
    """


@command.command("up")
@click.argument("name", required=False)
@engine_option
@yes_option
@json_option
def up(name: str | None, engine: str, is_yes: bool, is_json: bool) -> int:
    """Make the account NAME (windlass-runs) with its roles, as far as they are missing."""
    from windlass.cli.questions import is_sure

    account = _account(name, engine)
    planned = account.planned()
    missing = [step for step in planned if step.done == "missing"]
    if not is_json:
        _show(planned)
    if missing and not is_sure(f"Make {len(missing)} things?", is_yes=is_yes):
        return 1
    done: list[Step] = []
    if missing:
        account.up(_telling(done, is_json=is_json))
    _finish(done or planned, account.email, is_json=is_json)
    if not is_json:
        _how_to_use(account.email, engine)
    return 0


@command.command("down")
@click.argument("name", required=False)
@engine_option
@yes_option
@json_option
def down(name: str | None, engine: str, is_yes: bool, is_json: bool) -> int:
    """Take its roles back and delete it."""
    from windlass.cli.questions import is_sure

    account = _account(name, engine)
    there = [step for step in account.planned() if step.done == "there"]
    if there and not is_sure(f"Remove {account.email}?", is_yes=is_yes):
        return 1
    done: list[Step] = []
    account.down(_telling(done, is_json=is_json))
    _finish(done, account.email, is_json=is_json)
    if not done and not is_json:
        sys.stdout.write("There is nothing to do.\n")
    return 0


def _account(name: str | None, engine: str) -> Account:
    from windlass.assemble import open_home
    from windlass.engines.registry import google_engines
    from windlass.errors import OptionRefused
    from windlass.governance.account import NAME, Account

    engines = google_engines(engine)
    if not engines:
        raise OptionRefused(
            f"{engine!r} rents nothing from Google",
            remedy=f"Use one of gcp, {', '.join(google_engines())}.",
        )
    home = open_home()
    folder = home.config.run_folder or ""
    bucket = folder.removeprefix("gs://").partition("/")[0] if folder.startswith("gs://") else ""
    return Account(home.google_session, home.project, name or NAME, engines=engines, bucket=bucket)


def _telling(done: list[Step], *, is_json: bool) -> Callable[[Step], None]:
    """Notes steps as they are done, and tells them one by one."""

    def tell(step: Step) -> None:
        done.append(step)
        if not is_json:
            sys.stdout.write(f"{step.done} {step.what} ({step.where})\n")
            sys.stdout.flush()

    return tell


def _show(steps: Sequence[Step]) -> None:
    from windlass.cli.table import draw
    from windlass.cli.terminal import width

    header = ("STATE", "WHAT", "WHERE", "FOR")
    sys.stdout.write(draw(header, [tuple(step) for step in steps], width=width(sys.stdout)) + "\n")


def _finish(steps: Sequence[Step], email: str, *, is_json: bool) -> None:
    if is_json:
        from windlass.cli.documents import print_json

        print_json({"email": email, "steps": [step._asdict() for step in steps]})


def _how_to_use(email: str, engine: str) -> None:
    from windlass.assemble import open_home
    from windlass.engines.registry import google_engines

    home = open_home()
    options = ", ".join(f"{name}: {{service_account: {email}}}" for name in google_engines(engine))
    sys.stderr.write(f"windlass: for every run, in {home.path / 'config.yaml'}:\n")
    sys.stderr.write(f"  engine: {{{options}}}\n")
