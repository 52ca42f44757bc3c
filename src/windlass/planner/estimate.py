"""How long one gang, bought one way, takes for what is asked: the time side of a plan.

Must not know prices or zones: an estimate is made once and used for every zone.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from windlass.catalog.model import Buy
from windlass.planner.ask import Ask, Way
from windlass.planner.course import Course, expected_held_s, expected_wall_s
from windlass.planner.gang import GIGA, Gang
from windlass.planner.history import HOUR, NO_CHIP, hazard_per_node_h
from windlass.planner.interval import auto_segments, segments_for
from windlass.planner.quantiles import P50, P90, is_within, quantile_s
from windlass.planner.useful import Pace, Useful, params_of


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


class Estimator:
    """Makes estimates of gangs of one kind, bought one way: what they share is found once."""

    __slots__ = ("_ask", "_course", "_exposed", "_gang", "_hazard", "_pace", "_per_host")

    def __init__(self, ask: Ask, gang: Gang, way: Way) -> None:
        self._ask = ask
        self._gang = gang._replace(nodes=1)
        if ask.amount is None:
            self._pace = None
            return
        priors = ask.priors
        chip = gang.chip.name if gang.chip else NO_CHIP
        history = ask.circumstances.history
        self._pace = Pace(ask.amount, gang, priors)
        self._hazard = hazard_per_node_h(history, priors, chip=chip, buy=way.kind)
        # A slice is preempted as a whole, but any of its hosts may fail.
        self._exposed = 1 if way.buy is Buy.SPOT else gang.hosts_per_node
        self._per_host = _Save.of(ask)
        kind = NO_CHIP if gang.chip is None else "tpu" if gang.chip.is_tpu else "gpu"
        self._course = Course(
            work_s=0.0,
            hazard_per_s=self._hazard * self._exposed / HOUR,
            segments=1,
            save_s=0.0,
            restart_s=priors.value("start", kind),
            wait_s=priors.value("wait", way.kind),
            first_wait_s=priors.value("first_wait", way.kind),
        )

    def on(self, nodes: int) -> Estimate | None:
        """The times of so many; None when there is work to do but nothing says how fast it goes."""
        if self._pace is None:
            return fixed_time(self._ask, self._gang._replace(nodes=nodes))
        useful = self._pace.on(nodes)
        if useful is None:
            return None
        one, of_one, save = self._gang, self._course, self._per_host
        hosts = nodes * one.hosts_per_node if save.is_shared else 1
        rate, save_s, work_s = of_one.hazard_per_s * nodes, save.save_s / hosts, useful.work_s
        course = Course(
            work_s,
            rate,
            _segments(self._ask, work_s, rate, save_s=save_s),
            save_s,
            of_one.restart_s + save.restore_s / hosts,
            of_one.wait_s,
            of_one.first_wait_s,
        )
        return Estimate(
            Gang(one.machine, one.chip, one.chips_per_node, one.hosts_per_node, nodes),
            course,
            basis=Basis.WORK,
            useful=useful,
            hazard=self._hazard,
            checkpoint_gib=save.gib,
        )


def fixed_time(ask: Ask, gang: Gang) -> Estimate:
    """All of the ttl, or one hour: what is priced when it is not known how long the work takes."""
    ttl_s = ask.spec.limits.ttl_s
    course = Course(
        work_s=HOUR if ttl_s is None else ttl_s,
        hazard_per_s=0.0,
        segments=1,
        save_s=0.0,
        restart_s=0.0,
    )
    return Estimate(gang, course, basis=Basis.HOUR if ttl_s is None else Basis.TTL)


def _segments(ask: Ask, work_s: float, rate: float, *, save_s: float) -> int:
    checkpoint = ask.spec.checkpoint
    if checkpoint is None:
        return 1  # Nothing is saved, so all is lost.
    if checkpoint.every_s is not None:
        return segments_for(work_s, checkpoint.every_s)
    return auto_segments(work_s, rate, save_s)


class _Save(NamedTuple):
    """How long a save and a restore take."""

    gib: float | None
    """The size of a checkpoint; None when there is none, or when it is not known."""
    is_shared: bool
    """Every host does its part at the same time: the times are those of one host alone."""
    save_s: float
    restore_s: float

    @classmethod
    def of(cls, ask: Ask) -> _Save:
        """As the spec asks for; nothing without checkpoints."""
        if ask.spec.checkpoint is None or ask.amount is None:
            return cls(None, False, 0.0, 0.0)
        priors = ask.priors
        params = params_of(ask.amount, priors)
        if params is None:
            return cls(None, False, priors.value("save"), priors.value("restore"))
        size = params * priors.value("checkpoint_bytes")
        write, read = priors.value("checkpoint_write"), priors.value("checkpoint_read")
        return cls(size / 2**30, True, size / GIGA / write, size / GIGA / read)
