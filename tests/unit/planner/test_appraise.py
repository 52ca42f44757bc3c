"""What refused offers would have come to."""

from __future__ import annotations

import math

import pytest

from plans import CHECKPOINT, WORK, make_spec, packaged
from windlass.planner import explain
from windlass.planner.appraise import appraise
from windlass.planner.ask import Circumstances
from windlass.planner.candidates import Candidate, Refusal
from windlass.planner.plan import make_plan
from windlass.planner.quota import Quota

QUOTA = Quota({"us-central1": {"PREEMPTIBLE_NVIDIA_H100_GPUS": 4}})
REFUSED = {
    "region": (WORK, CHECKPOINT, "where: {regions: [us-east4]}"),
    "buy": (WORK,),
    "memory": ("work: {params: 7e10, tokens: 1e9}", CHECKPOINT),
    "too-long": ("work: {params: 7e9, tokens: 2e12}", "where: {buy: [flex-start]}"),
    "ttl": (WORK, "limits: {ttl: 2h}"),
    "deadline": (WORK, CHECKPOINT, "limits: {deadline: 2h}"),
    "quota": (WORK, CHECKPOINT),
    "budget": (WORK, CHECKPOINT, "limits: {budget: 9 USD}"),
}


def refused(code: str) -> tuple[Candidate, Refusal]:
    circumstances = Circumstances(quota=QUOTA if code == "quota" else Quota())
    plan = make_plan(make_spec(*REFUSED[code]), packaged(), circumstances)
    refusal = next(one for one in plan.refusals if one.code == code)
    return appraise(refusal, plan.ask, packaged().other_prices), refusal


@pytest.mark.parametrize("code", REFUSED)
def test_every_term_is_there_and_they_add_up(code):
    found, refusal = refused(code)
    assert found.offer is refusal.offer
    assert found.usd > 0
    assert sum(term.value for term in explain.dollars(found)) == pytest.approx(found.usd)
    times = sum(term.value for term in explain.seconds(found))
    assert times == pytest.approx(found.estimate.wall_s)


@pytest.mark.parametrize("code", ["deadline", "quota", "budget"])
def test_it_is_of_the_nodes_that_the_refusal_speaks_of(code):
    found, refusal = refused(code)
    assert found.nodes == refusal.nodes
    assert found.way == refusal.way


def test_where_nothing_says_how_fast_it_goes_an_hour_is_priced():
    spec = make_spec("work: {params: 1e8, tokens: 1e9}", accelerators="P4:1")
    plan = make_plan(spec, packaged())
    refusal = next(one for one in plan.refusals if one.code == "speed-unknown")
    found = appraise(refusal, plan.ask, packaged().other_prices)
    assert found.estimate.wall_s == 3600
    assert "is not known" in explain.seconds(found)[0].how


def test_what_never_ends_is_said_so():
    endless = make_spec("work: {params: 7e9, tokens: 2e14}", "where: {buy: [spot]}")
    plan = make_plan(endless, packaged())
    refusal = next(one for one in plan.refusals if one.code == "never-ends")
    found = appraise(refusal, plan.ask, packaged().other_prices)
    assert not math.isfinite(found.estimate.wall_s)
    assert all(not math.isnan(term.value) for term in explain.seconds(found))
