"""How often a run saves."""

from __future__ import annotations

import math

import pytest

from windlass.planner import interval
from windlass.planner.course import Course, moments
from windlass.planner.interval import auto_segments, best_interval_s, segments_for
from windlass.runtime.checkpoint import interval as runtime


def test_the_best_interval_is_youngs_when_saves_are_cheap():
    assert best_interval_s(1e-7, 1.0) == pytest.approx(math.sqrt(2 * 1.0 / 1e-7), rel=1e-3)


@pytest.mark.parametrize("hazard", [1e-7, 1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("save_s", [1.0, 30.0, 600.0])
def test_no_other_interval_takes_less_time(hazard, save_s):
    best = best_interval_s(hazard, save_s)

    def expected(interval_s: float) -> float:
        return math.expm1(hazard * (interval_s + save_s)) / interval_s

    assert expected(best) <= min(expected(best * factor) for factor in (0.5, 0.9, 1.1, 2.0))


def test_the_best_number_of_segments_beats_its_neighbours():
    course = Course(work_s=86_400.0, hazard_per_s=1e-4, segments=1, save_s=60.0, restart_s=300.0)
    best = segments_for(86_400.0, best_interval_s(1e-4, 60.0))
    times = {n: moments(course._replace(segments=n)).mean for n in range(1, 3 * best)}
    assert times[best] <= min(times.values()) * 1.0005


def test_nothing_is_saved_between_when_nothing_can_be_lost():
    assert math.isinf(best_interval_s(0.0, 60.0))
    assert segments_for(1000.0, math.inf) == 1


@pytest.mark.parametrize(
    ("work_s", "interval_s", "segments"),
    [(100.0, 100.0, 1), (100.0, 99.0, 2), (0.3, 0.1, 3), (1e6, 1e9, 1), (7200.0, 3600.0, 2)],
)
def test_no_segment_is_longer_than_the_interval(work_s, interval_s, segments):
    assert segments_for(work_s, interval_s) == segments


def test_auto_means_what_the_runtime_does():
    assert (interval.SHORTEST_S, interval.LONGEST_S) == (runtime.SHORTEST_S, runtime.LONGEST_S)
    assert auto_segments(36_000.0, 0.0, 60.0) == 10
    assert auto_segments(150.0, 1.0, 0.1) == 10
