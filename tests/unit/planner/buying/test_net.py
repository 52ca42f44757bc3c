from __future__ import annotations

import pytest

from markets import seen, terms, zone
from windlass.planner.buying.model import Holding, Observation, Place, Supply
from windlass.planner.buying.net import may_start_spot, may_wait, promise

TOLD = terms(work=100, steps=200, restart=10)  # A restart is 0.2 h, a look 0.02 h.


@pytest.mark.parametrize(
    ("slack_h", "is_wait_fine", "is_start_fine"),
    [(0.2, False, False), (0.22, True, False), (0.40, True, False), (0.42, True, True)],
)
def test_slack_decides_to_the_step(slack_h, is_wait_fine, is_start_fine):
    now = seen(zone(), work_h=1.0, time_h=1.0 + slack_h)
    assert (may_wait(now, TOLD), may_start_spot(now, TOLD)) == (is_wait_fine, is_start_fine)


def test_machines_that_must_be_waited_for_need_more_slack():
    scarce = Supply(at_once=0.5, mean_wait_h=1.0)
    told = terms(work=100, steps=200, restart=10, supply=scarce)
    assert told.reserve_h() == pytest.approx(0.2 + 2.3026, abs=1e-3)
    assert scarce.chance_within(told.reserve_h() - 0.2) == pytest.approx(0.95)
    assert not may_wait(seen(zone(), work_h=1.0, time_h=3.4), told)
    assert may_wait(seen(zone(), work_h=1.0, time_h=3.6), told)


@pytest.mark.parametrize(
    ("supply", "expected"),
    [
        (Supply(), 1.0),
        (Supply(at_once=0.9, mean_wait_h=1e9), 0.9),
        (Supply(at_once=0.5, mean_wait_h=1.0), 1 - 0.5 * 2.718281828**-0.8),
    ],
)
def test_the_promise_is_that_of_the_supply(supply, expected):
    told = terms(work=100, steps=200, restart=10, supply=supply)
    now = seen(zone(), work_h=1.0, time_h=2.0)
    assert promise(now, told, place=Place.ON_DEMAND) == pytest.approx(expected, abs=1e-4)


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
