"""The hazard that history makes likely, held to users whose machines are drawn one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import counts
from windlass.planner.history import History, Seen, hazard_per_node_h
from windlass.planner.priors import load_priors

PRIORS = load_priors()
CHANCE, OFF = 0.004, 0.02
USERS = 5_000 * counts.EXAMPLES
NODE_HOURS = (10.0, 50.0, 200.0)


def users(chance: np.random.Generator, node_hours: float) -> tuple[np.ndarray, np.ndarray]:
    """The true hazard of each of many users, and how many preemptions each saw.

    A user's node is replaced when it is lost, until all the hours are used up.
    """
    strength = PRIORS.value("hazard_strength")
    hazards = chance.gamma(strength, PRIORS.value("hazard", "spot", "H100") / strength, USERS)
    hits = np.zeros(USERS, dtype=int)
    left = np.full(USERS, node_hours)
    alive = np.arange(USERS)
    while alive.size:
        left[alive] -= chance.standard_exponential(alive.size) / hazards[alive]
        alive = alive[left[alive] > 0]
        hits[alive] += 1
    return hazards, hits


@pytest.mark.soak
@pytest.mark.parametrize("node_hours", NODE_HOURS)
def test_users_who_saw_as_much_have_that_hazard_on_average(node_hours, record_property):
    hazards, hits = users(np.random.default_rng(4), node_hours)
    offs = []
    for count in range(int(hits.max()) + 1):
        alike = hazards[hits == count]
        if alike.size < 2 or alike.std() > CHANCE * alike.mean() * math.sqrt(alike.size):
            continue
        seen = {("H100", "spot"): Seen(preemptions=count, node_hours=node_hours)}
        expected = hazard_per_node_h(History(seen=seen), PRIORS, chip="H100", buy="spot")
        offs.append(abs(alike.mean() / expected - 1))
    if counts.EXAMPLES >= 1000:
        record_property("worst", f"hazard {max(offs):.2%} of {len(offs)}")
    assert len(offs) >= 4
    assert max(offs) <= OFF
