from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from windlass.planner.buying.study.optimum import optimum

NEVER = float("inf")


def searched(up, spot, *, on_demand, work, restart):
    """Every way to spend every step, with the restart counted down step by step."""
    zones, steps = up.shape

    @cache
    def least(step, left, held, starting):
        if left == 0:
            return 0.0
        if step == steps:
            return NEVER
        found = least(step + 1, left, None, 0)
        for choice in range(zones + 1):
            if choice < zones and not up[choice, step]:
                continue
            price = on_demand if choice == zones else spot[choice, step]
            ahead = starting if choice == held else restart
            worked = 1 if ahead == 0 else 0
            then = least(step + 1, left - worked, choice, max(0, ahead - 1))
            found = min(found, price + then)
        return found

    return least(0, work, None, 0)


@pytest.mark.parametrize("seed", range(75))
def test_the_optimum_is_what_a_search_of_everything_finds(seed):
    chance = np.random.default_rng(seed)
    zones, steps = int(chance.integers(1, 4)), int(chance.integers(4, 13))
    restart, work = int(chance.integers(0, 3)), int(chance.integers(1, 8))
    up = chance.random((zones, steps)) < chance.choice([0.3, 0.6, 0.9])
    spot = chance.choice([0.2, 0.3, 0.5], (zones, steps))
    found = optimum(up[None], spot[None], on_demand=1.0, work=work, restart=restart)[0]
    expected = searched(up, spot, on_demand=1.0, work=work, restart=restart)
    if found is None or found == NEVER:
        assert expected == NEVER
    else:
        assert found == pytest.approx(expected, abs=1e-4)


def test_runs_solved_together_are_solved_as_if_alone():
    chance = np.random.default_rng(1)
    up = chance.random((9, 2, 40)) < 0.6
    spot = np.full(up.shape, 0.3)
    together = optimum(up, spot, on_demand=1.0, work=20, restart=2)
    alone = [
        optimum(up[run : run + 1], spot[:1], on_demand=1.0, work=20, restart=2)[0]
        for run in range(9)
    ]
    assert together == alone
