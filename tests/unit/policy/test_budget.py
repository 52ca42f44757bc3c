"""What a budget allows."""

from __future__ import annotations

import pytest

from windlass.policy.budget import GRACE_S, is_enough, judge, lasts_s, loser_usd, race_cap_usd
from windlass.policy.meter import Meter

NOW = 1000.0


@pytest.mark.parametrize(
    ("spent", "rate", "save_s", "expected"),
    [
        pytest.param(0.0, 0.0, None, (False, False, None), id="nothing is held"),
        pytest.param(79.0, 36.0, 10.0, (False, False, NOW + 100.0), id="the warning is next"),
        pytest.param(80.0, 36.0, 10.0, (True, False, NOW + 1990.0), id="the stop is next"),
        pytest.param(99.8, 36.0, 10.0, (True, False, NOW + 10.0), id="a save and a moment left"),
        pytest.param(99.9, 36.0, 10.0, (True, True, None), id="what is left is one save"),
        pytest.param(99.75, 36.0, None, (True, True, None), id="a save nobody has measured"),
        pytest.param(99.9, 0.0, 10.0, (True, False, None), id="nothing is held any more"),
        pytest.param(100.0, 0.0, 10.0, (True, True, None), id="all is spent"),
    ],
)
def test_a_budget_of_100_dollars_says_when_to_warn_and_when_to_stop(spent, rate, save_s, expected):
    verdict = judge(100.0, Meter(spent_usd=spent, usd_per_h=rate), save_s=save_s, now=NOW)
    assert verdict[:2] == expected[:2]
    assert verdict.look_at == (None if expected[2] is None else pytest.approx(expected[2]))


def test_machines_end_by_themselves_half_a_tick_after_the_budget():
    assert lasts_s(36.0, 36.0) == 3600.0 + GRACE_S
    assert lasts_s(-1.0, 36.0) == GRACE_S


def test_a_start_must_be_worth_a_tick_and_a_save():
    assert is_enough(1.0, 36.0)
    assert not is_enough(0.9, 36.0)


def test_losers_of_races_may_cost_a_twentieth_of_the_budget_or_ten_dollars():
    assert race_cap_usd(900.0) == 45.0
    assert race_cap_usd(None) == 10.0
    assert loser_usd(36.0) == 3.0
