from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from windlass.planner.buying.study.replay import STEP_H
from windlass.planner.buying.study.synthetic import REGIMES, draw, stock

BY_NAME = {regime.name: regime for regime in REGIMES}
DAY = round(24 / STEP_H)


def lives_h(row, *, is_up):
    """How long each whole stretch lasted."""
    changes = np.flatnonzero(row[1:] != row[:-1]) + 1
    lengths = np.diff(changes) * STEP_H
    return lengths[row[changes[:-1]] == is_up]


@pytest.mark.parametrize("regime", REGIMES, ids=lambda regime: regime.name)
def test_one_seed_is_one_market_and_another_another(regime):
    first, again, other = (draw(regime, zones=2, steps=DAY, seed=seed) for seed in (1, 1, 2))
    assert (first.up == again.up).all()
    assert (first.up != other.up).any()
    assert first.up.shape == first.spot.shape == (2, DAY)


@pytest.mark.parametrize(
    ("name", "up_h", "down_h"),
    [
        ("memoryless", (3.0, 5.0), (1.5, 2.6)),
        ("rare long outages", (25, 55), (6, 14)),
        ("flapping", (0.3, 0.5), (0.2, 0.4)),
        ("scarce", (1.0, 2.0), (8, 16)),
    ],
)
def test_states_last_as_long_as_their_regime_says(name, up_h, down_h):
    rows = draw(BY_NAME[name], zones=6, steps=20 * DAY, seed=3).up
    ups, downs = (np.concatenate([lives_h(row, is_up=is_up) for row in rows]) for is_up in (1, 0))
    assert up_h[0] < ups.mean() < up_h[1]
    assert down_h[0] < downs.mean() < down_h[1]


def test_zones_share_their_weather_only_where_the_regime_says_so():
    def likeness(regime):
        return np.corrcoef(draw(regime, zones=2, steps=20 * DAY, seed=5).up)[0, 1]

    together = BY_NAME["correlated zones"]
    assert likeness(together) > 0.5
    assert abs(likeness(replace(together, is_shared=False))) < 0.3


def test_a_diurnal_zone_is_up_at_night_and_down_by_day():
    row = draw(BY_NAME["diurnal"], zones=1, steps=20 * DAY, seed=1).up[0]
    by_hour = row.reshape(20, 24, -1).mean(axis=(0, 2))
    assert by_hour.max() > 0.85
    assert by_hour.min() < 0.3


def test_old_spot_wears_out_where_the_regime_says_so():
    rows = draw(BY_NAME["wearing"], zones=4, steps=20 * DAY, seed=1).up
    ups = np.concatenate([lives_h(row, is_up=True) for row in rows])
    assert ups.max() < 10
    assert np.std(ups) < 0.6 * ups.mean()


def test_prices_differ_by_zone_when_asked_to():
    market = draw(REGIMES[0], zones=3, steps=10, seed=1, spread=0.5)
    assert len(set(market.spot[:, 0])) == 3
    assert ((market.spot >= 0.3) & (market.spot <= 0.8)).all()


@pytest.mark.parametrize(("at_once", "mean_wait_h"), [(0.7, 2.0), (0.2, 0.5)])
def test_stock_is_there_as_often_and_out_as_long_as_asked_for(at_once, mean_wait_h):
    row = stock(at_once=at_once, mean_wait_h=mean_wait_h, steps=100 * DAY, seed=1)
    assert row.mean() == pytest.approx(at_once, abs=0.05)
    assert lives_h(row, is_up=False).mean() == pytest.approx(mean_wait_h, rel=0.15)
