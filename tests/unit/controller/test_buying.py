"""What the buying policy is told of a run, and what follows from its answer."""

from __future__ import annotations

import pytest

from offered import ON_DEMAND, A, B, C, make_gang
from views import NOW, ViewOf
from windlass.controller.buying import ZONES_MAX, advise
from windlass.controller.offers import Market
from windlass.controller.view import Measured

WORK_S = A.work_s
ALL = (A, B, C, ON_DEMAND)


def advice(*gangs, deadline_s=3 * WORK_S, market=None, measured=None, age_s=100.0):
    made = ViewOf().rented(*gangs, deadline_s=deadline_s, measured=measured)
    return advise(made.run(created_at=NOW - age_s).view(), market or Market(), NOW)


def offers(found):
    return [gang.offer for gang in found.gangs]


def out(*gangs):
    market = Market()
    for gang in gangs:
        market = market.refused(gang, "out-of-stock", NOW)
    return market


@pytest.mark.parametrize(
    ("gangs", "deadline_s"),
    [
        pytest.param(ALL, None, id="no deadline"),
        pytest.param((A, B), 1e5, id="spot only"),
        pytest.param((ON_DEMAND,), 1e5, id="on demand only"),
        pytest.param((*ALL, make_gang(buy="flex-start")), 1e5, id="a third way"),
        pytest.param((A, ON_DEMAND._replace(work_s=0.0)), 1e5, id="nobody knows how long it takes"),
    ],
)
def test_where_there_is_nothing_to_decide_the_policy_is_not_asked(gangs, deadline_s):
    assert advice(*gangs, deadline_s=deadline_s) is None


def test_with_time_enough_spot_is_bought_where_it_is_cheapest():
    cheap = C._replace(usd_per_h=30.0)
    assert offers(advice(A, B, cheap, ON_DEMAND)) == [C.offer, A.offer, B.offer]


def test_a_faster_gang_at_the_same_price_is_cheaper():
    fast = C._replace(work_s=WORK_S / 2)
    assert offers(advice(A, B, fast, ON_DEMAND))[0] == C.offer


def test_without_slack_on_demand_is_bought():
    found = advice(*ALL, deadline_s=WORK_S + 400.0)
    assert ON_DEMAND.offer == offers(found)[0]


def test_work_that_is_safe_is_not_done_again():
    late = {"deadline_s": 3 * WORK_S, "age_s": 2.8 * WORK_S}
    assert offers(advice(*ALL, **late))[0] == ON_DEMAND.offer
    assert offers(advice(*ALL, **late, measured=Measured(saved_share=0.95)))[0] == A.offer


def test_a_run_with_all_of_its_work_saved_is_started_to_end_it():
    """It was preempted after the last save: the policy would see no reason to rent anything."""
    assert advice(*ALL, measured=Measured(saved_share=1.0)) is None


def test_an_outage_everywhere_is_waited_out_while_there_is_time():
    found = advice(*ALL, market=out(A, B, C))
    assert found.gangs == []
    assert found.hold_s > 0
    assert found.reason == "the outage may end soon"


def test_spot_is_started_while_on_demand_is_refused():
    market = out(make_gang("us-central1-a", "on-demand"))
    found = advice(*ALL, deadline_s=WORK_S + 400.0, market=market)
    assert [gang.kind for gang in found.gangs] == ["on-demand", "spot", "spot", "spot"]


def test_on_demand_is_known_of_however_many_places_have_spot():
    many = [make_gang(f"us-east1-{letter}") for letter in "abcdefgh"]
    assert len(many) > ZONES_MAX
    dear = make_gang("eu-west1-a", "on-demand", usd_per_h=200.0)
    found = advice(*many, dear, deadline_s=WORK_S + 400.0)
    assert offers(found)[0] == dear.offer
