"""How long the work would take if nothing ever happened, from what the spec says of it.

Must not know prices, hazards or waits.
"""

from __future__ import annotations

from typing import NamedTuple

from windlass.planner.gang import (
    Gang,
    allreduce_s,
    compute_of_step_s,
    flops_per_s,
    links_of,
    step_s,
)
from windlass.planner.priors import Priors

FLOPS_PER_TOKEN = 6.0
"""For each parameter: two of the forward pass, four of the backward pass."""
GRADIENT_BYTES = 2.0


class Reference(NamedTuple):
    """A step that was measured, and what on."""

    gang: Gang
    step_s: float
    source: str
    """`spec`, or `history`."""


class Amount(NamedTuple):
    """How much there is to do, and what is known of how fast it goes."""

    steps: int | None = None
    params: float | None = None
    tokens: float | None = None
    reference: Reference | None = None


class Useful(NamedTuple):
    """The time of useful work on one gang, and how it was found."""

    work_s: float
    step_s: float
    scaling: float
    """The part of a step that computes."""
    amount: Amount
    is_measured: bool
    """The reference is this very gang."""

    @property
    def how(self) -> str:
        """For people."""
        reference = self.amount.reference
        if self.amount.steps is None or reference is None:
            params, tokens = self.amount.params or 0.0, self.amount.tokens or 0.0
            return f"6 x {params:.3g} parameters x {tokens:.3g} tokens"
        if self.is_measured:
            return f"{self.amount.steps} steps as measured ({reference.source})"
        return f"{self.amount.steps} steps, scaled from the reference ({reference.source})"


def params_of(amount: Amount, priors: Priors) -> float | None:
    """The size of the model: as given, or as the reference step suggests."""
    if amount.params is not None:
        return amount.params
    if amount.reference is None:
        return None
    gang = amount.reference.gang
    speed = flops_per_s(gang, priors)
    if speed is None:
        return None
    tokens = priors.value("tokens_per_chip_step") * gang.chips
    return amount.reference.step_s * speed / (FLOPS_PER_TOKEN * tokens)


class Pace:
    """How fast gangs of one kind do the work, whatever their number of nodes."""

    __slots__ = ("_amount", "_flops", "_gradients", "_links", "_overlap", "_per_node", "_seen")

    def __init__(self, amount: Amount, gang: Gang, priors: Priors) -> None:
        one = gang._replace(nodes=1)
        params = params_of(amount, priors)
        self._amount = amount
        self._gradients = GRADIENT_BYTES * (params or 0.0)
        self._links = links_of(one, priors)
        self._overlap = priors.value("overlap")
        self._per_node = None if params is None else flops_per_s(one, priors)
        self._flops = _flops_of_step(amount, one, priors)
        reference = amount.reference if amount.steps is not None else None
        is_like = reference is not None and reference.gang._replace(nodes=1) == one
        self._seen = reference if is_like else None

    def on(self, nodes: int) -> Useful | None:
        """The time on so many nodes; None when the spec or the catalog says too little."""
        amount, flops, per_node, seen = self._amount, self._flops, self._per_node, self._seen
        if flops is None or per_node is None:
            return None
        if seen is not None and seen.gang.nodes == nodes:
            return Useful((amount.steps or 0) * seen.step_s, seen.step_s, 1.0, amount, True)
        sum_s = self._links.allreduce_s(self._gradients, nodes)
        if amount.steps is not None:
            steps: float = amount.steps
            compute_s = flops / (per_node * nodes)
        else:
            whole = FLOPS_PER_TOKEN * (amount.params or 0.0) * (amount.tokens or 0.0)
            steps = whole / (flops * nodes)
            compute_s = flops / per_node
        step = step_s(compute_s, sum_s, self._overlap)
        return Useful(steps * step, step, compute_s / step, amount, False)


def useful_time(amount: Amount, gang: Gang, priors: Priors) -> Useful | None:
    """The time on this gang; None when the spec or the catalog says too little."""
    return Pace(amount, gang, priors).on(gang.nodes)


def _flops_of_step(amount: Amount, one: Gang, priors: Priors) -> float | None:
    """Of a whole step; of one node's share of it where the spec gives no number of steps."""
    if amount.steps is not None and amount.reference is not None:
        return _reference_flops(amount, amount.reference, priors)
    if amount.tokens is None or amount.params is None:
        return None
    tokens = priors.value("tokens_per_chip_step") * one.chips
    if amount.steps is not None:
        tokens = amount.tokens / amount.steps
    return FLOPS_PER_TOKEN * amount.params * tokens


def _reference_flops(amount: Amount, reference: Reference, priors: Priors) -> float | None:
    """The reference's computing in one step: what is left of it without the sum of gradients."""
    speed, params = flops_per_s(reference.gang, priors), params_of(amount, priors)
    if speed is None or params is None:
        return None
    sum_s = allreduce_s(reference.gang, GRADIENT_BYTES * params, priors)
    return compute_of_step_s(reference.step_s, sum_s, priors) * speed
