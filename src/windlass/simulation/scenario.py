"""A seeded world around the real controller: runs, faults, controllers that die, and checkers.

Must not be imported by production code. `simulate(seed)` gives the same trace for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from windlass.agent.node import Node
from windlass.controller.loop import LEASE_TTL_S, Loop
from windlass.controller.site import Site
from windlass.errors import LeaseLost
from windlass.ports.entropy import SeededEntropy
from windlass.ports.world import World
from windlass.simulation.checks import Bill, Checks
from windlass.simulation.demands import TIGHT_S, Demand, renting, tight_demand
from windlass.simulation.disk import Disk
from windlass.simulation.engine import Sabotage, SimulatedEngine
from windlass.simulation.gang import Training
from windlass.simulation.luck import Luck
from windlass.simulation.saboteur import Crash, Fragile, SharedStore, UnfencedStore
from windlass.simulation.timeline import Timeline
from windlass.spec.canonical import to_json
from windlass.spec.model import Limits, Resources, Spec
from windlass.state.model import Event, Lease, Run
from windlass.state.open_store import open_store
from windlass.state.phases import Wanted

FAULTS_S = 1800.0
END_S = 6 * 3600.0
RESTARTS_MAX = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Which promise is broken on purpose."""

    is_submit_repeatable: bool = False
    is_store_unfenced: bool = False
    node: type[Node] = Node


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


def simulate(
    seed: int,
    *,
    broken: Broken | None = None,
    is_rented: bool = False,
    is_calm: bool = False,
    is_tight: bool = False,
) -> Trace:
    """Run one seed to its end and check it after every event. With `is_rented` machines cost money
    and offers run out; where it `is_calm`, nothing goes wrong. Where it `is_tight`, there is one
    run with a deadline, spot lives for an hour or so, and nothing else goes wrong."""
    world = _Scenario(
        seed,
        broken or Broken(),
        is_rented=is_rented or is_tight,
        is_calm=is_calm or is_tight,
        is_tight=is_tight,
    )
    world.run()
    return world.trace


class _Controller:
    """One controller process: its memory, its lease, and the moments at which it may die."""

    def __init__(self, scenario: _Scenario, number: int) -> None:
        self._scenario = scenario
        self.number = number
        self.is_alive = True
        self.is_stuck = False
        self._lease: Lease | None = None
        hazard = self._hazard
        engine: Any = Fragile(scenario.engine, hazard)
        store: Any = Fragile(scenario.connect(), hazard)
        world = World(
            clock=scenario.timeline,
            entropy=SeededEntropy(number),
            open_folder=lambda url: Fragile(scenario.disk(url).seen_by(lambda: False), hazard),
        )
        self._store = store
        site = Site(
            world=world,
            store=store,
            engine=lambda name: engine,
            engine_names=("simulated",),
            folder_url=lambda run: run,
        )
        self._loop = Loop(site, on_ended=lambda run: None, on_bug=scenario.fail)

    def tick(self) -> None:
        if not self.is_alive or self.is_stuck:
            return
        timeline = self._scenario.timeline
        try:
            wait_s = self._tick()
        except Crash:
            self._scenario.note(f"controller {self.number} dies")
            self.is_alive = False
            self._scenario.replace_controller()
        except LeaseLost:
            self._scenario.note(f"controller {self.number} was deposed")
            self.is_alive = False
        else:
            timeline.after(max(wait_s, 0.2), self.tick)

    def _tick(self) -> float:
        now = self._scenario.timeline.now()
        if self._lease is None:
            holder = f"controller-{self.number}"
            self._lease = self._store.take_lease(holder, now=now, ttl_s=LEASE_TTL_S)
            if self._lease is None:
                return 5.0
        elif self._lease.expires_at - now < LEASE_TTL_S / 2:
            self._lease = self._store.renew_lease(self._lease, now=now, ttl_s=LEASE_TTL_S)
        return self._loop.tick(self._lease)

    def _hazard(self, where: str) -> None:
        """Die here, or hang here while another controller takes over."""
        luck = self._scenario.luck
        # Looking is done all the time; what changes the world is done seldom, and matters more.
        often = 0.03
        if where.endswith("read"):
            often = 0.0001
        elif where.endswith(("observe", "owned")):
            often = 0.001
        if luck.strikes(f"crash-{where}", often):
            raise Crash
        if luck.strikes(f"hang-{where}", often):
            self.is_stuck = True
            self._scenario.note(f"controller {self.number} hangs {where}")
            self._scenario.replace_controller()
            self._scenario.go_on(luck.between(LEASE_TTL_S, 6 * LEASE_TTL_S))
            self.is_stuck = False


class _Scenario:
    def __init__(
        self, seed: int, broken: Broken, *, is_rented: bool, is_calm: bool, is_tight: bool
    ) -> None:
        self._is_rented, self._is_calm, self._is_tight = is_rented, is_calm, is_tight
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
        self.engine = SimulatedEngine(
            self.timeline,
            self.luck,
            disk=self.disk,
            training=self._trainings.__getitem__,
            note=self.note,
            sabotage=Sabotage(is_submit_repeatable=broken.is_submit_repeatable, node=broken.node),
        )
        calm_from = self.timeline.now() + (0.0 if is_calm else FAULTS_S)
        self.checks = Checks(self.store, self.engine, self._trainings, calm_from=calm_from)
        self._controllers = 0

    def disk(self, run: str) -> Disk:
        return self._disks.setdefault(run, Disk())

    def connect(self) -> Any:
        """The store over a connection of its own."""
        return SharedStore(self._database, self._writes)

    def note(self, text: str) -> None:
        self.trace.lines.append(f"{self.timeline.monotonic():.3f} {text}")

    def fail(self, run: str, bug: Exception) -> None:
        """A step raised what no step may raise."""
        raise AssertionError(f"a step of {run} raised {bug!r}") from bug

    def run(self) -> None:
        self.engine.spot_lives_s = TIGHT_S if self._is_tight else None
        if self._is_rented:
            self.engine.stock.begin()
        for index in range(1 if self._is_tight else self.luck.whole(1, 3)):
            self._add_run(f"run{index}")
        if not self._is_calm:
            self._plan_faults()
        self.replace_controller()
        self.timeline.after(FAULTS_S, self._end_faults)
        try:
            while self.timeline.monotonic() < END_S and not self.checks.is_all_over():
                self.go_on(60.0)
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
        controller = _Controller(self, self._controllers)
        self.timeline.after(self.luck.between(0.0, 20.0), controller.tick)

    def _demand(self, run_id: str) -> Demand:
        """What one more run of this world does and asks for."""
        if self._is_tight:
            return tight_demand(self.luck)
        has_bug = self.luck.whole(1, 5) == 1
        training = Training(steps=self.luck.whole(10, 400), setup_s=self.luck.between(0.0, 30.0))
        if has_bug:
            training.fails_at = self.luck.whole(1, training.steps)
        nodes = self.luck.whole(1, 3)
        spec = Spec(
            name=run_id,
            run="train",
            resources=Resources(nodes_min=nodes, nodes_max=3),
            limits=Limits(restarts=RESTARTS_MAX),
        )
        if not self._is_rented:
            return Demand(training, spec, "{}")
        return renting(spec, self.luck, training=training)

    def _add_run(self, run_id: str) -> None:
        training, spec, options = self._demand(run_id)
        self._trainings[run_id] = training
        now = self.timeline.now()
        run = Run(
            id=run_id,
            name=run_id,
            spec=to_json(spec),
            owner="somebody",
            engine="simulated",
            created_at=now,
            expires_at=None if spec.limits.ttl_s is None else now + spec.limits.ttl_s,
            options=options,
        )
        event = Event(run=run_id, attempt=0, at=now, code="submitted", message="submitted")
        self.store.add_run(run, event)

    def _plan_faults(self) -> None:
        luck, engine, timeline = self.luck, self.engine, self.timeline
        for _ in range(luck.whole(0, 12)):
            pick, at = luck.between(0.0, 0.999), luck.between(0.0, FAULTS_S)
            seconds, jump = luck.between(5.0, 200.0), luck.between(-4000.0, 4000.0)
            kinds = (
                ("node-lost", partial(engine.lose_node, pick)),
                ("node-preempted", partial(engine.preempt_node, pick)),
                ("node-cut-off", partial(engine.cut_off_node, pick, seconds)),
                # Money is counted by the time of day: a clock that jumps by an hour is not a
                # fault of a world where it is watched.
                ("stockout", partial(engine.stock.run_out, pick, seconds * 5))
                if self._is_rented
                else ("clock-jump", partial(timeline.jump, jump)),
                ("stop", self._stop_a_run),
            )
            name, action = kinds[luck.whole(0, 4)]
            timeline.after(at, partial(self._strike, name, action))

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
