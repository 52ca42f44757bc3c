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
    how: str


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


def useful_time(amount: Amount, gang: Gang, priors: Priors) -> Useful | None:
    """The time on this gang; None when the spec or the catalog says too little."""
    speed = flops_per_s(gang, priors)
    params = params_of(amount, priors)
    if speed is None or params is None:
        return None
    sum_s = allreduce_s(gang, GRADIENT_BYTES * params, priors)
    if amount.steps is not None and amount.reference is not None:
        return _from_reference(amount, amount.reference, gang, sum_s=sum_s, priors=priors)
    if amount.tokens is None or amount.params is None:
        return None
    return _from_tokens(amount, gang, speed=speed, sum_s=sum_s, priors=priors)


def _from_reference(
    amount: Amount, reference: Reference, gang: Gang, *, sum_s: float, priors: Priors
) -> Useful | None:
    """The reference's computing, at this gang's speed, with this gang's links."""
    steps = amount.steps or 0
    if gang == reference.gang:
        return Useful(
            work_s=steps * reference.step_s,
            step_s=reference.step_s,
            scaling=1.0,
            how=f"{steps} steps as measured ({reference.source})",
        )
    speed, reference_speed = flops_per_s(gang, priors), flops_per_s(reference.gang, priors)
    if speed is None or reference_speed is None:
        return None
    params = params_of(amount, priors) or 0.0
    their_sum_s = allreduce_s(reference.gang, GRADIENT_BYTES * params, priors)
    computed_s = compute_of_step_s(reference.step_s, their_sum_s, priors)
    compute_s = computed_s * reference_speed / speed
    step = step_s(compute_s, sum_s, priors)
    return Useful(
        work_s=steps * step,
        step_s=step,
        scaling=compute_s / step,
        how=f"{steps} steps, scaled from the reference ({reference.source})",
    )


def _from_tokens(
    amount: Amount, gang: Gang, *, speed: float, sum_s: float, priors: Priors
) -> Useful:
    """Six operations for each parameter and token."""
    params, tokens = amount.params or 0.0, amount.tokens or 0.0
    of_step = priors.value("tokens_per_chip_step") * gang.chips
    if amount.steps is not None:
        of_step = tokens / amount.steps
    compute_s = FLOPS_PER_TOKEN * params * of_step / speed
    step = step_s(compute_s, sum_s, priors)
    return Useful(
        work_s=step * tokens / of_step,
        step_s=step,
        scaling=compute_s / step,
        how=f"6 x {params:.3g} parameters x {tokens:.3g} tokens",
    )
