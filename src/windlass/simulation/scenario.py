"""A seeded world around the real controller: runs, faults, controllers that die, and checkers.

Must not be imported by production code. `simulate(seed)` gives the same trace for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from windlass.agent.node import Node
from windlass.simulation.checks import Bill, Checks
from windlass.simulation.controllers import Controller
from windlass.simulation.demands import TIGHT_S, Demand, tight_demand
from windlass.simulation.disk import Disk, SeenDisk, folder_url, split_url
from windlass.simulation.engine import Sabotage, SimulatedEngine
from windlass.simulation.gang import Training
from windlass.simulation.luck import Luck
from windlass.simulation.provider import Ground, Provider
from windlass.simulation.saboteur import SharedStore, UnfencedStore
from windlass.simulation.timeline import Timeline
from windlass.simulation.twinned.provider import TwinProvider
from windlass.spec.canonical import to_json
from windlass.spec.model import Limits, Resources, Spec
from windlass.state.model import Event, Run
from windlass.state.open_store import open_store
from windlass.state.phases import Wanted

END_S = 6 * 3600.0
ENDLESS = 10**6
RESTARTS_MAX = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Which promise is broken on purpose."""

    is_submit_repeatable: bool = False
    is_store_unfenced: bool = False
    node: type[Node] = Node
    rig: Callable[[Any], None] = field(default=lambda engine: None)
    """Does something to each real engine before it is used."""


@dataclass(slots=True, kw_only=True)
class Trace:
    """What happened, in order; equal for equal seeds."""

    seed: int
    lines: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)
    simulated_s: float = 0.0
    moves: int = 0
    """How often a run left spot that worked for on-demand."""
    late_s: dict[str, float] = field(default_factory=dict)
    """By how much each run with a deadline that succeeded was late; negative: it was not."""
    bills: dict[str, Bill] = field(default_factory=dict)
    """What each run with a budget has cost, by the engine's own count."""


Build = Callable[[Ground, Broken], Provider]


def simulate(
    seed: int,
    *,
    broken: Broken | None = None,
    is_rented: bool = False,
    is_twinned: bool = False,
    is_calm: bool = False,
    is_tight: bool = False,
) -> Trace:
    """Run one seed to its end and check it after every event. With `is_rented` machines cost money
    and offers run out; with `is_twinned` they are the twin's, and the engines are real. Where it
    `is_calm`, nothing goes wrong. Where it `is_tight`, there is one run with a deadline, spot lives
    for an hour or so, and nothing else goes wrong."""
    build = partial(_simulated, is_rented=is_rented or is_tight, is_tight=is_tight)
    world = _Scenario(
        seed,
        broken or Broken(),
        _twinned if is_twinned else build,
        is_calm=is_calm or is_tight,
        is_tight=is_tight,
    )
    world.run()
    return world.trace


def _simulated(ground: Ground, broken: Broken, *, is_rented: bool, is_tight: bool) -> Provider:
    sabotage = Sabotage(is_submit_repeatable=broken.is_submit_repeatable, node=broken.node)
    engine = SimulatedEngine(ground, is_rented=is_rented, sabotage=sabotage)
    engine.spot_lives_s = TIGHT_S if is_tight else None
    return engine


def _twinned(ground: Ground, broken: Broken) -> Provider:
    return TwinProvider(ground, node=broken.node, rig=broken.rig)


class _Scenario:
    """Implements controllers.Stage."""

    def __init__(
        self, seed: int, broken: Broken, build: Build, *, is_calm: bool, is_tight: bool
    ) -> None:
        self._is_calm, self._is_tight = is_calm, is_tight
        self.trace = Trace(seed=seed)
        self.timeline = Timeline()
        self.luck = Luck(seed)
        self.luck.is_over = is_calm
        self._disks: dict[str, Disk] = {}
        self._trainings: dict[str, Training] = {}
        store: Any = open_store("sqlite://:memory:")
        self._database = UnfencedStore(store) if broken.is_store_unfenced else store
        self._writes: list[object] = []
        self.store = self.connect()
        self.provider = build(
            Ground(
                timeline=self.timeline,
                luck=self.luck,
                disk=self.disk,
                training=self._trainings.__getitem__,
                note=self.note,
            ),
            broken,
        )
        calm_from = self.timeline.now() + (0.0 if is_calm else self.provider.extent.faults_s)
        self.checks = Checks(
            self.store,
            self.provider,
            self._trainings,
            now=self.timeline.now,
            calm_from=calm_from,
        )
        self._controllers = 0
        self._newest: Controller
        self._is_abandoned = False
        """Nothing happens to its machines but that nobody looks after them."""

    def disk(self, url: str) -> Disk:
        """The disk of a run's folder."""
        if url not in self._disks:
            self._disks[url] = Disk(can_append=not self.provider.is_bucket)
        return self._disks[url]

    def open_folder(self, url: str) -> SeenDisk:
        """A run's folder, or one in it."""
        folder, under = split_url(url)
        return self.disk(folder).seen_by(lambda: False, under=under)

    def connect(self) -> Any:
        """The store over a connection of its own."""
        return SharedStore(self._database, self._writes)

    def note(self, text: str) -> None:
        self.trace.lines.append(f"{self.timeline.monotonic():.3f} {text}")

    def fail(self, run: str, bug: Exception) -> None:
        """A step raised what no step may raise."""
        if isinstance(bug, AssertionError):
            raise bug  # A checker, while the step was stuck in a call.
        raise AssertionError(f"a step of {run} raised {bug!r}") from bug

    def run(self) -> None:
        absence_s = self.provider.extent.absence_s
        self._is_abandoned = not self._is_calm and bool(absence_s) and self.luck.whole(1, 4) == 1
        self.provider.begin()
        runs = 1 if self._is_tight else self.luck.whole(1, self.provider.extent.runs)
        for index in range(runs):
            self._add_run(f"run{index}")
        if not self._is_calm:
            self._plan_faults()
        self.replace_controller()
        self.timeline.after(self.provider.extent.faults_s, self._end_faults)
        try:
            while self.timeline.monotonic() < END_S and not self.checks.is_all_over():
                self.go_on(60.0)
                if self.provider.is_rented:
                    self.checks.each_minute()
        except AssertionError as error:
            self.trace.failures.append(str(error))
        else:
            self.trace.failures += self.checks.at_the_end()
        for event in self.checks.history():
            self.note(event)
        self.trace.bills = self.checks.bills()
        self.trace.moves = len(self.checks.moves())
        self.trace.late_s = self.checks.late_s()
        self.trace.faults = dict(sorted(self.luck.struck.items()))
        self.trace.simulated_s = self.timeline.monotonic()
        self.store.close()

    def go_on(self, seconds: float) -> None:
        """Let the world go on; a checker that fails ends it."""
        self.timeline.run_until(
            self.timeline.monotonic() + seconds, after_each=self.checks.after_event
        )

    def replace_controller(self) -> None:
        """A new controller starts a little later, as the next command would start it."""
        self._controllers += 1
        self._newest = Controller(self, self._controllers, folder_url=folder_url)
        wait_s = self.luck.between(0.0, 20.0)
        absence_s = self.provider.extent.absence_s
        if absence_s and self.luck.strikes("nobody-there", 0.1):
            wait_s += self.luck.between(0.0, absence_s)
        self.timeline.after(wait_s, self._newest.tick)

    def _close_laptop(self) -> None:
        """The controller is killed while it waits for something to do, and not missed soon."""
        self._newest.kill()
        absence_s = self.provider.extent.absence_s
        least_s = absence_s / 2 if self._is_abandoned else 0.0
        self.timeline.after(self.luck.between(least_s, absence_s), self.replace_controller)

    def _demand(self, run_id: str) -> Demand:
        """What one more run of this world does and asks for."""
        if self._is_tight:
            return tight_demand(self.luck)
        has_bug = self.luck.whole(1, 5) == 1
        steps = self.luck.whole(10, self.provider.extent.steps)
        training = Training(steps=steps, setup_s=self.luck.between(0.0, 30.0))
        if has_bug:
            training.fails_at = self.luck.whole(1, training.steps)
        nodes = self.luck.whole(1, 3)
        spec = Spec(
            name=run_id,
            run="train",
            resources=Resources(nodes_min=nodes, nodes_max=3),
            limits=Limits(restarts=RESTARTS_MAX),
        )
        found = self.provider.demand(spec, training)
        limits = found.spec.limits
        has_end = limits.budget_usd is not None or limits.ttl_s is not None
        endless = 1.0 if self._is_abandoned else self.provider.extent.endless
        if endless and has_end and self.luck.between(0.0, 1.0) < endless:
            training.steps, training.fails_at = ENDLESS, None
        return found

    def _add_run(self, run_id: str) -> None:
        training, spec, options, engine = self._demand(run_id)
        self._trainings[run_id] = training
        now = self.timeline.now()
        run = Run(
            id=run_id,
            name=run_id,
            spec=to_json(spec),
            owner="somebody",
            engine=engine,
            created_at=now,
            expires_at=None if spec.limits.ttl_s is None else now + spec.limits.ttl_s,
            options=options,
        )
        event = Event(run=run_id, attempt=0, at=now, code="submitted", message="submitted")
        self.store.add_run(run, event)

    def _plan_faults(self) -> None:
        luck, timeline, extent = self.luck, self.timeline, self.provider.extent
        for _ in range(0 if self._is_abandoned else luck.whole(0, 12)):
            pick, at = luck.between(0.0, 0.999), luck.between(0.0, extent.faults_s)
            seconds, jump = luck.between(5.0, 200.0), luck.between(-4000.0, 4000.0)
            kinds = [*self.provider.faults(pick, seconds), ("stop", self._stop_a_run)]
            if not self.provider.is_rented:
                # Money is counted by the time of day: a clock that jumps by an hour is not a
                # fault of a world where it is watched.
                kinds.insert(-1, ("clock-jump", partial(timeline.jump, jump)))
            name, action = kinds[luck.whole(0, len(kinds) - 1)]
            timeline.after(at, partial(self._strike, name, action))
        if self._is_abandoned or (extent.absence_s and luck.whole(1, 3) == 1):
            at = luck.between(0.0, extent.faults_s / 3)
            timeline.after(at, partial(self._strike, "laptop-closed", self._close_laptop))

    def _strike(self, name: str, action: Callable[[], None]) -> None:
        self.note(name)
        self.luck.count(name)
        action()

    def _stop_a_run(self) -> None:
        """The user changes their mind about the first run."""
        run = self.store.get_run("run0")
        event = Event(
            run=run.id, attempt=run.attempt, at=self.timeline.now(), code="stop", message="stop"
        )
        wanted = Wanted.KILL if self.luck.whole(1, 2) == 1 else Wanted.STOP
        self.store.want(run.id, wanted, event)

    def _end_faults(self) -> None:
        self.note("faults stop")
        self.luck.is_over = True
