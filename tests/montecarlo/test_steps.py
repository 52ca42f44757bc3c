"""Useful time, held to steps that are played slice by slice and message by message."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import counts
from plans import A100_80, H100, L4, V5E, gang_of
from played_steps import Cluster
from preempted_grid import NODES
from windlass.planner.gang import Gang
from windlass.planner.priors import load_priors
from windlass.planner.useful import Amount, Reference, useful_time

PRIORS = load_priors()
CHANCE, OFF = 0.004, 0.02
STEPS = 500 if counts.EXAMPLES < 1000 else 5_000
OFFERS = (H100, A100_80, L4, V5E)
MODELS = ((1e9, 8192.0), (7e9, 2048.0), (7e10, 512.0))
"""Parameters, and tokens of a step for each chip: with fewer, links show."""


def played_s(gang: Gang, params: float, tokens: float) -> float:
    """The mean time of a step."""
    cluster = Cluster(gang, PRIORS, seed=gang.nodes, steps=STEPS)
    times = cluster.step_times(params, tokens)
    assert times.std() / math.sqrt(STEPS) <= CHANCE * times.mean()
    return float(np.mean(times))


def is_near(record_property, found: float, played: float) -> bool:
    off = abs(found / played - 1)
    if counts.EXAMPLES >= 1000:
        record_property("useful", f"{off:.2%} off")
    return off <= OFF


@pytest.mark.soak
@pytest.mark.parametrize(
    ("offer", "nodes", "model"), [*itertools.product(OFFERS, NODES, MODELS)], ids=str
)
def test_tokens_take_as_long_as_their_steps(offer, nodes, model, record_property):
    gang = gang_of(offer, nodes)
    params, per_chip = model
    tokens = per_chip * gang.chips
    found = useful_time(Amount(params=params, tokens=1e4 * tokens, steps=10_000), gang, PRIORS)
    assert found is not None
    assert is_near(record_property, found.work_s, 10_000 * played_s(gang, params, tokens))


@pytest.mark.soak
@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("offer", [H100, A100_80, V5E])
def test_a_step_measured_elsewhere_says_how_long_it_takes_here(offer, nodes, record_property):
    params, tokens = 7e9, 2e6
    there, here = gang_of(A100_80, 2), gang_of(offer, nodes)
    reference = Reference(gang=there, step_s=played_s(there, params, tokens), source="spec")
    found = useful_time(Amount(steps=1000, params=params, reference=reference), here, PRIORS)
    assert found is not None
    assert is_near(record_property, found.work_s, 1000 * played_s(here, params, tokens))


def test_what_is_summed_shows_in_some_of_these_steps_and_is_hidden_in_others():
    scaling = []
    for offer, nodes, (params, per_chip) in itertools.product(OFFERS, NODES, MODELS):
        gang = gang_of(offer, nodes)
        amount = Amount(params=params, tokens=1e4 * per_chip * gang.chips, steps=10_000)
        found = useful_time(amount, gang, PRIORS)
        assert found is not None
        scaling.append(found.scaling)
    assert min(scaling) < 0.3
    assert sum(share == 1.0 for share in scaling) > 5
