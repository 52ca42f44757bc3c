"""What runs of a simulated twin may rent: real offers of the catalog, as the planner puts them.

Must not invent a price or a zone.
"""

from __future__ import annotations

import json
from functools import cache
from typing import NamedTuple

from windlass.catalog.load import load_catalog
from windlass.catalog.query import Catalog
from windlass.controller.renting import Gang, recorded, rented
from windlass.engines.registry import ALL_OF_GOOGLE, google_engines, renter
from windlass.planner.ask import Circumstances
from windlass.planner.plan import all_failover, make_plan
from windlass.simulation.luck import Luck
from windlass.spec.accelerators import accelerators
from windlass.spec.model import Resources, Spec, Where, Work

ZONES = ("us-central1-a", "us-central1-c", "us-east1-b", "us-west4-a", "us-west4-b")
SAFE_REGION = "us-central1"
"""Has quota in every world, so that every run can end."""
FLEX_START = "flex-start"
WAYS = (("spot",), ("on-demand",), ("spot", "on-demand"), ("spot", FLEX_START))


class Kind(NamedTuple):
    """What a run asks for, and of whom."""

    accelerators: str
    machine: str = ""
    """Empty for slices."""
    nodes_max: int = 3
    is_managed: bool = False
    """It is asked of the engine that rents both out, for a fee."""

    @property
    def engine(self) -> str:
        """Who rents it out."""
        if self.is_managed:
            return next(name for name in google_engines() if _rents_both(name))
        return renter([ALL_OF_GOOGLE], is_slice=not self.machine) or ""


def _rents_both(name: str) -> bool:
    return renter([name], is_slice=True) == renter([name], is_slice=False) == name


KINDS = (
    Kind("L4:1", "g2-standard-4"),
    Kind("A100:1", "a2-highgpu-1g"),
    Kind("T4:1", "n1-standard-4+T4:1", nodes_max=1),
    Kind("v5e-4", nodes_max=2),
    Kind("v5e-16", nodes_max=1),
    Kind("A100:1", "a2-highgpu-1g", is_managed=True),
    Kind("L4:1", "g2-standard-4", is_managed=True),
)


@cache
def catalog() -> Catalog:
    """The catalog, cut to what is rented here."""
    labels = {kind.machine or kind.accelerators for kind in KINDS}
    full = load_catalog()
    kept = [offer for offer in full.all_offers() if offer.zone in ZONES and offer.label in labels]
    return full.with_offers(kept)


@cache
def gangs_of(kind: Kind, nodes: int, ways: tuple[str, ...]) -> tuple[Gang, ...]:
    """Every gang that the planner finds for it, best first."""
    wanted = accelerators(kind.accelerators)
    spec = Spec(
        name="planned",
        run="train",
        resources=Resources(
            accelerators=(wanted,),
            nodes_min=nodes,
            nodes_max=nodes,
            machine=kind.machine or None,
        ),
        where=Where(buy=ways),
        work=Work(
            steps=1000,
            reference_accelerators=wanted,
            reference_nodes=nodes,
            reference_step_s=1.0,
        ),
    )
    plan = make_plan(spec, catalog(), Circumstances(is_managed=kind.is_managed))
    return tuple(rented(found, engine=kind.engine) for found in all_failover(plan))


def chosen_gangs(luck: Luck, kinds: tuple[Kind, ...], *, nodes: int, work_s: float) -> list[Gang]:
    """What a run may rent of what it asks for: in some zones, in some order."""
    ways = WAYS[luck.whole(0, len(WAYS) - 1)]
    found = [gang for kind in kinds for gang in gangs_of(kind, min(nodes, kind.nodes_max), ways)]
    shuffled = sorted(found, key=lambda _: luck.between(0.0, 1.0))
    chosen = shuffled[: luck.whole(1, len(shuffled))]
    if not any(gang.region == SAFE_REGION for gang in chosen):
        chosen.append(next(gang for gang in shuffled if gang.region == SAFE_REGION))
    return [gang._replace(work_s=work_s) for gang in chosen]


def options_of(gangs: list[Gang]) -> str:
    """As the row of a run keeps them."""
    options = {"rented": gangs[0]._asdict(), "offers": recorded(gangs[1:])}
    return json.dumps(options, sort_keys=True)
