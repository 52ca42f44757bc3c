"""Whatever the policy is told, it answers, and with something that can be done."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import EXAMPLES
from windlass.planner.buying.hazards import Record
from windlass.planner.buying.model import Holding, Observation, Place, Supply, Terms, Zone
from windlass.planner.buying.policy import decide

HOURS = st.sampled_from([-5.0, 0.0, 1e-9, 0.1, 0.5, 3.0, 40.0, 5000.0])
PRICES = st.sampled_from([0.0, 0.3, 1.0, 7.0, float("inf"), float("nan")])
RECORDS = st.builds(
    Record,
    age_h=st.sampled_from([0.0, 0.2, 2.0, 900.0]),
    up_h=st.sampled_from([0.0, 30.0]),
    ups_ended=st.sampled_from([0, 3, 500]),
    ups_expected=st.sampled_from([0.0, 2.0, 80.0]),
    downs_ended=st.sampled_from([0, 500]),
    downs_expected=st.sampled_from([0.0, 80.0]),
)
TERMS = st.builds(
    Terms,
    work_h=st.sampled_from([0.0, 2.0]),
    deadline_h=st.sampled_from([0.0, 1.0, 5.0]),
    restart_h=st.sampled_from([0.0, 0.2, 30.0]),
    look_h=st.just(0.02),
    supply=st.sampled_from([Supply(), Supply(at_once=0.4, mean_wait_h=1.0), Supply(at_once=0.0)]),
    chance=st.sampled_from([0.0, 0.9, 1.0]),
)


@st.composite
def sights(draw):
    names = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=3))
    zones = tuple(
        Zone(
            name=name,
            spot_price=draw(PRICES),
            on_demand_price=draw(PRICES),
            is_up=draw(st.booleans()),
            record=draw(RECORDS),
        )
        for name in names
    )
    place = draw(st.sampled_from(list(Place)))
    # What is held may be in a zone that is not listed, or listed as down.
    at = "" if place is Place.IDLE else draw(st.sampled_from("abz"))
    return Observation(
        work_h=draw(HOURS),
        time_h=draw(HOURS),
        zones=zones,
        holding=Holding(place=place, zone=at, starting_h=draw(st.sampled_from([0.0, 0.1, 9.0]))),
        asked=draw(st.sampled_from([0, 3])),
        refused_h=draw(st.sampled_from([None, 0.0, 2.0])),
    )


@pytest.mark.soak
@given(seen=sights(), terms=TERMS)
@settings(max_examples=EXAMPLES * 3, deadline=None)
def test_every_observation_gets_a_decision_that_can_be_carried_out(seen, terms):
    decision = decide(seen, terms)
    assert decision == decide(seen, terms)
    assert decision.hold_h >= terms.look_h
    assert 0.0 <= decision.promise <= 1.0
    assert decision.reason
    listed = {zone.name: zone for zone in seen.zones}
    is_kept = (decision.place, decision.zone) == (seen.holding.place, seen.holding.zone)
    if decision.place is Place.IDLE:
        assert decision.zone == ""
    elif not is_kept:
        assert decision.zone in listed
        assert decision.place is Place.ON_DEMAND or listed[decision.zone].is_up
    assert not decision.meanwhile or listed[decision.meanwhile].is_up


@pytest.mark.soak
@given(seen=sights(), terms=TERMS)
@settings(max_examples=EXAMPLES, deadline=None)
def test_nothing_is_promised_that_time_does_not_allow(seen, terms):
    slack_h = seen.slack_h()
    decision = decide(seen, terms)
    if seen.work_h > 0 and slack_h < -1e-6:
        assert decision.promise == 0.0
