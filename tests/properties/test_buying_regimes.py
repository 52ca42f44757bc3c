"""The policy in markets of many kinds, none of which it was made for."""

from __future__ import annotations

import numpy as np
import pytest

from counts import EXAMPLES
from markets import terms
from windlass.planner.buying.policy import decide
from windlass.planner.buying.study import baselines
from windlass.planner.buying.study.replay import replay
from windlass.planner.buying.study.synthetic import REGIMES, draw

WORK, RESTART = 600, 10  # 12 hours of work, restarts of 0.2 h.
RUNS = max(20, EXAMPLES // 4)

# Spot that is lost after 24 minutes on average, and needs 12 for a start, is hardly worth having:
# the policy may pay a little for finding that out. Most over on-demand only, and over greedy.
LIMITS = {"flapping": (1.01, 1.04)}


def costs(policy, runs, *, steps):
    told = terms(work=WORK, steps=steps, restart=RESTART)
    outcomes = [replay(run, policy, work=WORK, terms=told) for run in runs]
    assert all(outcome.is_met for outcome in outcomes)
    return np.array([outcome.cost for outcome in outcomes])


@pytest.mark.soak
@pytest.mark.parametrize("regime", REGIMES, ids=lambda regime: regime.name)
def test_no_deadline_is_missed_and_nobody_simple_is_cheaper(regime, record_property):
    over_on_demand, over_greedy = LIMITS.get(regime.name, (1.0, 1.0))
    ours, greedy, uniform = [], [], []
    for zones in (1, 3):
        for steps in (690, 900):
            runs = [draw(regime, zones=zones, steps=steps, seed=seed) for seed in range(RUNS)]
            found = costs(decide, runs, steps=steps)
            most = costs(baselines.on_demand_only, runs, steps=steps)
            # One run may have bad luck with its starts; on average it must not.
            assert (found <= 1.10 * most).all()
            assert found.mean() <= over_on_demand * most.mean()
            ours.append(found.mean() / WORK)
            greedy.append(costs(baselines.greedy, runs, steps=steps).mean() / WORK)
            uniform.append(costs(baselines.uniform_progress, runs, steps=steps).mean() / WORK)
    means = [float(np.mean(each)) for each in (ours, greedy, uniform)]
    record_property(f"buying, {regime.name}: ours, greedy, uniform", [f"{x:.3f}" for x in means])
    assert means[0] <= over_greedy * means[1]
    assert means[0] <= means[2]


@pytest.mark.soak
@pytest.mark.parametrize("regime", REGIMES, ids=lambda regime: regime.name)
@pytest.mark.parametrize(
    ("work", "steps", "restart"), [(300, 302, 2), (100, 140, 40), (60, 120, 0), (5, 100, 10)]
)
def test_no_deadline_is_missed_whatever_the_restart_and_the_slack(regime, work, steps, restart):
    told = terms(work=work, steps=steps, restart=restart)
    for seed in range(max(3, RUNS // 8)):
        market = draw(regime, zones=1 + seed % 3, steps=steps, seed=seed, spread=0.3)
        assert replay(market, decide, work=work, terms=told).is_met
