"""Where on-demand can be out of stock: what is promised is kept, shown by replay."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from counts import EXAMPLES
from markets import terms
from windlass.planner.buying.model import Place, Supply
from windlass.planner.buying.policy import decide
from windlass.planner.buying.study.replay import replay
from windlass.planner.buying.study.synthetic import REGIMES, Regime, draw, stock

WORK, STEPS, RESTART = 200, 500, 5
RUNS = max(200, EXAMPLES * 2)

NEVER = Regime(name="no spot ever", rate=lambda now: 1e3 if now.is_up else 0.0)
BY_NAME = {regime.name: regime for regime in (*REGIMES, NEVER)}


def replays(regime, supply, *, chance):
    """For each run: whether it was in time, and every decision with what had been seen."""
    told = terms(work=WORK, steps=STEPS, restart=RESTART, supply=supply, chance=chance)
    for seed in range(RUNS):
        heard = []

        def listening(seen, told, heard=heard):
            decision = decide(seen, told)
            heard.append((seen, decision))
            return decision

        there = stock(
            at_once=supply.at_once, mean_wait_h=supply.mean_wait_h, steps=STEPS, seed=seed + 10_000
        )
        market = replace(draw(regime, zones=1, steps=STEPS, seed=seed), stock=there)
        yield replay(market, listening, work=WORK, terms=told).is_met, heard


def is_kept(stated, met):
    """Whether as many came true as were promised, up to three deviations of the sample."""
    expected = sum(stated)
    error = sqrt(sum(chance * (1 - chance) for chance in stated))
    return sum(met) >= expected - 3 * error


@pytest.mark.soak
@pytest.mark.parametrize("name", ["no spot ever", "scarce", "flapping", "bursty"])
@pytest.mark.parametrize(
    ("at_once", "mean_wait_h", "chance"),
    [(0.7, 2.0, 0.95), (0.3, 1.0, 0.8), (0.0, 0.5, 0.95), (0.7, 3.0, 0.8)],
)
def test_the_promise_is_kept(name, at_once, mean_wait_h, chance, record_property):
    supply = Supply(at_once=at_once, mean_wait_h=mean_wait_h)
    first, refused, met, met_after = [], [], [], []
    for is_met, heard in replays(BY_NAME[name], supply, chance=chance):
        first.append(heard[0][1].promise)
        met.append(is_met)
        news = [decision for seen, decision in heard if seen.refused_h == 0.0]
        if news:
            refused.append(news[0].promise)
            met_after.append(is_met)
    assert first == pytest.approx([chance] * RUNS)
    assert is_kept(first, met)
    # What is stated in the middle, when machines have just been refused, holds as well.
    assert is_kept(refused, met_after)
    missed = 1 - sum(met) / RUNS
    record_property(f"buying, {name}, {supply}: missed, aimed at {1 - chance:.2f}", f"{missed:.3f}")


@pytest.mark.soak
def test_deadlines_are_missed_at_all_where_machines_may_not_come():
    # Else the test above would show nothing.
    supply = Supply(at_once=0.7, mean_wait_h=3.0)
    met = [is_met for is_met, _ in replays(NEVER, supply, chance=0.8)]
    assert 0.80 <= sum(met) / RUNS < 1.0


@pytest.mark.soak
def test_what_is_held_is_kept_until_machines_come_and_spot_is_used_meanwhile():
    supply = Supply(at_once=0.0, mean_wait_h=2.0)
    waiting = [
        (seen, decision)
        for _, heard in replays(BY_NAME["bursty"], supply, chance=0.95)
        for seen, decision in heard
        if decision.place is Place.ON_DEMAND and seen.holding.place is not Place.ON_DEMAND
    ]
    assert any(decision.meanwhile for _, decision in waiting)
    assert any(seen.holding.place is Place.SPOT and seen.refused_h == 0 for seen, _ in waiting)
    for seen, decision in waiting:
        up = any(zone.is_up for zone in seen.zones)
        assert bool(decision.meanwhile) == (up and seen.holding.place is Place.IDLE)
