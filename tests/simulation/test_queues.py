"""What is not to be had where it was asked for first is asked for elsewhere."""

from __future__ import annotations

import pytest

from windlass.engines.tpu import sight as tpu
from windlass.engines.vertex import sight as vertex
from windlass.simulation.gang import Training
from windlass.simulation.twinned.alone import live
from windlass.simulation.twinned.offers import KINDS, Kind, gangs_of
from windlass.spec.accelerators import accelerators
from windlass.spec.model import Resources, Spec, Where, Work
from windlass.twin.market import Rule
from windlass.twin.scenario.model import Scenario

SLICE = KINDS[3]
REPLICAS = KINDS[5]
BOOT_S = 20.0
LOOK_S = 15.0
"""Claims that wait are looked at every few seconds."""


def seconds_to_work(
    *rules: Rule, ways: tuple[str, ...], kind: Kind = SLICE, search_s: float = 0.0
) -> float:
    """Until a run of one short step is done, one offer asked for at a time."""
    gangs = [gang for way in ways for gang in gangs_of(kind, 1, (way,))]
    spec = Spec(
        name="queueing",
        run="train",
        resources=Resources(accelerators=(accelerators(kind.accelerators),)),
        where=Where(race=1),
        work=Work(steps=1),
    )
    delays = {"operation": 1.0, "boot": BOOT_S, "replica": BOOT_S, "search": search_s}
    scenario = Scenario(digest="queues", settings={"delays": delays}, market=rules)
    training = Training(steps=1, step_s=0.1, setup_s=0.0)
    return live(1, spec=spec, gangs=gangs, training=training, scenario=scenario).seconds


@pytest.fixture
def zones():
    """Where slices may be asked for, best first."""
    return [gang.zone for gang in gangs_of(SLICE, 1, ("spot",))]


def test_a_full_zone_costs_one_wait_and_not_the_run(zones, record_property):
    at_once = seconds_to_work(ways=("spot",))
    full = Rule(zone=zones[0], model="SPOT", is_closed=True)
    after = seconds_to_work(full, ways=("spot",))
    record_property("s more for a queue that does not move", round(after - at_once, 1))
    assert tpu.PATIENCE_S <= after - at_once < tpu.PATIENCE_S + LOOK_S


def test_where_no_zone_has_spot_on_demand_is_asked_for(zones):
    after = seconds_to_work(Rule(model="SPOT", is_closed=True), ways=("spot", "on-demand"))
    assert after < (len(zones) + 1) * (tpu.PATIENCE_S + LOOK_S)


@pytest.mark.parametrize(
    ("search_s", "waited_s"), [(300.0, 300.0), (1e6, vertex.PATIENCE_S)], ids=["refused", "silent"]
)
def test_a_full_region_costs_vertex_ai_one_wait_and_not_the_run(search_s, waited_s):
    best = gangs_of(REPLICAS, 1, ("spot",))[0]
    full = Rule(zone=f"{best.region}-*", model="SPOT", is_closed=True)
    at_once = seconds_to_work(ways=("spot",), kind=REPLICAS)
    after = seconds_to_work(full, ways=("spot",), kind=REPLICAS, search_s=search_s)
    assert waited_s <= after - at_once < waited_s + LOOK_S
