"""`windlass catalog`: what can be rented, where and at what price, and which snapshot that is of.

Must not decide what is best: `windlass plan` does. Must not import rich.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog

Function = TypeVar("Function", bound=Callable[..., Any])

BUYS = ("on-demand", "spot", "flex-start", "calendar")
SORTS = ("price", "chip", "zone")


def _filters(function: Function) -> Function:
    """The options that narrow offers down."""
    for option in (
        click.option(
            "--accelerator",
            "accelerators",
            multiple=True,
            metavar="NAME[:N]",
            help="Only with these, such as H100:8, H100 (any number) or v5e-16; repeat for more.",
        ),
        click.option(
            "--region",
            "regions",
            multiple=True,
            metavar="PATTERN",
            help="Only in these regions or zones, such as 'us-*'; repeat for more.",
        ),
        click.option("--buy", "buys", multiple=True, type=click.Choice(BUYS), help="Only so."),
    ):
        function = option(function)
    return function


@click.group("catalog", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """What can be rented on Google Cloud, where, and at what list price."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@command.command("accelerators")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@json_option
def accelerators(names: tuple[str, ...], is_json: bool) -> None:
    """List accelerators, their figures, and the cheapest hour of one chip."""
    from windlass.cli.browsing import model_name
    from windlass.cli.offers import CHIPS_HEADER, CHIPS_RIGHT, chip_document, chip_row

    catalog = _catalog()
    wanted = [model_name(name) for name in names]
    chips = [chip for name, chip in catalog.chips.items() if not wanted or name in wanted]
    if is_json:
        _print_json([chip_document(catalog, chip) for chip in chips])
        return
    _print_table(CHIPS_HEADER, [chip_row(catalog, chip) for chip in chips], CHIPS_RIGHT)


@command.command("offers")
@_filters
@click.option("--machine", metavar="TYPE", help="Only this machine type.")
@click.option(
    "--max-price", type=click.FloatRange(min=0), metavar="USD", help="At most this an hour."
)
@click.option(
    "--committed",
    type=click.Choice(["1", "3"]),
    help="On demand, for whoever commits to so many years.",
)
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default="price",
    help="By price (default), by price of one chip, or by zone.",
)
@click.option(
    "-n", "count", type=click.IntRange(1), metavar="N", default=20, help="At most N offers (20)."
)
@json_option
def offers(sort: str, count: int, is_json: bool, **filters: Any) -> None:
    """List what can be rented, cheapest first. Prices are of one machine or one whole slice."""
    from windlass.cli.browsing import Asked, matching, order, why_none
    from windlass.cli.offers import OFFERS_HEADER, OFFERS_RIGHT, offer_document, offer_row

    catalog, asked = _catalog(), Asked(**filters)
    found = sorted(matching(catalog, asked), key=order(sort))
    if is_json:
        _print_json([offer_document(offer) for offer in found[:count]])
    elif found:
        _print_table(OFFERS_HEADER, [offer_row(offer) for offer in found[:count]], OFFERS_RIGHT)
        if len(found) > count:
            _say(f"{len(found) - count:,} more: `-n {len(found)}` shows them all.")
    else:
        _say(why_none(catalog, asked))


@command.command("zones")
@_filters
@json_option
def zones(is_json: bool, **filters: Any) -> None:
    """List zones, and what each has."""
    from windlass.cli.browsing import Asked, matching, why_none
    from windlass.cli.offers import ZONES_HEADER, ZONES_RIGHT, zone_documents, zone_row

    catalog, asked = _catalog(), Asked(**filters)
    documents = zone_documents(matching(catalog, asked))
    if is_json:
        _print_json(documents)
    elif documents:
        _print_table(ZONES_HEADER, [zone_row(document) for document in documents], ZONES_RIGHT)
    else:
        _say(why_none(catalog, asked))


@command.command("show")
@json_option
def show(is_json: bool) -> None:
    """Say which snapshot of prices is in use, how old it is, and where it comes from."""
    from windlass.assemble import open_home
    from windlass.catalog.load import PACKAGED, chosen
    from windlass.cli.table import facts
    from windlass.cli.words import plural

    home = open_home()
    path, catalog = chosen(home.catalog_folder), home.catalog
    days = _days_since(catalog.snapshot, home.world.clock.now())
    document = {
        "snapshot": catalog.snapshot,
        "age_days": days,
        "path": str(path),
        "is_packaged": path == PACKAGED,
        "accelerators": len(catalog.chips),
        "machines": len(catalog.machines),
        "slices": len(catalog.slices),
        "zones": len(catalog.zones),
        "offers": sum(1 for _ in catalog.all_offers()),
        "other_prices": sum(1 for _ in catalog.other_prices),
    }
    if is_json:
        _print_json(document)
        return
    origin = "came with Windlass" if path == PACKAGED else f"installed in {path.parent}"
    pairs = [("snapshot", f"{catalog.snapshot}, {plural(days, 'day')} old"), ("origin", origin)]
    pairs += [
        (name.replace("_", " "), f"{document[name]:,}")
        for name in ("offers", "zones", "accelerators", "machines", "slices", "other_prices")
    ]
    sys.stdout.write(facts(pairs) + "\n")


@command.command("update")
@click.option(
    "--from",
    "source",
    required=True,
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="A catalog file, or a folder of CSV files.",
)
@click.option("--snapshot", metavar="DATE", help="The day of a folder that does not say it.")
@click.option("--force", "is_forced", is_flag=True, help="Also when it is older than what is used.")
@json_option
def update(source: Path, snapshot: str | None, is_forced: bool, is_json: bool) -> None:
    """Use newer prices, after they have been checked; all of them, or none."""
    from windlass.assemble import open_home
    from windlass.catalog.install import install, read_checked
    from windlass.cli.words import iso

    home = open_home()
    today = (iso(home.world.clock.now()) or "")[:10]
    checked = read_checked(source, today=today, snapshot=snapshot)
    path = install(checked, home.catalog_folder, is_forced=is_forced)
    if is_json:
        _print_json(
            {"snapshot": checked.catalog.snapshot, "path": str(path), "notes": list(checked.notes)}
        )
        return
    for note in checked.notes:
        _say(f"note: {note}")
    _say(f"The catalog of {checked.catalog.snapshot} is used from now on.")


@command.command("reset")
@json_option
def reset(is_json: bool) -> None:
    """Go back to the catalog that came with Windlass."""
    from windlass.assemble import open_home
    from windlass.catalog.install import reset as reset_folder
    from windlass.catalog.load import PACKAGED, snapshot_of

    is_changed = reset_folder(open_home().catalog_folder)
    snapshot = snapshot_of(PACKAGED)
    if is_json:
        _print_json({"snapshot": snapshot, "is_changed": is_changed})
        return
    _say(f"The catalog of {snapshot}, which came with Windlass, is in use.")


# ---- the parts they share --------------------------------------------------------------------


def _catalog() -> Catalog:
    from windlass.assemble import open_home

    return open_home().catalog


def _days_since(snapshot: str, now: float) -> int:
    from datetime import UTC, date, datetime

    today = datetime.fromtimestamp(now, UTC).date()
    return (today - date.fromisoformat(snapshot)).days


def _print_json(document: Any) -> None:
    from windlass.cli.documents import print_json

    print_json(document)


def _print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int]
) -> None:
    from windlass.cli.table import draw
    from windlass.cli.terminal import width

    sys.stdout.write(draw(header, rows, width=width(sys.stdout), right=right) + "\n")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
