from __future__ import annotations

from itertools import pairwise

import pytest

from windlass.planner.buying.hazards import DOWN, UNSEEN_H, UP, WEIGHT, Record


@pytest.mark.parametrize("life", [UP, DOWN])
def test_what_has_lasted_lasts(life):
    hazards = [life.hazard(age) for age in (0.0, 0.5, 1.0, 4.0, 8.0)]
    assert all(before > after for before, after in pairwise(hazards))


@pytest.mark.parametrize(
    ("life", "young", "old"), [(UP, (1.0, 2.5), (0.07, 0.2)), (DOWN, (1.5, 3.5), (0.07, 0.2))]
)
def test_hazards_are_those_of_the_published_traces(life, young, old):
    first = life.expected_ends(0.4) / 0.4
    assert young[0] < first < young[1]
    assert old[0] < life.hazard(8.0) < old[1]


@pytest.mark.parametrize("factor", [0.3, 1.0, 3.0])
def test_the_mean_is_the_sum_of_the_chances(factor):
    step = 0.001
    summed = sum(
        UP.chance_to_last((number + 0.5) * step, age_h=0.5, factor=factor) * step
        for number in range(5000)
    )
    assert UP.mean_within(5.0, age_h=0.5, factor=factor) == pytest.approx(summed, rel=1e-3)


def test_a_zone_nobody_looked_at_is_usual():
    record = Record()
    assert (record.up_factor(), record.down_factor(), record.up_share()) == (1.0, 1.0, 0.5)
    assert record.age_h == UNSEEN_H


def test_many_preemptions_make_a_zone_lively_and_a_calm_day_makes_it_calm():
    lively = calm = Record(age_h=0.0)
    for _ in range(10):
        lively = lively.later(0.1, is_up=True).changed(was_up=True)
        lively = lively.later(0.1, is_up=False).changed(was_up=False)
    calm = calm.later(24.0, is_up=True)
    assert lively.up_factor() > 2 > 1 > calm.up_factor()
    assert lively.age_h == 0.0
    assert (lively.ups_ended, lively.downs_ended) == (10, 10)
    assert calm.up_share() > lively.up_share()


def test_the_posterior_is_the_prior_plus_what_was_seen():
    record = Record(age_h=0.0).later(2.0, is_up=True).changed(was_up=True)
    assert record.up_factor() == pytest.approx(
        (WEIGHT + 1) / (WEIGHT + UP.expected_ends(2.0)), abs=1e-12
    )


def test_looking_twice_is_looking_once():
    once = Record(age_h=0.0).later(3.0, is_up=False)
    twice = Record(age_h=0.0).later(1.0, is_up=False).later(2.0, is_up=False)
    assert twice.downs_expected == pytest.approx(once.downs_expected)
    assert twice.down_h == once.down_h
