"""How long one gang, bought one way, takes for what is asked: the time side of a plan.

Must not know prices or zones: an estimate is made once and used for every zone.
"""

from __future__ import annotations

from enum import StrEnum

from windlass.catalog.model import Buy
from windlass.planner.ask import Ask, Way
from windlass.planner.course import Course, expected_held_s, expected_wall_s
from windlass.planner.gang import GIGA, Gang
from windlass.planner.history import HOUR, hazard_per_node_h
from windlass.planner.interval import auto_segments, segments_for
from windlass.planner.quantiles import P50, P90, is_within, quantile_s
from windlass.planner.useful import Useful, params_of, useful_time

NO_CHIP = "cpu"


class Basis(StrEnum):
    """What the times and dollars of a plan are of."""

    WORK = "work"
    TTL = "ttl"
    """The run says not how much there is to do: the price of all of its `ttl`, an upper bound."""
    HOUR = "hour"
    """Nor has it a ttl: the price of one hour."""


class Estimate:
    """Times of one gang. Quantiles are found when they are first asked for, and kept."""

    __slots__ = (
        "_kept",
        "basis",
        "checkpoint_gib",
        "course",
        "files",
        "gang",
        "hazard_per_node_h",
        "held_h",
        "held_s",
        "host_h",
        "kept_gib_h",
        "node_h",
        "useful",
        "wall_s",
    )

    def __init__(
        self,
        gang: Gang,
        course: Course,
        *,
        basis: Basis,
        useful: Useful | None = None,
        hazard: float = 0.0,
        checkpoint_gib: float | None = None,
    ) -> None:
        self.gang = gang
        self.course = course
        self.basis = basis
        self.useful = useful
        self.hazard_per_node_h = hazard
        self.checkpoint_gib = checkpoint_gib
        self.held_s = expected_held_s(course)
        """Expected seconds that machines are held and billed."""
        self.wall_s = expected_wall_s(course, self.held_s)
        """Expected seconds from submit to the end."""
        self.held_h = self.held_s / HOUR
        self.node_h = gang.nodes * self.held_h
        """What machines are billed by; so the next are for disks and for kept checkpoints."""
        self.host_h = gang.hosts * self.held_h
        self.kept_gib_h = (checkpoint_gib or 0.0) * self.wall_s / HOUR
        self.files = course.segments * (gang.chips or 1) if checkpoint_gib else 0
        """Written in all, one by each chip in every save."""
        self._kept: dict[tuple[bool, float], float] = {}

    def wall_quantile_s(self, probability: float) -> float:
        """Seconds from submit to the end, P50 or P90."""
        return self._quantile(self.course, False, probability)

    def held_quantile_s(self, probability: float) -> float:
        """Seconds that machines are held, P50 or P90."""
        return self._quantile(self.course.without_waits(), True, probability)

    def ends_within(self, limit_s: float) -> bool:
        """Whether P90 is within the limit."""
        return is_within(self.course, limit_s, P90)

    @property
    def preemptions(self) -> float:
        """How many are expected."""
        return self.course.hazard_per_s * self.held_s

    @property
    def least_held_s(self) -> float:
        """How long machines are held when nothing happens."""
        return self.course.least_s - self.course.first_wait_s

    def _quantile(self, course: Course, is_held: bool, probability: float) -> float:
        key = (is_held, probability)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = quantile_s(course, probability)
        return found

    @property
    def p50_s(self) -> float:
        """Half of all such runs end within this."""
        return self.wall_quantile_s(P50)

    @property
    def p90_s(self) -> float:
        """Nine tenths of all such runs end within this."""
        return self.wall_quantile_s(P90)


def make_estimate(ask: Ask, gang: Gang, way: Way) -> Estimate | None:
    """The times of this gang; None when there is work to do but nothing says how fast it goes."""
    if ask.amount is None:
        return _of_fixed_time(ask, gang)
    useful = useful_time(ask.amount, gang, ask.priors)
    if useful is None:
        return None
    chip = gang.chip.name if gang.chip else NO_CHIP
    priors = ask.priors
    hazard = hazard_per_node_h(ask.circumstances.history, priors, chip=chip, buy=way.kind)
    size = _checkpoint_bytes(ask)
    # A slice is preempted as a whole, but any of its hosts may fail.
    exposed = gang.nodes if way.buy is Buy.SPOT else gang.hosts
    course = _course(ask, gang, way, work_s=useful.work_s, rate=hazard * exposed / HOUR)
    return Estimate(
        gang,
        course,
        basis=Basis.WORK,
        useful=useful,
        hazard=hazard,
        checkpoint_gib=None if size is None else size / 2**30,
    )


def _of_fixed_time(ask: Ask, gang: Gang) -> Estimate:
    ttl_s = ask.spec.limits.ttl_s
    course = Course(
        work_s=HOUR if ttl_s is None else ttl_s,
        hazard_per_s=0.0,
        segments=1,
        save_s=0.0,
        restart_s=0.0,
    )
    return Estimate(gang, course, basis=Basis.HOUR if ttl_s is None else Basis.TTL)


def _course(ask: Ask, gang: Gang, way: Way, *, work_s: float, rate: float) -> Course:
    priors = ask.priors
    save_s, restore_s = _checkpoint_times(ask, gang)
    checkpoint = ask.spec.checkpoint
    if checkpoint is None:
        segments = 1  # Nothing is saved, so all is lost.
    elif checkpoint.every_s is not None:
        segments = segments_for(work_s, checkpoint.every_s)
    else:
        segments = auto_segments(work_s, rate, save_s)
    kind = NO_CHIP if gang.chip is None else "tpu" if gang.chip.is_tpu else "gpu"
    return Course(
        work_s=work_s,
        hazard_per_s=rate,
        segments=segments,
        save_s=save_s,
        restart_s=priors.value("start", kind) + restore_s,
        wait_s=priors.value("wait", way.kind),
        first_wait_s=priors.value("first_wait", way.kind),
    )


def _checkpoint_bytes(ask: Ask) -> float | None:
    if ask.amount is None or ask.spec.checkpoint is None:
        return None
    params = params_of(ask.amount, ask.priors)
    return None if params is None else params * ask.priors.value("checkpoint_bytes")


def _checkpoint_times(ask: Ask, gang: Gang) -> tuple[float, float]:
    """How long a save and a restore take; nothing without checkpoints."""
    if ask.spec.checkpoint is None:
        return 0.0, 0.0
    priors = ask.priors
    size = _checkpoint_bytes(ask)
    if size is None:
        return priors.value("save"), priors.value("restore")
    each = size / GIGA / gang.hosts
    return each / priors.value("checkpoint_write"), each / priors.value("checkpoint_read")
