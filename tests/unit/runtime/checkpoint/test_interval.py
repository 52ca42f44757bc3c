"""Saves are due at a fixed interval, or at the one that loses the least time."""

from __future__ import annotations

import pytest

from windlass.runtime.checkpoint.interval import Pace


def test_a_fixed_interval_counts_from_the_last_save():
    pace = Pace(10.0, mtbf_s=3600.0, now=100.0)
    assert not pace.is_due(109.9)
    assert pace.is_due(110.0)
    pace.saved(112.0, 1.0)
    assert not pace.is_due(121.0)
    assert pace.is_due(122.0)


@pytest.mark.parametrize(
    ("cost_s", "mtbf_s", "interval_s"),
    [(2.0, 3600.0, 120.0), (0.001, 3600.0, 15.0), (600.0, 1e6, 3600.0), (0.0, 3600.0, 15.0)],
    ids=["young", "never too often", "never too seldom", "a save that costs nothing"],
)
def test_the_automatic_interval_follows_the_measured_cost(cost_s, mtbf_s, interval_s):
    pace = Pace(None, mtbf_s=mtbf_s, now=0.0)
    pace.saved(0.0, cost_s)
    assert pace.interval_s == pytest.approx(interval_s)


def test_before_anything_was_measured_the_first_save_comes_after_30_s():
    pace = Pace(None, mtbf_s=14400.0, now=0.0)
    assert not pace.is_due(29.9)
    assert pace.is_due(30.0)


def test_a_failed_save_is_not_tried_again_at_once():
    pace = Pace(5.0, mtbf_s=14400.0, now=0.0)
    pace.restart(6.0)
    assert not pace.is_due(6.1)
