from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from markets import market, terms
from windlass.planner.buying.model import Decision, Place
from windlass.planner.buying.policy import decide
from windlass.planner.buying.study import baselines
from windlass.planner.buying.study.replay import replay, starts


def test_a_restart_is_paid_at_the_price_of_what_starts():
    calm = market("#" * 20)
    outcome = replay(calm, baselines.greedy, work=10, terms=terms(work=10, steps=20, restart=3))
    assert outcome.cost == pytest.approx(13 * 0.3)
    assert (outcome.is_met, outcome.ended, outcome.starts) == (True, 13, 1)


def test_a_restart_that_is_cut_short_begins_again():
    flappy = market("##.#################")
    outcome = replay(flappy, baselines.greedy, work=10, terms=terms(work=10, steps=20, restart=3))
    assert (outcome.starts, outcome.ended) == (2, 16)
    assert outcome.cost == pytest.approx((2 + 13) * 0.3)


def test_on_demand_only_pays_work_and_one_restart():
    gone = market("." * 20)
    outcome = replay(
        gone, baselines.on_demand_only, work=10, terms=terms(work=10, steps=20, restart=3)
    )
    assert (outcome.cost, outcome.on_demand, outcome.is_met) == (13.0, 13, True)


def test_greedy_waits_until_the_net():
    gone = market("." * 40)
    outcome = replay(gone, baselines.greedy, work=10, terms=terms(work=10, steps=40, restart=3))
    assert (outcome.is_met, outcome.ended, outcome.on_demand) == (True, 37, 13)


def test_uniform_progress_does_not_wait_that_long():
    gone = market("." * 30)
    told = terms(work=22, steps=30, restart=2)
    outcome = replay(gone, baselines.uniform_progress, work=22, terms=told)
    assert outcome.is_met
    assert outcome.ended < replay(gone, baselines.greedy, work=22, terms=told).ended


def test_hysteresis_keeps_on_demand_longer():
    signs = "...." + "#." * 60
    told = terms(work=80, steps=124, restart=2)
    plain = replay(market(signs), baselines.uniform_progress_plain, work=80, terms=told)
    kept = replay(market(signs), baselines.uniform_progress, work=80, terms=told)
    assert plain.is_met and kept.is_met
    assert kept.starts < plain.starts


def test_a_policy_that_names_a_zone_that_is_down_is_a_bug():
    def wrong(seen, told):
        return Decision(place=Place.SPOT, zone="zone-0", hold_h=1.0, promise=1.0, reason="")

    with pytest.raises(ValueError, match="zone-0 has no spot capacity at step 0"):
        replay(market("...."), wrong, work=1, terms=terms(work=1, steps=4, restart=1))


def test_a_run_that_never_works_misses_its_deadline():
    def lazy(seen, told):
        return Decision(place=Place.IDLE, zone="", hold_h=1.0, promise=0.0, reason="")

    outcome = replay(market("####"), lazy, work=1, terms=terms(work=1, steps=4, restart=1))
    assert (outcome.is_met, outcome.cost) == (False, 0.0)


def test_a_price_that_changes_is_paid_step_by_step():
    calm = market("#" * 12)
    calm.spot[0, 6:] = 0.5
    outcome = replay(calm, baselines.greedy, work=10, terms=terms(work=10, steps=12, restart=0))
    assert outcome.cost == pytest.approx(6 * 0.3 + 4 * 0.5)


def test_the_policy_sees_no_future():
    chance = np.random.default_rng(3)
    signs = ["#" if up else "." for up in np.repeat(chance.random(30) < 0.6, 10)]
    told = terms(work=150, steps=300, restart=3)
    heard = []

    def listening(seen, terms):
        heard.append(seen)
        return decide(seen, terms)

    replay(market("".join(signs)), listening, work=150, terms=told)
    first = list(heard)
    heard.clear()
    # All that changes lies after step 100; all that is said until then must be the same.
    replay(market("".join(signs[:100]) + "." * 200), listening, work=150, terms=told)
    early = [seen for seen in first if seen.time_h > 4.0]
    assert early == heard[: len(early)]


def test_starts_are_spread_evenly():
    assert starts(100, length=40, count=4) == [0, 20, 40, 60]
    assert starts(100, length=101, count=4) == []


def test_time_sliced_is_greedy_in_each_slice_and_carries_over_what_is_ahead():
    told = terms(work=60, steps=120, restart=1)
    calm = replay(market("#" * 120), baselines.time_sliced, work=60, terms=told)
    assert (calm.is_met, calm.on_demand, calm.starts) == (True, 0, 1)
    gone = replay(market("." * 120), baselines.time_sliced, work=60, terms=told)
    waits = replay(market("." * 120), baselines.greedy, work=60, terms=told)
    assert gone.is_met and waits.is_met
    # Each slice waits as long as it can, so that work is done in every slice and not at the end.
    assert gone.starts > waits.starts == 1


def test_machines_that_are_out_of_stock_do_not_come_and_what_is_held_is_kept():
    seen_then = []

    def asking(seen, told):
        seen_then.append(seen)
        return Decision(
            place=Place.ON_DEMAND,
            zone="zone-0",
            hold_h=1.0,
            promise=1.0,
            reason="",
            meanwhile="zone-0" if seen.holding.place is Place.IDLE else "",
        )

    out = replace(market("#" * 20), stock=np.array([False] * 4 + [True] * 16))
    outcome = replay(out, asking, work=10, terms=terms(work=10, steps=20, restart=1))
    assert (outcome.is_met, outcome.spot, outcome.starts) == (True, 4, 2)
    assert [seen.refused_h for seen in seen_then] == [None, 0.0, 0.0, 0.0, 0.0]
    # Asking on and on is asking once.
    assert [seen.asked for seen in seen_then] == [0, 1, 1, 1, 1]
    assert seen_then[1].holding.place is Place.SPOT
