"""`windlass exec`: run a command on a node of a run.

Must not reach the node itself: the request goes through the run's folder.
"""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option, run_argument

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.cli.interrupts import Interrupts
    from windlass.controller.commands import Command, Node

CANCEL_WAIT_S = 10.0
"""How long a cancelled command has to end before we leave without it."""


@click.command("exec", context_settings={"ignore_unknown_options": True})
@run_argument
@click.option("--node", type=click.IntRange(0), default=0, metavar="K", help="On node K (0).")
@json_option
@click.argument("words", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(run_name: str, node: int, is_json: bool, words: tuple[str, ...]) -> int:
    """Run a command on a node of a run, with the ranks' environment and folder.

    What it prints is streamed; its exit status is passed on; Ctrl-C cancels it. One word alone is
    given to the shell as it is: `windlass exec RUN -- 'ps aux | grep train'`.
    """
    from windlass.assemble import open_home
    from windlass.cli.interrupts import noted_interrupts
    from windlass.cli.runs import find_run
    from windlass.controller.commands import node_of

    home = open_home()
    run = find_run(home.store(), run_name)
    place = node_of(home.folder(run.id), run, node=node)
    with noted_interrupts() as interrupts:
        asked = place.command(home.world.entropy.id(10))
        _refuse_silent(place, home, run.id)
        line = words[0] if len(words) == 1 else shlex.join(words)
        asked.ask(line, now=home.world.clock.now())
        status, printed = _follow(home, place, asked, (interrupts, is_json))
    if is_json:
        from windlass.cli.documents import print_json

        text = printed.decode("utf-8", "replace")
        print_json({"run": run.id, "node": node, "status": status, "output": text})
    return status if status >= 0 else 128 - status


def _refuse_silent(place: Node, home: Home, run_id: str) -> None:
    from windlass.errors import RunNotReady

    trouble = place.trouble(home.world.clock.now())
    if trouble:
        raise RunNotReady(
            f"the command cannot run: {trouble}",
            remedy=f"See how the run is with `windlass show {run_id}`.",
        )


def _follow(
    home: Home, place: Node, asked: Command, how: tuple[Interrupts, bool]
) -> tuple[int, bytes]:
    """Stream the output until the command ends; its status, and the output when it is kept."""
    from windlass.cli.attach import DETACHED, FIRST_PAUSE_S, LAST_PAUSE_S, pause

    interrupts, is_kept = how
    clock = home.world.clock
    kept = b""
    wait_s, checked_at, leave_at = FIRST_PAUSE_S, clock.monotonic(), float("inf")
    while True:
        status = asked.status()  # Before the output: what it printed is whole once it ended.
        fresh = asked.output()
        if is_kept:
            kept += fresh
        elif fresh:
            sys.stdout.buffer.write(fresh)
            sys.stdout.buffer.flush()
        if status is not None:
            return status, kept
        now = clock.monotonic()
        if now >= leave_at:
            return DETACHED, kept
        if interrupts.is_pending and leave_at == float("inf"):
            asked.cancel()
            leave_at = now + CANCEL_WAIT_S
        if now - checked_at > 1.0:
            checked_at = now
            _refuse_lost(place, home)
        wait_s = FIRST_PAUSE_S if fresh else min(wait_s * 1.2, LAST_PAUSE_S)
        pause(wait_s)


def _refuse_lost(place: Node, home: Home) -> None:
    from windlass.errors import RunNotReady

    trouble = place.trouble(home.world.clock.now())
    if trouble:
        raise RunNotReady(
            f"the command was cut off: {trouble}", remedy="See `windlass ps` for the run's phase."
        )
