"""What this user's own runs have shown: preemptions per node-hour, and how long steps took.

Must not read a store: it is given attempts. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from windlass.planner.priors import Priors
from windlass.spec.model import Accelerators

if TYPE_CHECKING:
    from windlass.state.model import Attempt

HOUR = 3600.0
PREEMPTED = frozenset({"preempted", "lost"})
"""Outcomes of attempts that count; spelt out, since a plan is often made without a store."""


class Seen(NamedTuple):
    """Preemptions in so many hours of nodes."""

    preemptions: int = 0
    node_hours: float = 0.0

    def plus(self, other: Seen) -> Seen:
        """Both together."""
        return Seen(
            preemptions=self.preemptions + other.preemptions,
            node_hours=self.node_hours + other.node_hours,
        )


class MeasuredStep(NamedTuple):
    """How long a step of this program took, and on what."""

    accelerators: Accelerators
    nodes: int
    step_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Everything that replaces priors."""

    seen: Mapping[tuple[str, str], Seen] = field(default_factory=dict)
    """By name of the accelerator and way to buy."""
    steps: tuple[MeasuredStep, ...] = ()
    """Of this program, newest first."""


def hazard_per_node_h(history: History, priors: Priors, *, chip: str, buy: str) -> float:
    """The mean of a Gamma posterior.

    The prior is a Gamma distribution whose mean is the prior hazard and whose shape is
    `hazard_strength`, in preemptions: it counts as that many preemptions of one's own.
    """
    prior = priors.value("hazard", buy, chip)
    seen = history.seen.get((chip, buy))
    if seen is None or prior == 0:
        return prior
    strength = priors.value("hazard_strength")
    return (strength + seen.preemptions) / (strength / prior + seen.node_hours)


def seen_in(attempts: Iterable[Attempt], *, nodes: int) -> Seen:
    """What attempts of one gang show; those that never started say nothing."""
    total = Seen()
    for attempt in attempts:
        if attempt.started_at is None or attempt.ended_at is None:
            continue
        hours = max(0.0, attempt.ended_at - attempt.started_at) / HOUR * nodes
        hit = attempt.outcome in PREEMPTED
        total = total.plus(Seen(preemptions=int(hit), node_hours=hours))
    return total
