"""Slices that are not to be had where they were asked for first are asked for elsewhere."""

from __future__ import annotations

import pytest

from windlass.engines.tpu.sight import PATIENCE_S
from windlass.simulation.gang import Training
from windlass.simulation.twinned.alone import live
from windlass.simulation.twinned.offers import KINDS, gangs_of
from windlass.spec.accelerators import accelerators
from windlass.spec.model import Resources, Spec, Where, Work
from windlass.twin.market import Rule
from windlass.twin.scenario.model import Scenario

KIND = KINDS[3]
BOOT_S = 20.0


def seconds_to_work(*rules: Rule, ways: tuple[str, ...]) -> float:
    """Until a run of one short step is done, one offer asked for at a time."""
    gangs = [gang for way in ways for gang in gangs_of(KIND, 1, (way,))]
    spec = Spec(
        name="queueing",
        run="train",
        resources=Resources(accelerators=(accelerators(KIND.accelerators),)),
        where=Where(race=1),
        work=Work(steps=1),
    )
    delays = {"operation": 1.0, "boot": BOOT_S}
    scenario = Scenario(digest="queues", settings={"delays": delays}, market=rules)
    training = Training(steps=1, step_s=0.1, setup_s=0.0)
    return live(1, spec=spec, gangs=gangs, training=training, scenario=scenario).seconds


@pytest.fixture
def zones():
    """Where slices may be asked for, best first."""
    return [gang.offer.partition("/")[0] for gang in gangs_of(KIND, 1, ("spot",))]


def test_a_full_zone_costs_one_wait_and_not_the_run(zones, record_property):
    at_once = seconds_to_work(ways=("spot",))
    full = Rule(zone=zones[0], model="SPOT", is_closed=True)
    after = seconds_to_work(full, ways=("spot",))
    record_property("s more for a queue that does not move", round(after - at_once, 1))
    assert PATIENCE_S <= after - at_once < PATIENCE_S + 15.0


def test_where_no_zone_has_spot_on_demand_is_asked_for(zones):
    after = seconds_to_work(Rule(model="SPOT", is_closed=True), ways=("spot", "on-demand"))
    assert after < (len(zones) + 1) * (PATIENCE_S + 15.0)
