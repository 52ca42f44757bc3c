from __future__ import annotations

from dataclasses import replace
from math import exp, inf, log

import pytest

from markets import seen, terms, zone
from windlass.planner.buying.model import Holding, Observation, Place, Supply
from windlass.planner.buying.net import may_start_spot, may_wait, promise, reserve_h

TOLD = terms(work=100, steps=200, restart=10)  # A restart is 0.2 h, a look 0.02 h.


@pytest.mark.parametrize(
    ("slack_h", "is_wait_fine", "is_start_fine"),
    [(0.2, False, False), (0.22, True, False), (0.40, True, False), (0.42, True, True)],
)
def test_slack_decides_to_the_step(slack_h, is_wait_fine, is_start_fine):
    now = seen(zone(), work_h=1.0, time_h=1.0 + slack_h)
    assert (may_wait(now, TOLD), may_start_spot(now, TOLD)) == (is_wait_fine, is_start_fine)


SCARCE = Supply(at_once=0.5, mean_wait_h=1.0)


def test_machines_that_must_be_waited_for_need_more_slack():
    told = terms(work=100, steps=200, restart=10, supply=SCARCE)
    now = seen(zone(), work_h=1.0, time_h=4.0)
    # Half of the risk of 5 % for the first time they are asked for.
    assert reserve_h(now, told) == pytest.approx(0.2 + log(0.5 / 0.025), abs=1e-6)
    assert SCARCE.chance_within(reserve_h(now, told) - 0.2) == pytest.approx(0.975)
    assert not may_wait(seen(zone(), work_h=1.0, time_h=4.2), told)
    assert may_wait(seen(zone(), work_h=1.0, time_h=4.3), told)


def test_the_risk_of_asking_again_and_again_is_that_of_the_run():
    told = terms(work=100, steps=200, restart=10, supply=SCARCE)
    now = seen(zone(), work_h=1.0, time_h=4.0)
    waits = [reserve_h(replace(now, asked=asked), told) - 0.2 for asked in range(2000)]
    assert waits == sorted(waits)
    assert 0.0499 < sum(1 - SCARCE.chance_within(wait) for wait in waits) < 0.05


def test_what_was_refused_a_minute_ago_is_likely_to_be_out_still():
    told = terms(work=100, steps=200, restart=10, supply=SCARCE)
    now = seen(zone(), work_h=1.0, time_h=4.0)
    just, later = (reserve_h(replace(now, refused_h=hours), told) for hours in (0.0, 1.0))
    assert just > later > reserve_h(now, told)
    assert SCARCE.after_refusal(0.0).chance_within(0.0) == 0.0
    assert SCARCE.after_refusal(50.0).at_once == pytest.approx(0.5)


def test_a_refusal_means_nothing_where_supply_is_certain_or_always_a_wait():
    for supply in (Supply(), Supply(at_once=0.0, mean_wait_h=2.0)):
        assert supply.after_refusal(0.0) == supply


def test_a_certain_promise_of_scarce_machines_needs_all_the_time_there_is():
    assert SCARCE.wait_for(1.0) == inf


@pytest.mark.parametrize(
    ("slack_h", "asked", "refused_h", "expected"),
    [
        pytest.param(9.0, 0, None, 0.95, id="much slack, which will be spent"),
        pytest.param(9.0, 1, None, 0.975, id="half of the risk is behind"),
        pytest.param(1.0, 0, None, 1 - 0.5 * exp(-0.8), id="too little for what is aimed at"),
        pytest.param(1.0, 1, 0.0, 1 - exp(-0.8), id="refused just now"),
        pytest.param(9.0, 1, 0.0, 0.975 - exp(-8.8), id="asking, with much slack"),
    ],
)
def test_the_promise_is_that_of_the_supply(slack_h, asked, refused_h, expected):
    told = terms(work=100, steps=200, restart=10, supply=SCARCE)
    now = seen(zone(), work_h=1.0, time_h=1.0 + slack_h)
    now = replace(now, asked=asked, refused_h=refused_h)
    assert promise(now, told, place=Place.ON_DEMAND) == pytest.approx(expected, abs=1e-4)


def test_held_machines_that_may_be_left_promise_what_is_aimed_at():
    told = terms(work=100, steps=200, restart=10, supply=SCARCE)
    now = seen(zone(), work_h=1.0, time_h=9.0, place=Place.ON_DEMAND, at="a")
    assert promise(now, told, place=Place.ON_DEMAND) == pytest.approx(0.95)
    certain = terms(work=100, steps=200, restart=10)
    assert promise(now, certain, place=Place.ON_DEMAND) == 1.0


def test_without_a_zone_nothing_is_promised():
    assert promise(seen(work_h=1.0, time_h=9.0), TOLD, place=Place.IDLE) == 0.0


def test_machines_that_are_held_promise_the_deadline():
    told = terms(work=100, steps=200, restart=10, supply=Supply(at_once=0.1, mean_wait_h=9.0))
    held = Holding(place=Place.ON_DEMAND, zone="a", starting_h=0.1)
    now = Observation(work_h=1.0, time_h=1.1, zones=(zone(),), holding=held)
    assert promise(now, told, place=Place.ON_DEMAND) == 1.0
    late = Observation(work_h=1.0, time_h=1.05, zones=(zone(),), holding=held)
    assert promise(late, told, place=Place.ON_DEMAND) == 0.0


def test_no_time_promises_nothing():
    assert promise(seen(zone(), work_h=2.0, time_h=1.0), TOLD, place=Place.ON_DEMAND) == 0.0


def test_supply_that_is_there_needs_no_wait():
    assert Supply().wait_for(0.999) == 0.0
    assert Supply().chance_within(0.0) == 1.0
    assert Supply().chance_within(-1.0) == 0.0
