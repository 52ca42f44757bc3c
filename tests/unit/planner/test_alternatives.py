"""Impossible asks get the nearest possible things, named."""

from __future__ import annotations

import math

import pytest

from plans import CHECKPOINT, WORK, make_spec, packaged
from windlass.errors import NoFeasiblePlan
from windlass.planner.alternatives import alternatives, refuse
from windlass.planner.ask import Circumstances
from windlass.planner.plan import Plan, make_plan
from windlass.planner.quota import Quota

QUOTA = Quota({"us-central1": {"PREEMPTIBLE_NVIDIA_H100_GPUS": 8}})


def hopeless(*lines: str, quota: Quota | None = None, **fields: str) -> Plan:
    circumstances = Circumstances(quota=quota or Quota())
    found = make_plan(make_spec(*lines, **fields), packaged(), circumstances)
    assert not found.candidates
    return found


CASES = {
    "a number of GPUs that no machine has": (
        hopeless(accelerators="H100:3"),
        ["accelerators: [H100:2]", "accelerators: [H100:4]"],
    ),
    "a region with no stock": (
        hopeless("where: {regions: [africa-*]}"),
        ["regions: ["],
    ),
    "a region and a way to buy at once": (
        hopeless("where: {regions: [africa-*], buy: [on-demand]}", accelerators="H200:8"),
        ["regions: [", "buy: ["],
    ),
    "a deadline that no machine can meet": (
        hopeless(WORK, CHECKPOINT, "limits: {deadline: 90m}"),
        ["deadline: "],
    ),
    "a deadline that more nodes can meet": (
        hopeless(WORK, CHECKPOINT, "limits: {deadline: 40h}"),
        ["nodes: "],
    ),
    "a budget below the cheapest": (
        hopeless(WORK, CHECKPOINT, "limits: {budget: 5 USD}"),
        ["budget: "],
    ),
    "a model that is too large": (
        hopeless("work: {params: 70e9, tokens: 1e9}", CHECKPOINT),
        ["nodes: 2"],
    ),
    "a quota that is too small": (
        hopeless(
            WORK, CHECKPOINT, "where: {regions: [us-central1], buy: [spot]}", quota=QUOTA, nodes="4"
        ),
        ["a quota of 32 PREEMPTIBLE_NVIDIA_H100_GPUS"],
    ),
    "a long run on spot that saves nothing": (
        hopeless("work: {params: 7e9, tokens: 5e11}", "where: {buy: [spot]}"),
        ["a `checkpoint:`"],
    ),
    "a chip whose speed nobody knows": (
        hopeless(WORK, accelerators="P4:1"),
        ["accelerators: ["],
    ),
}


@pytest.mark.parametrize(("plan", "wanted"), CASES.values(), ids=CASES.keys())
def test_the_nearest_is_named_with_what_it_costs(plan, wanted):
    said = str(refuse(plan, packaged()).remedy)
    for change in wanted:
        assert change in said
    assert "USD and" in said


@pytest.mark.parametrize("plan", [plan for plan, _ in CASES.values()], ids=CASES.keys())
def test_an_alternative_says_all_that_differs(plan):
    for other in alternatives(plan, packaged()):
        assert other.changes
        assert other.candidate.usd > 0


def test_the_error_says_why_each_offer_was_refused():
    error = refuse(hopeless(WORK, "limits: {budget: 5 USD}"), packaged())
    assert isinstance(error, NoFeasiblePlan)
    assert "refused for budget: it costs" in error.context
    assert "refused for buy: spot is not among" in error.context


def test_a_machine_that_does_not_exist_is_told_the_nearest_name():
    from windlass.spec.load import parse_spec

    text = "name: a\nrun: b\nresources: {machine: a3-highgpu-9g}\n"
    plan = make_plan(parse_spec(text, path="x", folder=None), packaged())
    assert "did you mean a3-highgpu-8g?" in refuse(plan, packaged()).context


def test_a_number_of_nodes_that_was_left_out_is_named():
    """16 nodes are too slow and 20 are too many: of 1..64, 17 and 18 are never tried."""
    whole = make_spec(WORK, nodes="17")
    slow = make_plan(whole, packaged()).candidates
    offer = slow[0].offer
    deadline_s = math.ceil(slow[0].estimate.p90_s) + 60
    limits = f"limits: {{deadline: {deadline_s}s}}"
    spec = make_spec(WORK, limits, f"where: {{regions: [{offer.region}]}}", nodes="1..64")
    quota = Quota({offer.region: {offer.quota_metric: 18.0 * 8}})
    plan = make_plan(spec, packaged(), Circumstances(quota=quota))
    assert not plan.candidates
    nearest = alternatives(plan, packaged())[0]
    assert nearest.changes[0] in ("nodes: 17", "nodes: 18")


def test_where_time_is_short_the_fastest_is_named_first():
    spec = make_spec(WORK, CHECKPOINT, "limits: {deadline: 10m}", nodes="1..8")
    plan = make_plan(spec, packaged())
    fastest, cheapest = alternatives(plan, packaged())[:2]
    assert fastest.candidate.estimate.wall_s < cheapest.candidate.estimate.wall_s
    assert fastest.candidate.usd > cheapest.candidate.usd
