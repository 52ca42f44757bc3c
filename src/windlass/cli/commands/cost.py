"""`windlass cost`: what machines have cost, by team, owner, run or environment.

Must not add anything up: windlass.policy.totals does.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.policy.totals import Total

KEYS = ("team", "owner", "run", "env")
NONE = "(none)"


@click.command("cost")
@click.option(
    "--by", "key", type=click.Choice(KEYS), default="run", help="Add up by this; by run otherwise."
)
@click.option("--since", metavar="TIME", help="Only what was spent since then, such as 7d or 12h.")
@json_option
def command(key: str, since: str | None, is_json: bool) -> None:
    """What machines have cost so far, dearest first; also those of runs that were removed.

    Prices are the catalog's, times are the controller's: an estimate of the bill, not the bill.
    """
    from windlass.assemble import open_home
    from windlass.controller.clouds import is_within
    from windlass.policy.totals import By, totals

    home = open_home()
    now = home.world.clock.now()
    since_at = None if since is None else now - _seconds(since)
    charges = [one for one in home.store().charges(since=since_at) if is_within(one, home.cloud)]
    found = totals(charges, by=By(key), now=now, since=since_at)
    if is_json:
        from windlass.cli.documents import print_json
        from windlass.cli.words import iso

        print_json({"by": key, "since": iso(since_at), "totals": [_document(one) for one in found]})
    elif not found:
        when = f" in the last {since}" if since else ""
        sys.stderr.write(f"Nothing was rented{when}.\n")
    else:
        sys.stdout.write(_table(found, key) + "\n")


def _seconds(text: str) -> float:
    from windlass.errors import OptionRefused
    from windlass.spec.refused import Refused
    from windlass.spec.units import positive_duration_s

    try:
        return positive_duration_s(text)
    except Refused as refused:
        raise OptionRefused(f"--since: {refused.message}", remedy=refused.remedy) from refused


def _document(total: Total) -> dict[str, Any]:
    return {
        "key": total.key or None,
        "usd": round(total.usd, 4),
        "race_usd": round(total.race_usd, 4),
        "hours": round(total.hours, 4),
        "runs": total.runs,
        "usd_per_h": round(total.usd_per_h, 4),
    }


def _table(found: list[Total], key: str) -> str:
    from windlass.cli.table import draw
    from windlass.cli.terminal import width

    rows = [
        (
            total.key or NONE,
            f"{total.usd:.2f}",
            f"{total.race_usd:.2f}",
            f"{total.hours:.1f}",
            str(total.runs),
            f"{total.usd_per_h:.2f}" if total.usd_per_h else "-",
        )
        for total in found
    ]
    if len(found) > 1:
        sums = [sum(each) for each in zip(*(total[1:4] for total in found), strict=True)]
        rate, runs = sum(total.usd_per_h for total in found), sum(total.runs for total in found)
        now = f"{rate:.2f}" if rate else "-"
        rows.append(("total", f"{sums[0]:.2f}", f"{sums[1]:.2f}", f"{sums[2]:.1f}", str(runs), now))
    header = (key.upper(), "USD", "RACES", "HOURS", "RUNS", "USD/H NOW")
    return draw(header, rows, width=width(sys.stdout), right=frozenset({1, 2, 3, 4, 5}))
