"""`windlass events`: what happened to a run.

Must not hold logic.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from windlass.cli.params import follow_option, json_option, run_argument

if TYPE_CHECKING:
    from windlass.state.model import Event
    from windlass.state.store import Store


@click.command("events")
@run_argument
@follow_option("Go on until the run ends.")
@json_option
def command(run_name: str, is_following: bool, is_json: bool) -> None:
    """What happened to a run, oldest first. With --json one document a line."""
    from windlass.assemble import open_home
    from windlass.cli.attach import LAST_PAUSE_S, pause
    from windlass.cli.runs import find_run
    from windlass.state.phases import is_ended

    store = open_home().store()
    run = find_run(store, run_name)
    after = 0
    while True:
        current = store.get_run(run.id)
        after = _print_after(store, run.id, after, is_json=is_json)
        if not is_following or current is None or is_ended(current.phase):
            return
        pause(LAST_PAUSE_S)


def _print_after(store: Store, run_id: str, after: int, *, is_json: bool) -> int:
    """Print what is new; the number of the last event that is known."""
    while True:
        events = store.list_events(run_id, after=after)
        for event in events:
            _print(event, is_json=is_json)
            after = event.sequence
        if not events:
            sys.stdout.flush()
            return after


def _print(event: Event, *, is_json: bool) -> None:
    if is_json:
        from windlass.cli.documents import event_document, print_line

        print_line(event_document(event))
        return
    from windlass.cli.table import pad
    from windlass.cli.terminal import Paint
    from windlass.cli.words import local_time

    paint = Paint(sys.stdout)
    at = paint(local_time(event.at), "dim")
    attempt = str(event.attempt) if event.attempt else "-"
    code = paint(pad(event.code, 18), "cyan")
    sys.stdout.write(f"{at}  {attempt:>3}  {code}  {event.message}\n")
