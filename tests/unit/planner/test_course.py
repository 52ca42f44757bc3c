"""The moments of a preempted run at the ends of their range; tests/montecarlo has the rest."""

from __future__ import annotations

import math

import pytest

from windlass.planner.course import Course, cut_short, expected_held_s, expected_wall_s, moments

CALM = Course(work_s=3600.0, hazard_per_s=0.0, segments=4, save_s=10.0, restart_s=60.0)


def changed(**fields: float) -> Course:
    return CALM._replace(**{"hazard_per_s": 1e-4, **fields})


def test_nothing_is_added_when_nothing_can_happen():
    assert moments(CALM) == (CALM.least_s, 0.0, 0.0)
    assert CALM.least_s == 3600 + 4 * 10 + 60
    assert CALM.calm == 1.0
    assert CALM.preemptions == 0.0


@pytest.mark.parametrize("hazard", [1e-300, 1e-18, 1e-12])
def test_a_hazard_of_almost_nothing_changes_almost_nothing(hazard):
    found = moments(changed(hazard_per_s=hazard))
    assert found.mean == pytest.approx(CALM.least_s, rel=1e-7)
    assert 0 <= found.variance < 0.01


def test_a_run_that_can_never_end_takes_forever():
    found = moments(changed(work_s=1e9, segments=1, hazard_per_s=1.0))
    assert math.isinf(found.mean)
    assert math.isinf(found.variance)


@pytest.mark.parametrize("field", ["hazard_per_s", "save_s", "restart_s", "wait_s", "first_wait_s"])
def test_more_of_any_evil_takes_longer(field):
    times = [moments(changed(**{field: value})).mean for value in (1e-4, 2e-4, 1e-3, 2e-3)]
    assert times == sorted(times)
    assert times[0] < times[-1]


def test_series_and_formula_of_a_cut_time_meet():
    below, above = cut_short(1.0, 0.019999999), cut_short(1.0, 0.020000001)
    assert below == pytest.approx(above, rel=1e-6)


@pytest.mark.parametrize("x", [1e-12, 1e-4, 0.1, 1.0, 30.0, 800.0])
def test_a_preemption_comes_within_the_length_it_is_known_to_fall_in(x):
    found = cut_short(x, 1.0)
    assert 0 < found.mean <= 0.5
    assert 0 < found.variance <= 1 / 12 + 1e-12
    assert found.mean**2 + found.variance <= 1.0


def test_machines_are_held_only_while_nothing_is_waited_for():
    course = changed(wait_s=1000.0, first_wait_s=500.0)
    held = moments(course.without_waits()).mean
    waits = 500.0 + course.preemptions * 1000.0
    assert held + waits == pytest.approx(moments(course).mean)


@pytest.mark.parametrize("hazard", [0.0, 1e-12, 1e-6, 1e-4, 1e-3, 1e-2])
def test_the_quick_way_to_the_mean_is_the_mean(hazard):
    course = changed(hazard_per_s=hazard, wait_s=1000.0, first_wait_s=500.0)
    held_s = expected_held_s(course)
    assert held_s == pytest.approx(moments(course.without_waits()).mean)
    assert expected_wall_s(course, held_s) == pytest.approx(moments(course).mean)
