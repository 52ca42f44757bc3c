"""What a simulated world rents its machines from, as scenario and checkers see it.

Must not hold logic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from windlass.ports.world import World
from windlass.simulation.demands import Demand
from windlass.simulation.disk import Disk
from windlass.simulation.gang import Gang, Training
from windlass.simulation.luck import Luck
from windlass.simulation.timeline import Timeline
from windlass.spec.model import Spec

Fault = tuple[str, Callable[[], None]]
"""Its name, and what lets it happen."""


class Caller(Protocol):
    """A controller: its calls may be its last, and the world goes on while it waits."""

    world: World

    def hazard(self, where: str) -> None:
        """Die or hang here, with some luck."""

    def wait(self, seconds: float) -> None:
        """Let so much time pass in the middle of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What every provider is built on."""

    timeline: Timeline
    luck: Luck
    disk: Callable[[str], Disk]
    """Of the run's folder with this URL."""
    training: Callable[[str], Training]
    """What a run's program does."""
    note: Callable[[str], None]
    """Writes down what happened."""


class Extent(NamedTuple):
    """How much happens in a world."""

    runs: int = 3
    """So many at the most."""
    steps: int = 400
    faults_s: float = 1800.0
    """Afterwards nothing goes wrong any more."""
    absence_s: float = 0.0
    """So long nobody starts a controller, now and then, when the last one has died."""
    endless: float = 0.0
    """So many of the runs with a budget or a time to live would never end by themselves."""


class Provider(Protocol):
    """Engines and what is behind them."""

    engine_names: tuple[str, ...]
    extent: Extent
    is_rented: bool
    """Whether its machines cost something, and run out."""
    is_bucket: bool
    """Whether run folders are in a bucket, rather than on a disk."""

    @property
    def gangs(self) -> Sequence[Gang]:
        """Every gang there ever was."""

    def begin(self) -> None:
        """Some worlds lack something from the start."""

    def engines(self, caller: Caller) -> Callable[[str], Any]:
        """The engines of one controller, by name."""

    def demand(self, spec: Spec, training: Training) -> Demand:
        """A run like this as it is submitted here, with limits of its own now and then."""

    def faults(self, pick: float, seconds: float) -> Sequence[Fault]:
        """What can befall machines and stock: `pick` says which, `seconds` for how long."""

    def left(self) -> Sequence[str]:
        """What it still holds, in words."""

    def billed_usd(self, run: str) -> float:
        """What a run has cost, by its own count."""

    def paid_for(self) -> Iterable[tuple[str, float]]:
        """The claim of each machine that is paid for now, and since when, by the time of day."""
