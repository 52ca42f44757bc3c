"""Priors, and what one's own runs make of them."""

from __future__ import annotations

import numpy as np
import pytest

from builders import make_attempt
from windlass.planner.history import PREEMPTED, History, Seen, hazard_per_node_h, seen_in
from windlass.planner.priors import load_priors
from windlass.state.phases import Outcome

PRIORS = load_priors()


def hazard(seen: Seen | None) -> float:
    history = History(seen={("H100", "spot"): seen}) if seen else History()
    return hazard_per_node_h(history, PRIORS, chip="H100", buy="spot")


def test_every_prior_says_where_it_is_from():
    for prior in PRIORS.entries.values():
        assert prior.value >= 0
        assert prior.unit
        assert prior.source


def test_a_missing_word_at_the_end_falls_back_to_the_general_figure():
    assert PRIORS.find("hazard", "spot", "L4").key == "hazard/spot"
    assert PRIORS.find("hazard", "spot", "V100").key == "hazard/spot/V100"
    assert PRIORS.find("hazard", "spot", "L4").is_assumption
    with pytest.raises(KeyError):
        PRIORS.find("nothing")


def test_without_history_the_prior_holds():
    assert hazard(None) == 0.06
    assert hazard(Seen()) == pytest.approx(0.06)


def test_history_takes_over_as_it_grows():
    assert hazard(Seen(preemptions=0, node_hours=100.0)) < 0.06
    assert hazard(Seen(preemptions=20, node_hours=100.0)) > 0.06
    assert hazard(Seen(preemptions=20_000, node_hours=100_000.0)) == pytest.approx(0.2, rel=0.01)


def test_the_posterior_is_right_on_average_over_users_drawn_from_the_prior():
    chance = np.random.default_rng(4)
    hazards = chance.gamma(2.0, 0.06 / 2.0, size=200_000)
    hits = chance.poisson(hazards * 50.0)
    for count in range(8):
        users = hazards[hits == count]
        expected = hazard(Seen(preemptions=count, node_hours=50.0))
        assert users.mean() == pytest.approx(expected, rel=0.02)


def test_attempts_count_the_hours_of_their_nodes_and_their_losses():
    attempts = [
        make_attempt(number=1, started_at=0.0, ended_at=7200.0, outcome=Outcome.PREEMPTED),
        make_attempt(number=2, started_at=7300.0, ended_at=10_900.0, outcome=Outcome.SUCCEEDED),
        make_attempt(number=3, started_at=None, ended_at=11_000.0, outcome=Outcome.LOST),
        make_attempt(number=4, started_at=11_000.0, ended_at=None),
    ]
    assert seen_in(attempts, nodes=4) == Seen(preemptions=1, node_hours=12.0)


def test_the_outcomes_that_count_are_those_of_the_store():
    assert {Outcome.PREEMPTED, Outcome.LOST} == PREEMPTED
