from __future__ import annotations

from math import log

import pytest

from windlass.planner.buying.grid import between, moved, slack_points
from windlass.planner.buying.levels import Assumed
from windlass.planner.buying.table import FACTORS, factors_around, table_for


def table(*, factor=1.0, price=0.3, relief=0.0):
    return table_for(
        Assumed(
            restart_h=0.2,
            price=price,
            factor=factor,
            returns=1.0,
            relief=relief,
            relief_age=2,
            work_h=12.0,
            slack_h=6.0,
        )
    )


def test_costs_lie_between_spot_alone_and_on_demand_alone():
    for age_h in (0.0, 1.0, 9.0):
        costs = table().costs(work_h=10.0, slack_h=3.0, age_h=age_h)
        assert 0.3 * 10 < costs.stay < costs.enter < 10.4
        assert costs.stay < costs.keep <= costs.buy < 10.4


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"slack_h": 4.0}, {"slack_h": 1.0}),
        ({"age_h": 8.0}, {"age_h": 0.1}),
        ({"work_h": 5.0}, {"work_h": 6.0}),
    ],
)
def test_more_slack_an_older_spot_and_less_work_cost_less(better, worse):
    usual = {"work_h": 6.0, "slack_h": 2.0, "age_h": 1.0}
    costs = [table().costs(**{**usual, **case}) for case in (better, worse)]
    assert costs[0].enter < costs[1].enter
    assert costs[0].stay < costs[1].stay


def test_lively_zones_and_dear_spot_cost_more_and_other_zones_less():
    def enter(**assumed):
        return table(**assumed).costs(work_h=6.0, slack_h=2.0, age_h=1.0).enter

    assert enter(factor=3.3) > enter() > enter(factor=0.3)
    assert enter(price=0.6) > enter()
    assert enter(relief=0.96) < enter()


def test_waiting_pays_in_the_first_minutes_of_an_outage_only():
    young, old = (table().costs(work_h=6.0, slack_h=1.0, age_h=age) for age in (0.0, 20.0))
    assert young.wait_less_buy < 0 < old.wait_less_buy


def test_beyond_its_ends_a_table_answers_as_at_its_ends():
    end = table().costs(work_h=12.0, slack_h=6.0, age_h=25.6)
    assert table().costs(work_h=99.0, slack_h=99.0, age_h=99.0).stay == pytest.approx(
        end.stay, rel=0.02
    )
    assert table().costs(work_h=-1.0, slack_h=3.0, age_h=1.0).stay == 0.0


def test_factors_are_mixed_by_their_logarithms():
    assert factors_around(1.0) == [(1.0, 1.0)]
    assert factors_around(0.01) == [(FACTORS[0], 1.0)]
    (low, less), (high, more) = factors_around(1.3)
    assert (low, high, less + more) == (1.0, 1.8, 1.0)
    assert more == pytest.approx(log(1.3) / log(1.8))


def test_between_the_points_of_a_grid_values_are_mixed():
    points = (0.0, 1.0, 3.0)
    assert [between(points, wanted) for wanted in (-1, 0.25, 2.0, 9)] == [
        (0, 0.0),
        (0, 0.25),
        (1, 0.5),
        (1, 1.0),
    ]
    assert moved([5.0, 7.0, 1.0], [(0, 0.5), (1, 1.0)]) == [6.0, 1.0]


def test_slack_is_divided_finely_where_restarts_decide():
    points = slack_points(0.2, 40.0)
    assert points[1] == pytest.approx(0.05)
    assert points[-1] >= 40.0
    assert len(points) < 100
