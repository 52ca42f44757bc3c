"""The real engines for Google over a simulated twin, and what goes wrong there.

Must not be kinder than Google: stock runs out, quota lacks, machines are taken back and vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import httpx

from windlass.agent.node import Node
from windlass.catalog.model import Buy
from windlass.engines.base import Handle, Observation, Seen
from windlass.engines.labels import CLAIM_LABEL, RUN_LABEL, split_handle
from windlass.engines.registry import build_engine
from windlass.engines.site import EngineSite, GoogleSite
from windlass.google.credentials import FixedBearer
from windlass.google.session import Session
from windlass.policy.meter import HOUR_S
from windlass.ports.process import Processes
from windlass.ports.world import World
from windlass.simulation.demands import BOTH, RESERVE_S, Demand
from windlass.simulation.gang import STEP_S, Gang, Training
from windlass.simulation.provider import Caller, Extent, Fault, Ground
from windlass.simulation.saboteur import Fragile
from windlass.simulation.twinned.cloud import AGENT_URL, TOKEN, Charged, SimulatedCloud
from windlass.simulation.twinned.hosts import Hosts
from windlass.simulation.twinned.leftovers import left_in
from windlass.simulation.twinned.limits import limited
from windlass.simulation.twinned.offers import (
    FLEX_START,
    KINDS,
    SAFE_REGION,
    ZONES,
    Kind,
    catalog,
    chosen_gangs,
    options_of,
)
from windlass.simulation.twinned.wire import Line
from windlass.spec.accelerators import accelerators
from windlass.spec.model import Resources, Spec
from windlass.twin.machine import Machine, State
from windlass.twin.market import Model, Rule
from windlass.twin.scenario.model import Scenario
from windlass.twin.settings import Delays

MODELS = {Buy.SPOT: Model.SPOT, Buy.ON_DEMAND: Model.STANDARD, Buy.FLEX_START: Model.FLEX_START}
MIXED = (KINDS[0], KINDS[3])
"""What `--on gcp` may lead to: GPUs or else TPUs."""
SEARCHES = 25.0
"""So many times as long as its replicas take, a training looks for machines in vain: up to 25
minutes, which is longer than the engine waits for it alone."""
BUDGET_H = (0.02, 0.2)
"""Budgets last for so long at the price of the first offer."""


class Watched:
    """An engine, and what it has told of machines."""

    def __init__(self, inner: Any, seen: set[str]) -> None:
        self._inner = inner
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def observe(self, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        """See Engine."""
        found: Mapping[Handle, Observation] = self._inner.observe(handles)
        up = (handle for handle, one in found.items() if one.seen is Seen.RUNNING)
        self._seen.update(split_handle(handle)[1] for handle in up)
        return found


class TwinProvider:
    """Implements provider.Provider."""

    extent = Extent(runs=2, steps=150, faults_s=900.0, absence_s=3000.0, endless=0.3)
    is_rented = True
    is_bucket = True

    def __init__(
        self,
        ground: Ground,
        *,
        node: type[Node] = Node,
        rig: Callable[[Any], None] = lambda engine: None,
        delays: Delays | None = None,
    ) -> None:
        self._timeline = ground.timeline
        self._luck = luck = ground.luck
        self._rig = rig
        self._seen: set[str] = set()
        """Claims whose machines a controller was told of."""
        self._hosts = Hosts(ground, node=node)
        drawn = Delays(
            operation=luck.between(0.0, 3.0),
            boot=luck.between(0.0, 25.0),
            stop=luck.between(0.0, 20.0),
            tpu=luck.between(5.0, 60.0),
            queue=luck.between(0.0, 30.0),
            replica=luck.between(5.0, 60.0),
        )
        drawn = replace(drawn, search=SEARCHES * drawn.replica)
        self.cloud = SimulatedCloud(ground, delays=delays or drawn, hosts=self._hosts)
        chosen = KINDS[luck.whole(0, len(KINDS) - 1)]
        self._kinds: tuple[Kind, ...] = MIXED if luck.whole(1, 8) == 1 else (chosen,)
        # They are searched for what nobody wants, as by the next run on them.
        self.engine_names = tuple(kind.engine for kind in self._kinds)

    @property
    def gangs(self) -> Sequence[Gang]:
        """See Provider."""
        return self._hosts.gangs

    def begin(self) -> None:
        """See Provider."""
        luck, twin = self._luck, self.cloud.twin
        for zone in ZONES:
            for model in MODELS.values():
                if luck.strikes("stockout-at-start", 0.3):
                    self._run_out(zone, model.value, luck.between(30.0, 900.0))
        if luck.strikes("taken-back-often", 0.5):
            until = self._timeline.now() + self.extent.faults_s
            rule = Rule(model=Model.SPOT.value, hazard_per_h=luck.between(2.0, 40.0), until=until)
            self.cloud.change(partial(twin.market.add, rule))
        for offer in catalog().all_offers():
            metric = offer.quota_metric
            if offer.region != SAFE_REGION and metric and luck.strikes("no-quota", 0.05):
                place = offer.zone if offer.slice is not None else offer.region
                twin.quotas.set_limit(place, metric, 0.0)

    def play(self, scenario: Scenario) -> None:
        """Let the market be as a scenario says, from now on."""
        now = self._timeline.now()
        for rule in scenario.market:
            later = rule._replace(since=now + rule.since, until=now + rule.until)
            self.cloud.change(partial(self.cloud.twin.market.add, later))

    def engines(self, caller: Caller) -> Callable[[str], Any]:
        """See Provider. Each controller has engines of its own: they may remember something."""
        line = Line(self.cloud.wire, self._luck, caller=caller)
        session = Session(cast(httpx.Client, line), FixedBearer(TOKEN))
        built: dict[str, Any] = {}

        def engine(name: str) -> Any:
            if name not in built:
                found = build_engine(name, _site(caller.world, session))
                self._rig(found)
                built[name] = Fragile(Watched(found, self._seen), caller.hazard)
            return built[name]

        return engine

    def demand(self, spec: Spec, training: Training) -> Demand:
        """See Provider."""
        kinds, luck = self._kinds, self._luck
        nodes = min(spec.resources.nodes_min, *(kind.nodes_max for kind in kinds), 99)
        wanted = tuple(accelerators(kind.accelerators) for kind in kinds)
        resources = Resources(accelerators=wanted, nodes_min=nodes, nodes_max=nodes)
        gangs = chosen_gangs(luck, kinds, nodes=nodes, work_s=training.steps * STEP_S)
        ways = {gang.buy for gang in gangs}
        price = gangs[0].usd_per_h
        budget = None if FLEX_START in ways else (BUDGET_H[0] * price, BUDGET_H[1] * price)
        own = limited(luck, spec, training, budget_usd=budget)
        if ways == set(BOTH) and luck.whole(1, 3) == 1:
            near_s = training.steps * STEP_S + RESERVE_S + luck.between(50.0, 250.0)
            training.saves_on_notice = luck.whole(1, 2) == 1
            own = replace(own, limits=replace(own.limits, deadline_s=near_s, ttl_s=None))
        own = replace(own, resources=resources)
        return Demand(training, own, options_of(gangs), kinds[0].engine)

    def faults(self, pick: float, seconds: float) -> Sequence[Fault]:
        """See Provider."""
        zone = ZONES[int(pick * len(ZONES))]
        return (
            ("node-lost", partial(self._lose, pick)),
            ("node-preempted", partial(self._preempt, pick)),
            ("node-cut-off", partial(self._cut_off, pick, seconds)),
            ("host-maintained", partial(self._maintain, pick)),
            ("stockout", partial(self._run_out, zone, "*", seconds * 5)),
            ("outage", partial(self.cloud.wire.fail_for, seconds)),
        )

    def left(self) -> Sequence[str]:
        """See Provider."""
        return left_in(self.cloud.twin, token=TOKEN)

    def billed_usd(self, run: str) -> float:
        """See Provider. Machines that came and went while no controller looked, and whose agents
        never began, are left out: nobody can know of them."""
        known = self._seen | {gang.claim for gang in self._hosts.gangs}
        now = self._timeline.now()
        running = [
            Charged(one.wanted, now - one.running_since, one.labels, one.is_managed)
            for one in self._billed()
        ]
        usd_per_h = self.cloud.twin.billing.usd_per_h
        return sum(
            one.seconds / HOUR_S * (usd_per_h(one.wanted, is_managed=one.is_managed) or 0.0)
            for one in (*self.cloud.charged, *running)
            if one.labels.get(RUN_LABEL) == run and one.labels.get(CLAIM_LABEL) in known
        )

    def paid_for(self) -> Iterable[tuple[str, float]]:
        """See Provider."""
        return [(one.labels[CLAIM_LABEL], one.running_since) for one in self._billed()]

    def _billed(self) -> list[Machine]:
        return [
            one
            for one in self.cloud.twin.fleet.all()
            if one.is_counted and one.state in (State.RUNNING, State.WARNED)
        ]

    # ---- what befalls machines and stock ---------------------------------------------------

    def _running(self) -> list[Machine]:
        return [one for one in self.cloud.twin.fleet.all() if one.state is State.RUNNING]

    def _lose(self, pick: float) -> None:
        machines = self._running()
        if machines:
            machine = machines[int(pick * len(machines))]
            self.cloud.change(partial(self.cloud.twin.fleet.fail, machine))

    def _preempt(self, pick: float) -> None:
        machines = [one for one in self._running() if one.wanted.model is Model.SPOT]
        if machines:
            machine = machines[int(pick * len(machines))]
            self.cloud.change(partial(self.cloud.twin.fleet.preempt, machine))

    def _maintain(self, pick: float) -> None:
        machines = self._running()
        if machines:
            machine = machines[int(pick * len(machines))]
            incident = {"what": "maintenance", "name": machine.id, "machine": machine.id}
            self.cloud.change(partial(self.cloud.twin.faults.incidents.fire, incident))

    def _cut_off(self, pick: float, seconds: float) -> None:
        hosts = self._hosts.on()
        if hosts:
            host = hosts[int(pick * len(hosts))]
            host.cut_off(True)
            self._timeline.after(seconds, partial(host.cut_off, False))

    def _run_out(self, zone: str, model: str, seconds: float) -> None:
        now = self._timeline.now()
        rule = Rule(zone=zone, model=model, since=now, until=now + seconds, is_closed=True)
        self.cloud.change(partial(self.cloud.twin.market.add, rule))


def _site(world: World, session: Session) -> EngineSite:
    google = GoogleSite(
        project=lambda: "twin-project",
        session=lambda: session,
        catalog=catalog,
        agent_url=lambda: AGENT_URL,
        defaults=lambda name: {},
    )
    return EngineSite(
        home=Path("/nowhere"),
        world=world,
        processes=Processes(),
        agent=lambda: Path("/nowhere/agent.pyz"),
        secrets=lambda run: None,
        wake=Path("/nowhere/wake"),
        google=google,
    )
