"""`windlass reap`: find what was left behind at Google, and delete it.

Must not hold logic: windlass.governance finds, judges and deletes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.errors import WindlassError
    from windlass.governance.holdings import Unseen
    from windlass.governance.reaping import Judged, Wish
    from windlass.state.model import Run

NOTHING = "Nothing of Windlass's is there"
FOUND = 1
REFUSED = 5
STYLES = {"expired": "red", "orphan": "red", "stranger": "yellow", "kept": "dim", "standing": "dim"}


@click.command("reap")
@click.option("--apply", "is_applied", is_flag=True, help="Delete what may go.")
@click.option("--strangers", is_flag=True, help="Also what is of runs that this store never had.")
@click.option(
    "--older-than", metavar="DURATION", default="0s", help="Only what is at least so old."
)
@click.option("--yes", "is_yes", is_flag=True, help="Do not ask.")
@json_option
def command(is_applied: bool, is_yes: bool, is_json: bool, **narrowed: Any) -> int:
    """Find everything of ours in the project, orphans first, with dollars a day.

    Nothing is deleted without `--apply`. What is labelled `keep=true` stays. Exit status: 0
    nothing is to be reaped, 1 something is, 5 something could not be looked at or deleted.
    """
    from windlass.assemble import open_home
    from windlass.governance.holdings import survey
    from windlass.governance.prices import Prices
    from windlass.governance.reaping import judge, reapable

    home, wish = open_home(), _wish(**narrowed)
    regions = sorted({zone.rpartition("-")[0] for zone in home.catalog.zones})
    found = survey(home.google_session, home.project, regions=regions)
    runs = _runs_here(home) if home.has_store else []
    now = home.world.clock.now()
    judged = judge(found.holdings, runs, prices=Prices(home.catalog), now=now)
    doomed = reapable(judged, wish)
    if not is_json:
        _tell(judged, found.unseen, doomed, is_applied=is_applied)
    results: list[tuple[Judged, WindlassError | None]] = []
    if is_applied and doomed:
        results = _apply(home, doomed, is_yes=is_yes, is_json=is_json)
    if is_json:
        _print_json(judged, found.unseen, doomed, results)
    return _status(found.unseen, doomed, results)


def _runs_here(home: Home) -> list[Run]:
    """A run of another cloud wants nothing of this one; what is called like it is a stranger's."""
    from windlass.controller.clouds import is_within

    return [run for run in home.store().list_runs(limit=100_000) if is_within(run, home.cloud)]


def _wish(strangers: bool, older_than: str) -> Wish:
    from windlass.errors import OptionRefused
    from windlass.governance.reaping import Wish
    from windlass.spec.refused import Refused
    from windlass.spec.units import duration_s

    try:
        return Wish(strangers=strangers, older_than_s=duration_s(older_than))
    except Refused as refused:
        message = f"--older-than: {refused.message}"
        raise OptionRefused(message, remedy=refused.remedy) from refused


def _apply(
    home: Home, doomed: Sequence[Judged], *, is_yes: bool, is_json: bool
) -> list[tuple[Judged, WindlassError | None]]:
    from windlass.cli.attach import pause
    from windlass.cli.questions import is_sure
    from windlass.cli.words import plural
    from windlass.governance.reaping import Reaper

    if not is_sure(f"Delete {plural(len(doomed), 'thing')}?", is_yes=is_yes):
        return []
    results = []
    for one, error in Reaper(home.google_session, home.project, pause=pause).reap(doomed):
        results.append((one, error))
        if not is_json:
            said = f"not deleted: {error.message} {error.remedy}" if error else "deleted"
            sys.stdout.write(f"{one.holding.kind} {one.holding.name}: {said.strip()}\n")
            sys.stdout.flush()
    return results


def _status(
    unseen: Sequence[Unseen],
    doomed: Sequence[Judged],
    results: Sequence[tuple[Judged, WindlassError | None]],
) -> int:
    if unseen or any(error for _, error in results):
        return REFUSED
    return FOUND if len(results) < len(doomed) else 0


def _tell(
    judged: Sequence[Judged],
    unseen: Sequence[Unseen],
    doomed: Sequence[Judged],
    *,
    is_applied: bool,
) -> None:
    for one in unseen:
        sys.stderr.write(f"windlass: could not look at {one.what}: {one.why}\n")
    if not judged:
        said = "Nothing was found where one could look" if unseen else NOTHING
        sys.stdout.write(f"{said}.\n")
        return
    sys.stdout.write(_table(judged) + "\n\n" + _sum(judged, doomed) + "\n")
    if doomed and not is_applied:
        sys.stdout.write("Nothing was deleted; `windlass reap --apply` does it.\n")
    sys.stdout.flush()


def _table(judged: Sequence[Judged]) -> str:
    from windlass.cli.table import draw
    from windlass.cli.terminal import Paint, width
    from windlass.cli.words import duration

    paint = Paint(sys.stdout)
    header = ("STATE", "KIND", "NAME", "WHERE", "AGE", "USD/DAY", "RUN")
    rows = [
        (
            str(one.verdict),
            one.holding.kind,
            one.holding.name,
            one.holding.place,
            duration(one.age_s),
            "unpriced" if one.usd_per_day is None else f"{one.usd_per_day:.2f}",
            one.holding.run,
        )
        for one in judged
    ]

    def style(text: str, column: int) -> str:
        return paint(text, STYLES.get(text, "")) if column == 0 else text

    return draw(header, rows, width=width(sys.stdout), right=frozenset({4, 5}), style=style)


def _sum(judged: Sequence[Judged], doomed: Sequence[Judged]) -> str:
    from windlass.cli.words import plural

    total = sum(one.usd_per_day or 0.0 for one in judged)
    saved = sum(one.usd_per_day or 0.0 for one in doomed)
    unpriced = sum(one.usd_per_day is None for one in judged)
    besides = f", and {unpriced} without a price" if unpriced else ""
    return (
        f"{plural(len(judged), 'thing')} for {total:.2f} USD a day{besides}; "
        f"{len(doomed)} to reap, {saved:.2f} USD a day."
    )


def _print_json(
    judged: Sequence[Judged],
    unseen: Sequence[Unseen],
    doomed: Sequence[Judged],
    results: Sequence[tuple[Judged, WindlassError | None]],
) -> None:
    from windlass.cli.documents import print_json
    from windlass.cli.words import iso

    said = {id(one): error.message if error else "" for one, error in results}
    to_go = {id(one) for one in doomed}
    documents = [
        {
            "verdict": str(one.verdict),
            "kind": one.holding.kind,
            "name": one.holding.name,
            "place": one.holding.place,
            "run": one.holding.run or None,
            "claim": one.holding.claim or None,
            "made_at": iso(one.holding.made_at),
            "expires_at": iso(one.holding.expires_at),
            "usd_per_day": None if one.usd_per_day is None else round(one.usd_per_day, 4),
            "is_reapable": id(one) in to_go,
            "is_deleted": said.get(id(one)) == "",
            "refused": said.get(id(one)) or None,
        }
        for one in judged
    ]
    print_json(
        {
            "holdings": documents,
            "unseen": [{"what": one.what, "why": one.why} for one in unseen],
            "usd_per_day": round(sum(one.usd_per_day or 0.0 for one in judged), 4),
        }
    )
