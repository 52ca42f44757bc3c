"""`windlass plan`: what a run will cost and when it will end, before a dollar is spent.

Must not hold logic: windlass.planner plans.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.catalog.query import Catalog
    from windlass.planner.ask import Circumstances, Place
    from windlass.planner.candidates import Candidate, Refusal
    from windlass.planner.plan import Plan
    from windlass.planner.quota import Quota

COMMITMENTS = {"1y": 1, "3y": 3}
LIVE = "live"
"""Instead of a file: what Google says now."""


@click.command("plan")
@click.argument("paths", metavar="SPEC...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--top", metavar="N", default=8, type=click.IntRange(1, 10_000), help="Show so many (8)."
)
@click.option("--explain", "offer", metavar="OFFER", help="Show every term of one offer's cost.")
@click.option("--assumptions", is_flag=True, help="Show what is assumed, and where it is from.")
@click.option("--compare", "is_compared", is_flag=True, help="Show the best of several specs.")
@click.option(
    "--quota",
    "quota_path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="What is free of each quota: `region: {metric: free}`; `live` asks Google.",
)
@click.option(
    "--commit",
    type=click.Choice(list(COMMITMENTS)),
    help="Price on-demand machines for whoever has committed to so many years.",
)
@click.option(
    "--data",
    "places",
    metavar="NAME=PLACE:SIZE",
    multiple=True,
    help="Where a dataset of the spec lies and how large it is, such as train=us:10TiB.",
)
@click.option("--managed", "is_managed", is_flag=True, help="Add the fee of Vertex training.")
@json_option
def command(paths: tuple[Path, ...], assumptions: bool, is_json: bool, **options: Any) -> None:
    """Price the spec in the file SPEC: the best ways to buy it, in total dollars and time.

    Nothing is rented, and nothing is asked of Google unless `--quota live` says so.
    """
    from windlass.assemble import open_home

    home = open_home()
    if assumptions:
        _show_assumptions(home, paths, is_json=is_json)
        return
    _check(paths, is_compared=options["is_compared"])
    circumstances = _circumstances(home, options)
    if options["offer"] and not options["is_compared"]:
        # Also where nothing can be done: then above all one wants to know why.
        plan = _plan(home, paths[0], circumstances, must_be_feasible=False)
        _show_explanation(plan, options["offer"], home.catalog, is_json=is_json)
        return
    plans = [(path, _plan(home, path, circumstances)) for path in paths]
    if options["is_compared"]:
        _show_comparison(plans, top=options["top"], is_json=is_json)
    else:
        _show_plan(plans[0][1], top=options["top"], is_json=is_json)


def _check(paths: tuple[Path, ...], *, is_compared: bool) -> None:
    from windlass.errors import OptionRefused

    if is_compared and len(paths) < 2:
        remedy = "Name them: `windlass plan --compare a.yaml b.yaml`."
        raise OptionRefused("--compare needs two specs or more", remedy=remedy)
    if not is_compared and len(paths) != 1:
        remedy = "Name one, or compare several with `--compare`."
        raise OptionRefused(f"{len(paths)} specs are named, not one", remedy=remedy)


def _plan(
    home: Home, path: Path, circumstances: Circumstances, *, must_be_feasible: bool = True
) -> Plan:
    from windlass.cli.planning import feasible_plan, plan_in
    from windlass.spec.load import load_spec

    planned = feasible_plan if must_be_feasible else plan_in
    return planned(home, load_spec(path), circumstances)


def _circumstances(home: Home, options: dict[str, Any]) -> Circumstances:
    from windlass.planner.ask import Circumstances
    from windlass.planner.quota import Quota

    return Circumstances(
        quota=_quota(home, options["quota_path"]) if options["quota_path"] else Quota(),
        commitment_years=COMMITMENTS.get(options["commit"] or ""),
        places=dict(_place(text) for text in options["places"]),
        is_managed=options["is_managed"],
    )


def _quota(home: Home, path: Path) -> Quota:
    if str(path) != LIVE:
        return _read_quota(path)
    from windlass.governance.quota import read_room

    return read_room(home.google_session, home.project, home.catalog).quota()


def _read_quota(path: Path) -> Quota:
    import yaml

    from windlass.errors import OptionRefused
    from windlass.planner.quota import read_quota

    try:
        document = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    except OSError as error:
        message = f"--quota {path}: {error.strerror}"
        raise OptionRefused(message, remedy="Name a file that can be read.") from error
    except yaml.YAMLError as error:
        message = f"--quota {path} is not YAML"
        raise OptionRefused(message, remedy="Write `region: {metric: free}`.") from error
    return read_quota(document, source=f"--quota {path}")


def _place(text: str) -> tuple[str, Place]:
    from windlass.errors import OptionRefused
    from windlass.planner.ask import Place
    from windlass.spec.refused import Refused
    from windlass.spec.units import size_bytes

    name, equals, rest = text.partition("=")
    location, colon, size = rest.partition(":")
    remedy = "Write it as `--data train=us-central1:10TiB`."
    if not (equals and colon and name and location):
        raise OptionRefused(f"--data {text}: a part is missing", remedy=remedy)
    try:
        return name, Place(location=location, gib=size_bytes(size) / 2**30)
    except Refused as refused:
        raise OptionRefused(f"--data {text}: {refused.message}", remedy=remedy) from refused


def _show_plan(plan: Plan, *, top: int, is_json: bool) -> None:
    if is_json:
        from windlass.cli.documents import print_json
        from windlass.cli.plans import plan_document

        print_json(plan_document(plan, top=top))
        return
    from windlass.cli import terminal
    from windlass.cli.plan_text import plan_text

    paint = terminal.Paint(sys.stdout)
    text = plan_text(plan, paint, top=top, width=terminal.width(sys.stdout))
    sys.stdout.write(text + "\n")


def _show_comparison(plans: list[tuple[Path, Plan]], *, top: int, is_json: bool) -> None:
    if is_json:
        from windlass.cli.documents import print_json
        from windlass.cli.plans import plan_document

        print_json([{"spec": str(path), **plan_document(plan, top=top)} for path, plan in plans])
        return
    from windlass.cli import terminal
    from windlass.cli.plan_text import comparison_text

    named = [(str(path), plan) for path, plan in plans]
    sys.stdout.write(comparison_text(named, width=terminal.width(sys.stdout)) + "\n")


def _show_explanation(plan: Plan, offer: str, catalog: Catalog, *, is_json: bool) -> None:
    from windlass.planner.sources import sources

    found, refusal = _candidate(plan, offer, catalog)
    figures = sources(plan.ask, found)
    if is_json:
        from windlass.cli.documents import print_json
        from windlass.cli.plans import explanation_document

        print_json(explanation_document(found, figures, refusal=refusal))
        return
    from windlass.cli.explanations import explanation_text
    from windlass.cli.terminal import Paint

    paint = Paint(sys.stdout)
    sys.stdout.write(explanation_text(found, figures, paint, refusal=refusal) + "\n")


def _candidate(plan: Plan, offer: str, catalog: Catalog) -> tuple[Candidate, Refusal | None]:
    """The best candidate of that offer, or what it would come to and why it was refused."""
    from windlass.errors import OptionRefused

    for found in plan.candidates:
        if found.id == offer:
            return found, None
    for refusal in plan.refusals:
        names = (refusal.offer.buy.value, refusal.way.name if refusal.way else "")
        if offer in (f"{refusal.offer.zone}/{refusal.offer.label}/{name}" for name in names):
            from windlass.planner.appraise import appraise

            return appraise(refusal, plan.ask, catalog.other_prices), refusal
    example = plan.candidates[0].id if plan.candidates else "us-central1-a/a3-highgpu-8g/spot"
    remedy = f"Offers look like {example}; `windlass catalog offers` lists them."
    if catalog.offer(offer) is not None:
        raise OptionRefused(f"the spec does not ask for {offer}", remedy=remedy)
    raise OptionRefused(f"there is no offer {offer}", remedy=remedy)


def _show_assumptions(home: Home, paths: tuple[Path, ...], *, is_json: bool) -> None:
    """Of every spec alike, but for the time of a step, which is that of the first."""
    from windlass.cli.planning import history_of
    from windlass.planner.priors import load_priors
    from windlass.planner.sources import assumptions
    from windlass.spec.load import load_spec

    spec = load_spec(paths[0]) if paths else None
    figures = assumptions(load_priors(), history_of(home, spec))
    if is_json:
        from windlass.cli.documents import print_json
        from windlass.cli.plans import figure_document

        print_json([figure_document(figure) for figure in figures])
        return
    from windlass.cli.figures import figures_text

    sys.stdout.write(figures_text(figures) + "\n")
