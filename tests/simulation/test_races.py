"""What a race gains where five zones have nothing: the real controller and engine over a twin."""

from __future__ import annotations

import pytest

from windlass.simulation.gang import Training
from windlass.simulation.twinned.alone import live
from windlass.simulation.twinned.offers import KINDS, ZONES, gangs_of
from windlass.spec.accelerators import accelerators
from windlass.spec.model import Resources, Spec, Where, Work
from windlass.twin.market import Rule
from windlass.twin.scenario.model import Scenario

KIND = KINDS[2]
OPERATION_S = 3.0
"""How long Google takes to say that it has none."""
BOOT_S = 25.0


def seconds_to_work(race: int, *, boot_s: float) -> float:
    """Until a run of one short step is done, where no zone has spot and the sixth offer does."""
    spot, on_demand = (gangs_of(KIND, 1, (way,)) for way in ("spot", "on-demand"))
    assert {gang.offer.partition("/")[0] for gang in spot} == set(ZONES)
    spec = Spec(
        name="raced",
        run="train",
        resources=Resources(accelerators=(accelerators(KIND.accelerators),)),
        where=Where(race=race),
        work=Work(steps=1),
    )
    scenario = Scenario(
        digest="five zones have none",
        settings={"delays": {"operation": OPERATION_S, "boot": boot_s}},
        market=(Rule(model="SPOT", is_closed=True),),
    )
    return live(
        1,
        spec=spec,
        gangs=[*spot, on_demand[0]],
        training=Training(steps=1, step_s=0.1, setup_s=0.0),
        scenario=scenario,
    ).seconds


def test_three_at_once_need_half_of_the_time_to_find_machines(record_property):
    one, three = (seconds_to_work(race, boot_s=0.0) for race in (1, 3))
    record_property("s to work, one at a time", round(one, 1))
    record_property("s to work, three at once", round(three, 1))
    assert three <= one / 2


def test_where_machines_boot_for_long_only_the_search_is_shorter(record_property):
    one, three = (seconds_to_work(race, boot_s=BOOT_S) for race in (1, 3))
    record_property(f"s to work with boots of {BOOT_S:.0f} s, one at a time", round(one, 1))
    record_property(f"s to work with boots of {BOOT_S:.0f} s, three at once", round(three, 1))
    # Five rounds of asking become two, of which the last one finds machines.
    assert one - three == pytest.approx(4 * OPERATION_S, abs=OPERATION_S)
