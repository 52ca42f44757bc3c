"""What the claims of a run may be for: the candidates of its plan, as the run records them.

Must not choose: the planner ranks, and offers.py takes the next one that is free. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from windlass.planner.candidates import Candidate

OFFERS_MAX = 50
"""So many are kept with a run: the row is written at every step."""


class Gang(NamedTuple):
    """What a claim is for, recorded with it: plans of later runs learn from it.

    Every `windlass run` loads this before its run starts, so it is one of the cheaper tuples.
    """

    offer: str = ""
    """What is rented; empty where nothing is."""
    buy: str = ""
    """As the spec writes it."""
    accelerators: str = ""
    """Of each node; empty for none, and where they are only emulated."""
    nodes: int = 1
    """Slices, for TPUs."""
    engine: str = ""
    """Who rents it out; empty: the engine of the run."""
    region: str = ""
    metric: str = ""
    """The quota that it is counted against, where that is known."""
    usd_per_h: float = 0.0
    """All of its machines, with all that is paid while they are held."""
    work_s: float = 0.0
    """How long all of the run's work takes on it when nothing happens; 0 when nobody knows."""
    restart_s: float = 0.0
    """What a start takes before work goes on, with what is lost of a segment on average."""
    usd: float = 0.0
    """What the whole run is expected to cost on it."""
    p50_s: float = 0.0
    p90_s: float = 0.0
    """Quantiles of the time from submit to the end."""

    @property
    def zone(self) -> str:
        """Where it is."""
        return self.offer.partition("/")[0]

    @property
    def label(self) -> str:
        """The machine type or slice."""
        return self.offer.partition("/")[2].rpartition("/")[0]

    @property
    def kind(self) -> str:
        """How it is bought, without the name of a reservation."""
        return self.buy.partition("/")[0]


def rented(chosen: Candidate, *, engine: str = "") -> Gang:
    """What claims record of it, and of who rents it out where that is not the run's engine."""
    offer, estimate = chosen.offer, chosen.estimate
    accelerators = ""
    if offer.slice is not None:
        accelerators = offer.slice.name
    elif offer.chip is not None:
        accelerators = f"{offer.chip.name}:{offer.machine.chips}"
    rates, course = chosen.rates, estimate.course
    return Gang(
        offer=offer.id,
        buy=chosen.way.name,
        accelerators=accelerators,
        nodes=chosen.nodes,
        engine=engine,
        region=offer.region,
        metric=offer.quota_metric or "",
        usd_per_h=round(
            rates.machines_per_h + rates.fee_per_h + rates.disk_per_h + rates.nat_per_h, 6
        ),
        work_s=round(course.segments * course.segment_s, 3) if estimate.useful else 0.0,
        restart_s=round(course.restart_s + course.segment_s / 2, 3),
        usd=round(chosen.usd, 4),
        p50_s=round(estimate.p50_s, 3),
        p90_s=round(estimate.p90_s, 3),
    )


def recorded(gangs: Iterable[Gang]) -> list[list[Any]]:
    """As the run's row keeps them."""
    return [list(gang) for gang in gangs][:OFFERS_MAX]
