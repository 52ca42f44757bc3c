"""A place in a queue keeps nobody from asking elsewhere for long, and is kept meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from offered import ON_DEMAND, A, B, make_gang
from views import NOW, SILENT, ViewOf
from windlass.controller.decide import decide
from windlass.controller.effects import Cancel, Submit
from windlass.controller.offers import Market, Moving, market_of, market_text
from windlass.controller.view import Measured
from windlass.engines.base import Observation, Seen

PATIENCE_S = 60.0
STARVED = Observation(seen=Seen.PENDING, reason="nothing is free", patience_s=PATIENCE_S)
MADE = Observation(seen=Seen.PENDING, reason="it is being made")
OTHER = make_gang("us-east1-b", "on-demand", usd_per_h=110.0)
FLEX = make_gang("us-east1-c", "flex-start", usd_per_h=30.0)


def queueing(*gangs, for_s=PATIENCE_S, observation=STARVED, **wishes):
    """The first of the gangs was asked for so long ago."""
    made = ViewOf().starting().rented(*gangs, **wishes).racing(gangs[0])
    made.seen(observation=observation, up_for_s=0.0, nodes=(SILENT, SILENT))
    return made.claim(created_at=NOW - for_s)


def asked(decision):
    return [effect.claim.offer for effect in decision.effects if isinstance(effect, Submit)]


def events(decision):
    return [event.code for event in decision.change.events]


def test_another_offer_is_asked_for_beside_a_queue_that_does_not_move():
    decision = decide(queueing(A, B).view(), NOW)
    assert asked(decision) == [B.offer]
    assert not any(isinstance(effect, Cancel) for effect in decision.effects)
    assert decision.change.run.reason == f"asking for {B.offer} too: nothing is free where it waits"
    assert events(decision) == ["queueing"]
    assert market_of(decision.change.run.market).block_of(A, NOW).code == "out-of-stock"


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(queueing(A, B, for_s=PATIENCE_S - 1), id="it has not waited for long"),
        pytest.param(queueing(A, B, observation=MADE), id="its machines are being made"),
        pytest.param(
            queueing(A, B, observation=replace(STARVED, patience_s=900.0)), id="it may take longer"
        ),
        pytest.param(queueing(FLEX, B), id="it was chosen for its queue"),
        pytest.param(queueing(A), id="there is no other"),
    ],
)
def test_otherwise_it_is_waited_for(made):
    assert asked(decide(made.view(), NOW)) == []


def test_it_is_said_once_and_not_at_every_look():
    market = Market().refused(A, "out-of-stock", NOW - 5.0).refused(B, "out-of-stock", NOW - 5.0)
    decision = decide(queueing(A, B).run(market=market_text(market)).view(), NOW)
    assert asked(decision) == []
    assert decision.change is None or events(decision) == []


def said(made):
    return decide(made.view(), NOW).change.run.reason


def test_a_run_says_where_it_waits_since_when_and_what_follows():
    waits = f"nothing is free ({A.offer} since 02:46:10 UTC)"
    later = "; the next offer is asked for beside it after 02:47:10 UTC"
    assert said(queueing(A, B, for_s=30.0)) == waits + later
    assert said(queueing(A, for_s=30.0)) == waits
    flex = queueing(FLEX, B, for_s=30.0)
    assert said(flex) == f"nothing is free ({FLEX.offer} since 02:46:10 UTC)"


def test_a_run_says_what_is_asked_for_beside_a_queue():
    made = ViewOf().starting().rented(A, B).racing(A, B)
    made.one(0, {"created_at": NOW - 90.0}, observation=STARVED, nodes=(SILENT, SILENT))
    made.one(1, {"created_at": NOW - 30.0}, observation=MADE, nodes=(SILENT, SILENT))
    waits = f"nothing is free ({A.offer} since 02:45:10 UTC)"
    assert said(made) == f"{waits}; beside it {B.offer} since 02:46:10 UTC"


def test_as_many_are_asked_for_as_may_race():
    c = make_gang("us-west1-a", "spot", usd_per_h=40.0)
    assert asked(decide(queueing(A, B, c, race=2).view(), NOW)) == [B.offer, c.offer]


def test_on_demand_overtakes_spot_that_waits_when_the_deadline_is_near():
    made = queueing(A, B, ON_DEMAND, deadline_s=A.work_s)
    made.run(created_at=NOW - 10.0)
    assert asked(decide(made.view(), NOW)) == [ON_DEMAND.offer]


def test_a_move_is_not_held_up_by_a_queue():
    wishes = {"deadline_s": A.work_s, "measured": Measured(done_share=0.5)}
    made = ViewOf().running(winner="r-1-0").rented(A, ON_DEMAND, OTHER, **wishes)
    made.run(created_at=NOW + 2000.0 - 0.5 * A.work_s, code="moving")
    made.run(market=market_text(Market(moving=Moving(1, "because")))).spare(ON_DEMAND)
    long_ago = {"created_at": NOW - PATIENCE_S}
    made.one(1, long_ago, observation=STARVED, nodes=(SILENT, SILENT))
    assert asked(decide(made.view(), NOW)) == [OTHER.offer]
