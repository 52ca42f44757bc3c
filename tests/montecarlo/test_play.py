"""The quick way of playing runs is the slow one, and gangs live as long as their first node."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from preempted_grid import NODES, cases
from preempted_runs import Play, gang_lives, play, play_slowly


def lives_of(run: Play, seed: int) -> Iterator[float]:
    chance = np.random.default_rng(seed)
    while True:
        yield gang_lives(run, count=1, chance=chance)[0]


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("preemptions", [0.3, 6.0, 30.0])
def test_counting_segments_between_preemptions_is_the_same_as_walking_through_them(
    preemptions, nodes
):
    for case in cases(preemptions, nodes, count=4):
        for seed in range(3):
            quick = play(case.play, count=1, chance=np.random.default_rng(seed))
            slow = play_slowly(case.play, lives_of(case.play, seed))
            assert [*np.ravel(quick)] == pytest.approx(slow, rel=1e-9)


def test_a_run_that_nothing_happens_to_takes_the_sum_of_its_parts():
    run = Play(
        nodes=4,
        node_hazard=1e-15,
        work=3600.0,
        segments=4,
        save=10.0,
        restart=60.0,
        wait=5.0,
        first_wait=7.0,
    )
    played = play(run, count=3, chance=np.random.default_rng(1))
    assert played.wall.tolist() == [7 + 60 + 3600 + 4 * 10] * 3
    assert played.held.tolist() == [60 + 3600 + 4 * 10] * 3
    assert played.hits.tolist() == [0, 0, 0]


@pytest.mark.parametrize("nodes", NODES)
def test_the_hazard_of_a_gang_is_that_of_all_its_nodes(nodes):
    run = Play(nodes=nodes, node_hazard=1e-5, work=1.0, segments=1, save=0.0, restart=0.0)
    lives = gang_lives(run, count=70_000, chance=np.random.default_rng(nodes))
    chance = lives.std() / lives.mean() / np.sqrt(lives.size)
    assert chance <= 0.004
    assert 1 / lives.mean() == pytest.approx(1e-5 * nodes, rel=0.02)
