"""Which offers may be asked for, and for how long those are blocked that were refused."""

from __future__ import annotations

import pytest

from offered import ON_DEMAND, A, B, C, make_gang
from windlass.controller.offers import (
    BLOCK_FIRST_S,
    BLOCK_MAX_S,
    Market,
    free,
    free_at,
    market_of,
    market_text,
)

NOW = 1000.0
ALL = (A, B, C)


def test_a_stockout_blocks_the_type_in_its_zone_for_a_while():
    market = Market().refused(A, "out-of-stock", NOW)
    assert free(ALL, market, NOW + 1) == [B, C]
    assert free(ALL, market, NOW + BLOCK_FIRST_S) == [A, B, C]


def test_the_block_doubles_each_time_and_is_capped():
    market, at = Market(), NOW
    waits = []
    for _ in range(8):
        market = market.refused(A, "out-of-stock", at)
        until = market.block_of(A, at).until
        waits.append(until - at)
        at = until
    assert waits == [60.0, 120.0, 240.0, 480.0, 960.0, 1800.0, 1800.0, 1800.0]


def test_machines_that_came_start_the_count_anew():
    market = Market().refused(A, "out-of-stock", NOW).refused(A, "out-of-stock", NOW + 60)
    market = market.got(A, NOW + 300).refused(A, "out-of-stock", NOW + 400)
    assert market.block_of(A, NOW + 400).until == NOW + 400 + BLOCK_FIRST_S


def test_quota_blocks_the_metric_in_the_region_for_the_rest_of_the_run():
    market = Market().refused(A, "quota-exceeded", NOW)
    assert free((A, B, C, ON_DEMAND), market, NOW + 1e9) == [C, ON_DEMAND]


def test_quota_without_a_known_metric_blocks_the_type_in_the_region():
    one, two = (make_gang(f"us-east1-{zone}", metric="") for zone in "ab")
    market = Market().refused(one, "quota-exceeded", NOW)
    assert free((one, two, C), market, NOW) == [C]


def test_another_refusal_blocks_only_that_offer_for_good():
    market = Market().refused(A, "machine-too-small", NOW)
    assert free((A, B, ON_DEMAND), market, NOW + 1e9) == [B, ON_DEMAND]


def test_what_is_out_on_demand_is_out_as_spot_and_not_the_other_way_round():
    market = Market().refused(ON_DEMAND, "out-of-stock", NOW)
    assert free((A, B, ON_DEMAND), market, NOW) == [B]
    market = Market().refused(A, "out-of-stock", NOW)
    assert free((A, B, ON_DEMAND), market, NOW) == [B, ON_DEMAND]


def test_a_reservation_and_on_demand_of_one_machine_are_two_offers():
    reserved = make_gang("us-east1-a", "reservation/mine")
    assert reserved.offer == ON_DEMAND.offer
    assert free((reserved, ON_DEMAND), Market(), NOW, but={(reserved.offer, reserved.buy)}) == [
        ON_DEMAND
    ]


def test_where_machines_were_taken_away_others_are_asked_first():
    market = Market().taken_away(A, NOW)
    assert free(ALL, market, NOW) == [B, C, A]
    assert free((A,), market, NOW) == [A]
    assert free((A,), market, NOW, is_choosy=True) == []


def test_a_clock_that_was_set_back_does_not_block_for_longer_than_any_block():
    market = Market().refused(A, "out-of-stock", NOW)
    assert market.block_of(A, NOW - 2 * BLOCK_MAX_S) is None


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        pytest.param({}, NOW, id="nothing is blocked"),
        pytest.param({A: "out-of-stock"}, NOW, id="another is free"),
        pytest.param({A: "out-of-stock", B: "out-of-stock", C: "quota-exceeded"}, NOW + 60.0),
        pytest.param({A: "quota-exceeded", C: "quota-exceeded"}, None, id="none ever"),
    ],
)
def test_it_is_known_when_the_first_may_be_asked_for_again(codes, expected):
    market = Market()
    for gang, code in codes.items():
        market = market.refused(gang, code, NOW)
    assert free_at(ALL, market, NOW) == expected


def test_what_was_learnt_is_kept_as_text():
    market = Market(asked=2, refused_at=5.0, is_warned=True)
    market = market.refused(A, "out-of-stock", NOW).refused(C, "quota-exceeded", NOW)
    market = market.got(B, NOW).taken_away(B, NOW + 3600)
    assert market_of(market_text(market)) == market
    assert market_text(Market()) == "{}"
    assert market_of("{}") == Market()


def test_zones_learn_of_spot_alone():
    market = Market().got(A, NOW).taken_away(A, NOW + 3600).refused(ON_DEMAND, "out-of-stock", NOW)
    assert set(market.zones) == {"us-east1-a"}
    seen = market.zones["us-east1-a"]
    assert (seen.is_up, seen.ups_ended, seen.up_h) == (False, 1, 1.0)
    assert market.refused_at == NOW
    assert market.got(ON_DEMAND, NOW).refused_at is None
