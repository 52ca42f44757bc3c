"""The best interval, held to the one that gets the most work out of drawn lives."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import counts
from preempted_grid import NODES, RESTARTS_S, SAVES_S
from preempted_runs import Play, gang_lives, play
from windlass.planner.interval import LONGEST_S, SHORTEST_S, auto_segments, best_interval_s

CHANCE, OFF = 0.004, 0.02
FACTORS = np.linspace(-0.4, 0.4, 17)
"""Logarithms of how much longer or shorter an interval is tried than the best one on paper."""
BATCH = 20_000
HAZARDS = (1e-6, 1e-5, 1e-4, 1e-3)
EVERY = list(itertools.product(HAZARDS, SAVES_S, RESTARTS_S, NODES))
# These reach every hazard, save, restart and number of nodes, but not what takes longest to play.
CHOSEN = EVERY if counts.EXAMPLES >= 1000 else EVERY[4::17]


def work_done(lives: np.ndarray, run: Play) -> list[float]:
    """What is saved in so many lives, for each of the intervals tried.

    A life begins with a start; then come segments with their saves, and what follows the last
    complete one is lost.
    """
    intervals = run.work * np.exp(FACTORS)
    after_start = np.maximum(lives - run.restart, 0.0)
    return [t * np.floor(after_start / (t + run.save)).sum() for t in intervals]


def best_of(work: np.ndarray) -> float:
    """Where the most is done, as the logarithm of a factor: the top of a smooth curve."""
    curve = np.polynomial.Polynomial.fit(FACTORS, np.log(work), 4)
    fine = np.linspace(FACTORS[0], FACTORS[-1], 8001)
    return fine[np.argmax(curve(fine))]


@pytest.mark.soak
@pytest.mark.parametrize(("hazard", "save", "restart", "nodes"), CHOSEN)
def test_no_interval_gets_more_work_out_of_the_same_lives(
    hazard, save, restart, nodes, record_property
):
    interval = best_interval_s(hazard, save)
    run = Play(
        nodes=nodes,
        node_hazard=hazard / nodes,
        work=interval,
        segments=1,
        save=save,
        restart=restart,
    )
    chance = np.random.default_rng(nodes)
    work: list[list[float]] = []
    error = math.inf
    while error > CHANCE:
        work += [work_done(gang_lives(run, count=BATCH, chance=chance), run) for _ in range(10)]
        error = np.std([best_of(np.array(of)) for of in work]) / math.sqrt(len(work))
    off = abs(math.expm1(best_of(np.sum(work, axis=0))))
    if counts.EXAMPLES >= 1000:
        record_property("interval", f"{off:.2%} off")
    assert off <= min(OFF, 5 * error)


@pytest.mark.parametrize(
    ("work", "hazard", "save", "nodes"),
    [
        (12 * 3600.0, 2e-4, 30.0, 8),
        (12 * 3600.0, 2e-4, 600.0, 64),
        (4 * 3600.0, 1e-6, 1.0, 1),
        (1800.0, 2e-3, 0.01, 2),
    ],
)
def test_runs_that_save_automatically_end_no_later_than_others(work, hazard, save, nodes):
    segments = auto_segments(work, hazard, save)
    allowed = range(math.ceil(work / LONGEST_S), math.ceil(work / SHORTEST_S) + 1)
    tried = {round(segments * factor) for factor in (0.25, 0.5, 1, 1.5, 3)} & {*allowed}
    assert len(tried) > 2
    times = {}
    for number in tried:
        run = Play(
            nodes=nodes,
            node_hazard=hazard / nodes,
            work=work,
            segments=number,
            save=save,
            restart=60.0,
        )
        played = play(run, count=20_000, chance=np.random.default_rng(1)).wall
        assert played.std() / math.sqrt(played.size) <= CHANCE * played.mean()
        times[number] = played.mean()
    assert times[segments] <= min(times.values()) * (1 + CHANCE)
