"""`windlass network`: networks for gangs at Google: make, show, remove.

Must not hold logic: windlass.governance does it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.governance.network import Network, Step

DEFAULT_REGION = "us-central1"
NOUNS = {
    "networks": "network",
    "subnetworks": "subnetwork",
    "firewalls": "firewall",
    "routers": "router+NAT",
}

regions_option = click.option("--region", "regions", metavar="R", multiple=True, help="A region.")
yes_option = click.option("--yes", "is_yes", is_flag=True, help="Do not ask.")


@click.group("network")
def command() -> None:
    """Networks for gangs at Google: make, show, remove.

    Machines of a gang have no external address. These networks let them reach buckets (Private
    Google Access) and the Internet (NAT), talk to each other, and let people in through IAP.
    """


@command.command("up")
@regions_option
@click.option("--for", "machine", metavar="MACHINE", help="Also what its GPUs need to talk.")
@yes_option
@json_option
def up(regions: tuple[str, ...], machine: str | None, is_yes: bool, is_json: bool) -> int:
    """Make what is not there yet, in us-central1 or the regions that are named."""
    from windlass.cli.questions import is_sure

    network = _network()
    wish = network.wish(regions or (DEFAULT_REGION,), machine)
    planned = network.planned(wish)
    missing = [step for step in planned if step.done == "missing"]
    if not is_json:
        _tell(planned)
    if missing and not is_sure(f"Make {len(missing)} things?", is_yes=is_yes):
        return 1
    told = _Told(is_json=is_json)
    if missing:
        network.up(wish, told.tell_made)
    told.finish(planned if not missing else told.steps)
    return 0


@command.command("down")
@regions_option
@yes_option
@json_option
def down(regions: tuple[str, ...], is_yes: bool, is_json: bool) -> int:
    """Remove what `windlass network up` made, all of it or that of the regions named."""
    from windlass.cli.questions import is_sure

    network = _network()
    found = [one for one in network.show() if not regions or one.place in regions]
    if found and not is_json:
        _tell(found)
    if found and not is_sure(f"Remove {len(found)} things?", is_yes=is_yes):
        return 1
    told = _Told(is_json=is_json)
    if found:
        network.down(regions, told.tell)
    told.finish(told.steps)
    return 5 if any(step.done == "refused" for step in told.steps) else 0


@command.command("show")
@json_option
def show(is_json: bool) -> None:
    """What is there, and what it costs in a day."""
    steps = _network().show()
    if is_json:
        _print_json(steps)
    elif not steps:
        sys.stderr.write("There are no networks of Windlass here: `windlass network up`.\n")
    else:
        _tell(steps)


def _network() -> Network:
    from windlass.assemble import open_home
    from windlass.cli.attach import pause
    from windlass.google.compute import Compute
    from windlass.governance.network import Network

    home = open_home()
    compute = Compute(home.google_session, home.project)
    return Network(compute, home.catalog, pause=pause, nonce=home.world.entropy.id())


class _Told:
    """Steps as they are done, told one by one."""

    def __init__(self, *, is_json: bool) -> None:
        self.steps: list[Step] = []
        self._is_json = is_json

    def tell_made(self, step: Step) -> None:
        """Only what is new is worth a line: the rest was told before."""
        if step.done == "made":
            self.tell(step)
        else:
            self.steps.append(step)

    def tell(self, step: Step) -> None:
        """One line for a person."""
        self.steps.append(step)
        if not self._is_json:
            why = f": {step.why}" if step.done == "refused" else ""
            noun = NOUNS[step.collection]
            sys.stdout.write(f"{step.done} {noun} {step.name} ({step.place}){why}\n")
            sys.stdout.flush()

    def finish(self, steps: Sequence[Step]) -> None:
        """Everything at once for a program."""
        if self._is_json:
            _print_json(steps)
        elif not self.steps:
            sys.stdout.write("There is nothing to do.\n")


def _tell(steps: Sequence[Step]) -> None:
    from windlass.cli.table import draw
    from windlass.cli.terminal import width

    header: tuple[str, ...] = ("STATE", "KIND", "NAME", "WHERE", "USD/DAY", "FOR")
    rows: list[tuple[str, ...]] = [
        (
            step.done,
            NOUNS[step.collection],
            step.name,
            step.place,
            f"{step.usd_per_day:.2f}" if step.usd_per_day else "-",
            step.why,
        )
        for step in steps
    ]
    total = sum(step.usd_per_day for step in steps)
    if not any(step.why for step in steps):
        header, rows = header[:-1], [row[:-1] for row in rows]
    table = draw(header, rows, width=width(sys.stdout), right=frozenset({4}))
    sys.stdout.write(f"{table}\n\nAt most {total:.2f} USD a day, and what flows through NAT.\n")


def _print_json(steps: Sequence[Step]) -> None:
    from windlass.cli.documents import print_json

    print_json({"steps": [_document(step) for step in steps], "usd_per_day": _total(steps)})


def _total(steps: Sequence[Step]) -> float:
    return round(sum(step.usd_per_day for step in steps), 4)


def _document(step: Step) -> dict[str, Any]:
    return {
        "done": step.done,
        "collection": step.collection,
        "name": step.name,
        "place": step.place,
        "why": step.why,
        "usd_per_day": round(step.usd_per_day, 4),
    }
