from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import EXAMPLES
from markets import seen, terms, zone
from windlass.planner.buying.model import Place
from windlass.planner.buying.policy import decide
from windlass.planner.buying.study.replay import STEP_H, Market, replay


@st.composite
def stays(draw, steps: int) -> np.ndarray:
    """A zone that is up and down for stretches of any length, down to a single step."""
    lengths = draw(st.lists(st.integers(1, max(1, steps // 3)), min_size=1, max_size=40))
    is_up = draw(st.booleans())
    signs: list[bool] = []
    for length in lengths:
        signs += [is_up] * length
        is_up = not is_up
    return np.resize(np.array(signs), steps)


@st.composite
def situations(draw):
    """Any run that on-demand can finish, in any market where spot is not dearer."""
    restart = draw(st.integers(0, 15))
    work = draw(st.integers(1, 150))
    slack = restart + draw(st.integers(0, 120))
    steps = work + slack
    zones = draw(st.integers(1, 3))
    price = st.sampled_from([0.1, 0.3, 0.8])
    return (
        Market(
            names=tuple("abc"[:zones]),
            up=np.stack([draw(stays(steps)) for _ in range(zones)]),
            spot=np.stack([np.full(steps, draw(price)) for _ in range(zones)]),
            on_demand=tuple(draw(st.sampled_from([1.0, 1.25])) for _ in range(zones)),
        ),
        work,
        restart,
    )


@pytest.mark.soak
@given(situation=situations())
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_deadline_is_ever_missed_where_on_demand_is_there(situation):
    market, work, restart = situation
    steps = market.up.shape[1]
    promises = []

    def listening(seen, told):
        decision = decide(seen, told)
        promises.append(decision.promise)
        return decision

    told = terms(work=work, steps=steps, restart=restart)
    outcome = replay(market, listening, work=work, terms=told)
    assert outcome.is_met
    assert set(promises) == {1.0}
    # Work and slack are all that can be paid for, at on-demand's price at most.
    assert outcome.cost <= steps * min(market.on_demand) + 1e-6


@pytest.mark.soak
@given(
    work=st.integers(1, 150),
    extra=st.integers(0, 100),
    restart=st.integers(0, 12),
    ages=st.tuples(st.floats(0, 40), st.floats(0, 40)),
    up=st.tuples(st.booleans(), st.booleans()),
)
@settings(max_examples=EXAMPLES // 2 or 1, deadline=None)
def test_a_decision_can_be_carried_out(work, extra, restart, ages, up):
    told = terms(work=150, steps=300, restart=10)
    zones = [
        zone(name, is_up=is_up, age_h=age_h)
        for name, is_up, age_h in zip("ab", up, ages, strict=True)
    ]
    time_h = (work + restart + extra) * STEP_H
    decision = decide(seen(*zones, work_h=work * STEP_H, time_h=time_h), told)
    assert decision.hold_h >= told.look_h
    assert decision.reason
    if decision.place is Place.SPOT:
        assert next(zone for zone in zones if zone.name == decision.zone).is_up
    if decision.place is Place.IDLE:
        assert not any(up)
