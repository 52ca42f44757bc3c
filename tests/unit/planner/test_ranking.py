"""Candidates in order, made when they are looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plans import CHECKPOINT, WORK, make_spec, packaged
from windlass.planner.ask import Circumstances, make_ask, node_counts
from windlass.planner.judge import Judge
from windlass.planner.plan import asked_offers, make_plan
from windlass.planner.ranking import Goal, Ranking, goal_of, ranked
from windlass.spec.model import Spec

PLAN = make_plan(make_spec(WORK, CHECKPOINT, nodes="1..4"), packaged())
ALL = list(PLAN.candidates)
EVERY = tuple(range(1, 65))
DOLLARS_LOST, TIME_LOST = 0.03, 0.10
"""What trying a fifth of all numbers of nodes may cost at most, in these cases."""


@pytest.mark.parametrize("index", [0, 1, 7, 100, -1, -5])
def test_one_is_the_same_wherever_it_is_taken_from(index):
    assert PLAN.candidates[index] == ALL[index]


@pytest.mark.parametrize("part", [slice(3), slice(5, 40), slice(None, None, 50), slice(-4, None)])
def test_parts_are_those_of_the_whole(part):
    assert PLAN.candidates[part] == tuple(ALL[part])


def test_there_are_as_many_as_are_told():
    assert len(PLAN.candidates) == len(ALL)
    with pytest.raises(IndexError):
        PLAN.candidates[len(ALL)]


def test_nothing_ranked_is_false():
    assert not ranked([], Goal.DOLLARS)
    assert ranked([], Goal.DOLLARS).front() == []


def test_dollars_are_those_of_the_rates():
    """They are found in one go for all numbers of nodes, and one by one for the terms."""
    for found in ALL:
        assert found.usd == pytest.approx(found.lot.usd(found.estimate), rel=1e-12)


def best_of(spec: Spec, counts: tuple[int, ...]) -> Ranking:
    ask = replace(make_ask(spec, packaged(), Circumstances()), nodes=counts)
    lots, _ = Judge(ask, packaged().other_prices).judge(asked_offers(spec, packaged()))
    return ranked(lots, goal_of(spec.limits))


@pytest.mark.parametrize("accelerators", ["H100:8", "A100-80:8, L4:8", "v5e-16"])
@pytest.mark.parametrize("limit", ["deadline: 18h", "deadline: 50h", "deadline: 100h", "ttl: 90h"])
def test_leaving_numbers_of_nodes_out_costs_little_money(accelerators, limit):
    lines = ("work: {params: 7e9, tokens: 2e10}", CHECKPOINT, f"limits: {{{limit}}}")
    spec = make_spec(*lines, accelerators=accelerators, nodes="1..64")
    some, every = best_of(spec, node_counts(1, 64)), best_of(spec, EVERY)
    assert every[0].usd <= some[0].usd <= every[0].usd * (1 + DOLLARS_LOST)


@pytest.mark.parametrize("accelerators", ["H100:8", "H200:8", "v5e-16"])
@pytest.mark.parametrize("budget", [1000, 5000, 20_000])
def test_leaving_numbers_of_nodes_out_costs_little_time(accelerators, budget):
    lines = ("work: {params: 7e9, tokens: 2e10}", CHECKPOINT, f"limits: {{budget: {budget} USD}}")
    spec = make_spec(*lines, accelerators=accelerators, nodes="1..64")
    some, every = best_of(spec, node_counts(1, 64)), best_of(spec, EVERY)
    assert bool(some) is bool(every)
    if every:
        fastest = every[0].estimate.wall_s
        assert fastest <= some[0].estimate.wall_s <= fastest * (1 + TIME_LOST)
