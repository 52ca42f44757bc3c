"""In what time a run ends with a given probability; tests/montecarlo holds it to played runs."""

from __future__ import annotations

import math

import pytest

from windlass.planner.course import Course
from windlass.planner.quantiles import P50, P90, is_within, quantile_s

COURSE = Course(
    work_s=48 * 3600.0,
    hazard_per_s=1 / 36_000,
    segments=48,
    save_s=30.0,
    restart_s=300.0,
    wait_s=600.0,
)


def test_the_smallest_time_that_covers_enough_is_taken_where_most_runs_see_nothing():
    rare = COURSE._replace(hazard_per_s=0.1 / COURSE.work_s)
    assert 0.88 < rare.calm < 0.905
    assert quantile_s(rare._replace(hazard_per_s=1e-9), P90) == COURSE.least_s
    assert quantile_s(rare, P50) == COURSE.least_s


@pytest.mark.parametrize("hazard", [0.0, 1e-12, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 1e-2])
def test_half_of_all_runs_never_take_longer_than_nine_tenths(hazard):
    course = COURSE._replace(hazard_per_s=hazard)
    p50, p90 = quantile_s(course, P50), quantile_s(course, P90)
    assert course.least_s <= p50 <= p90
    for limit in (0.5, 0.9, 0.99, 0.9999, 1.0001, 1.01, 1.1, 2.0):
        assert is_within(course, p90 * limit, P90) is (limit > 1)


def test_p90_grows_with_the_hazard():
    times = [quantile_s(COURSE._replace(hazard_per_s=k * 2e-6), P90) for k in range(200)]
    # Where lumps give way to a smooth curve there is a step, far smaller than what is promised.
    assert all(after > before * 0.995 for before, after in zip(times, times[1:], strict=False))


def test_a_hopeless_run_has_no_p90():
    hopeless = COURSE._replace(segments=1, hazard_per_s=1.0)
    assert math.isinf(quantile_s(hopeless, P90))
    assert not is_within(hopeless, 1e18, P90)
