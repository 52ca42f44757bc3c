"""What is asked for: a spec, and the circumstances it is planned in, in the planner's own terms.

Must not look at offers one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

from windlass.catalog.model import Buy, Chip, Machine, Offer
from windlass.catalog.query import Catalog
from windlass.planner.gang import Gang
from windlass.planner.history import History
from windlass.planner.priors import Priors, load_priors
from windlass.planner.quota import Quota
from windlass.planner.useful import Amount, Reference
from windlass.spec.model import Accelerators, Spec

RESERVATION = "reservation/"
RESERVED = RESERVATION.rstrip("/")
NODES_LISTED = 16
"""A range of more nodes than this is tried at 1 to 8, 10, 12, 14, 16, 20, ... and its ends."""


class Place(NamedTuple):
    """Where a dataset lies and how large it is."""

    location: str
    """A region, or a multi-region such as `us`."""
    gib: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """Everything beside the spec and the catalog that a plan depends on."""

    quota: Quota = Quota()
    history: History = History()
    priors: Priors = field(default_factory=load_priors)
    commitment_years: int | None = None
    places: Mapping[str, Place] = field(default_factory=dict)
    """By the name that a dataset has in the spec's `data`."""
    is_managed: bool = False
    """Vertex runs it: for its fee, and in whichever zone of a region it finds machines."""
    unsold: Callable[[Offer], str] | None = None
    """Why an offer cannot be had of who rents it out; empty when it can."""


class Way(NamedTuple):
    """One allowed way to buy."""

    name: str
    """As in the spec: `spot`, `reservation/my-block`."""
    kind: str
    """As in the priors: `spot`, `reservation`."""
    buy: Buy
    order: int
    """Its place in the spec's list, which breaks ties."""

    @property
    def is_prepaid(self) -> bool:
        """Its machines are billed whether or not they are used."""
        return self.kind == RESERVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A spec to plan, with everything derived from it that does not depend on an offer."""

    spec: Spec
    circumstances: Circumstances
    ways: Mapping[Buy, tuple[Way, ...]]
    nodes: tuple[int, ...]
    amount: Amount | None
    """None: the spec does not say how much there is to do, or how fast it goes."""

    @property
    def priors(self) -> Priors:
        """The circumstances'."""
        return self.circumstances.priors

    def has_region(self, region: str) -> bool:
        """Whether the run may go there."""
        patterns = self.spec.where.regions
        return not patterns or any(fnmatchcase(region, pattern) for pattern in patterns)


def make_ask(spec: Spec, catalog: Catalog, circumstances: Circumstances) -> Ask:
    """What the spec asks for."""
    return Ask(
        spec=spec,
        circumstances=circumstances,
        ways=_ways(spec),
        nodes=node_counts(spec.resources.nodes_min, spec.resources.nodes_max),
        amount=_amount(spec, catalog, circumstances.history),
    )


def allowed_buys(spec: Spec) -> tuple[str, ...]:
    """As written, else on demand, and spot before it where a checkpoint makes that bearable."""
    if spec.where.buy:
        return spec.where.buy
    on_demand, spot = Buy.ON_DEMAND.value, Buy.SPOT.value
    return (spot, on_demand) if spec.checkpoint is not None else (on_demand,)


def _ways(spec: Spec) -> dict[Buy, tuple[Way, ...]]:
    ways: dict[Buy, tuple[Way, ...]] = {}
    for order, name in enumerate(allowed_buys(spec)):
        is_reserved = name.startswith(RESERVATION)
        # What is reserved are machines of the kind that is sold on demand.
        buy = Buy.ON_DEMAND if is_reserved else Buy(name)
        kind = RESERVED if is_reserved else name
        way = Way(name=name, kind=kind, buy=buy, order=order)
        ways[buy] = (*ways.get(buy, ()), way)
    return ways


def node_counts(low: int, high: int) -> tuple[int, ...]:
    """The numbers of nodes to try: all of a short range, else steps of at most a quarter."""
    if high - low < NODES_LISTED:
        return tuple(range(low, high + 1))
    steps = {low, high}
    power = 1
    while power <= high:
        quarters = (power + power * part // 4 for part in range(4))
        steps.update(count for count in quarters if low <= count <= high)
        power *= 2
    return tuple(sorted(steps))


def _amount(spec: Spec, catalog: Catalog, history: History) -> Amount | None:
    work = spec.work
    if work is None:
        return None
    reference = _reference(spec, catalog, history)
    if reference is None and work.tokens is None:
        return None
    return Amount(steps=work.steps, params=work.params, tokens=work.tokens, reference=reference)


def _reference(spec: Spec, catalog: Catalog, history: History) -> Reference | None:
    """The user's own runs know better than what the spec says."""
    work = spec.work
    if work is None or work.steps is None:
        return None
    for measured in history.steps:
        gang = gang_of(measured.accelerators, measured.nodes, catalog)
        if gang is not None:
            return Reference(gang=gang, step_s=measured.step_s, source="history")
    if work.reference_accelerators is None or work.reference_step_s is None:
        return None
    gang = gang_of(work.reference_accelerators, work.reference_nodes or 1, catalog)
    if gang is None:
        return None
    return Reference(gang=gang, step_s=work.reference_step_s, source="spec")


def gang_of(accelerators: Accelerators, nodes: int, catalog: Catalog) -> Gang | None:
    """A gang with these accelerators, on a machine that has them; None when the chip is unknown."""
    chip = catalog.chips.get(accelerators.name)
    if chip is None:
        return None
    slice_ = catalog.slices.get(str(accelerators)) if accelerators.is_tpu else None
    machine = catalog.machines.get(slice_.machine) if slice_ else None
    if machine is None:
        machine = _machine_with(chip, accelerators.count, catalog)
    if machine is None:
        return None
    return Gang(
        machine=machine,
        chip=chip,
        chips_per_node=slice_.chips if slice_ else accelerators.count,
        hosts_per_node=slice_.hosts if slice_ else 1,
        nodes=nodes,
    )


def _machine_with(chip: Chip, count: int, catalog: Catalog) -> Machine | None:
    """One with so many chips, else any with that chip."""
    having = [machine for machine in catalog.machines.values() if machine.chip == chip.name]
    exact = [machine for machine in having if machine.chips == count]
    return next(iter(exact or having), None)
