"""What this user's own runs have shown: losses per node-hour, and how long steps took.

Must not read a store: it is given rows. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from windlass.planner.priors import Priors
from windlass.spec.accelerators import accelerators as read_accelerators
from windlass.spec.canonical import from_json
from windlass.spec.model import Accelerators, Spec
from windlass.spec.refused import Refused
from windlass.spec.topology import hosts_per_slice

if TYPE_CHECKING:
    from windlass.state.past import Held, Pace

HOUR = 3600.0
NO_CHIP = "cpu"
SPOT = "spot"


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

    def __str__(self) -> str:
        noun = "preemption" if self.preemptions == 1 else "preemptions"
        return f"{self.preemptions} {noun} in {self.node_hours:,.1f} node-hours"


class MeasuredStep(NamedTuple):
    """How long a step of this program took, and on what."""

    accelerators: Accelerators
    nodes: int
    step_s: float

    def __str__(self) -> str:
        return f"{self.step_s:.4g} s on {self.nodes} x {self.accelerators}"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Everything that replaces priors."""

    seen: Mapping[tuple[str, str], Seen] = field(default_factory=dict)
    """By name of the accelerator and way to buy."""
    steps: tuple[MeasuredStep, ...] = ()
    """Of this program, newest first."""


def make_history(held: Iterable[Held], paces: Iterable[Pace], *, spec: Spec | None) -> History:
    """What rows of a store mean for a plan; for the times of steps, of this spec."""
    seen: dict[tuple[str, str], Seen] = {}
    for row in held:
        key, found = _seen(row)
        seen[key] = seen.get(key, Seen()).plus(found)
    return History(seen=seen, steps=() if spec is None else tuple(_steps(paces, spec)))


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


def _seen(row: Held) -> tuple[tuple[str, str], Seen]:
    """As a plan counts: a slice is preempted as a whole, but any of its hosts may fail."""
    found = _accelerators(row.accelerators)
    buy = row.buy.partition("/")[0]
    exposed = row.nodes
    if found is not None and found.is_tpu and buy != SPOT:
        exposed *= hosts_per_slice(found)
    chip = found.name if found else row.accelerators or NO_CHIP
    hours = row.seconds / HOUR * exposed
    return (chip, buy), Seen(preemptions=row.losses, node_hours=hours)


def _steps(paces: Iterable[Pace], spec: Spec) -> Iterator[MeasuredStep]:
    program = _program(spec)
    is_same: dict[str, bool] = {}  # Most runs of a program have the very same spec.
    for pace in paces:
        if pace.spec not in is_same:
            is_same[pace.spec] = _program(from_json(pace.spec)) == program
        found = _accelerators(pace.accelerators)
        if found is not None and is_same[pace.spec]:
            yield MeasuredStep(accelerators=found, nodes=pace.nodes, step_s=pace.step_s)


def _program(spec: Spec) -> tuple[object, ...]:
    """What must be equal for a step to be the same step."""
    return spec.run, spec.launch, dict(spec.env)


def _accelerators(text: str) -> Accelerators | None:
    """None for none, and for those that a newer Windlass has written."""
    try:
        return read_accelerators(text) if text else None
    except Refused:
        return None
