"""Every dollar of a candidate."""

from __future__ import annotations

import pytest

from plans import CHECKPOINT, WORK, make_spec, packaged
from windlass.planner import explain
from windlass.planner.ask import Circumstances, Place
from windlass.planner.candidates import Candidate
from windlass.planner.egress import read_usd_per_gib
from windlass.planner.plan import make_plan
from windlass.spec.model import Spec

PRICES = packaged().other_prices
TEN_TIB = 10 * 1024.0


def candidate(spec: Spec, offer_id: str, **circumstances: object) -> Candidate:
    plan = make_plan(spec, packaged(), Circumstances(**circumstances))
    return next(found for found in plan.candidates if found.id == offer_id)


@pytest.mark.parametrize(
    ("location", "region", "usd"),
    [
        ("us-central1", "us-central1", 0.0),
        ("us-central1", "us-east4", 0.02),
        ("us", "us-central1", 0.02),
        ("us", "northamerica-northeast1", 0.02),
        ("nam4", "us-east1", 0.0),
        ("nam4", "us-west1", 0.02),
        ("eu", "europe-west4", 0.02),
        ("us-central1", "europe-west4", 0.05),
        ("us", "europe-west4", 0.05),
        ("asia-east1", "europe-west4", 0.08),
        ("southamerica-east1", "us-central1", 0.08),
        ("nowhere", "us-central1", None),
    ],
)
def test_reading_costs_what_the_way_costs(location, region, usd):
    assert read_usd_per_gib(location, region, PRICES) == usd


def test_ten_tib_from_a_multi_region_are_about_205_usd():
    spec = make_spec(WORK, "data: {train: gs://bucket/shards}")
    where = {"train": Place(location="us", gib=TEN_TIB)}
    found = candidate(spec, "us-central1-a/a3-highgpu-8g/on-demand", places=where)
    assert found.rates.reads == pytest.approx(204.8)
    assert found.unpriced == ()


def test_data_in_an_unknown_place_makes_the_total_a_lower_bound():
    spec = make_spec(WORK, "data: {train: gs://bucket/shards, mine: ./here}")
    found = candidate(spec, "us-central1-a/a3-highgpu-8g/on-demand")
    assert len(found.unpriced) == 1
    assert "gs://bucket/shards" in found.unpriced[0]


def test_terms_add_up():
    spec = make_spec(WORK, CHECKPOINT, nodes="4")
    for found in make_plan(spec, packaged()).candidates:
        assert sum(term.value for term in explain.dollars(found)) == pytest.approx(found.usd)
        times = sum(term.value for term in explain.seconds(found))
        assert times == pytest.approx(found.estimate.wall_s)
        assert all(term.how for term in explain.dollars(found))


def test_the_managed_services_fee_stays_on_the_on_demand_price():
    spec = make_spec("limits: {ttl: 1h}", "where: {buy: [flex-start, on-demand]}")
    flex, on_demand = (
        candidate(spec, f"us-central1-a/a3-highgpu-8g/{buy}", is_managed=True)
        for buy in ("flex-start", "on-demand")
    )
    assert flex.rates.fee_per_h == pytest.approx(0.15 * 88.48999)
    assert flex.rates.machines_per_h + flex.rates.fee_per_h == pytest.approx(51.5, rel=0.003)
    assert on_demand.rates.fee_per_h == flex.rates.fee_per_h


@pytest.mark.parametrize(("years", "share"), [(1, 0.63), (3, 0.45)])
def test_a_commitment_discounts_only_what_is_on_demand(years, share):
    spec = make_spec(CHECKPOINT, "where: {buy: [spot, on-demand, reservation/r]}")
    for buy, factor in (("on-demand", share), ("spot", 1.0), ("reservation/r", 1.0)):
        offer_id = f"us-central1-a/a3-highgpu-8g/{buy}"
        plain = candidate(spec, offer_id)
        committed = candidate(spec, offer_id, commitment_years=years)
        assert committed.unit_usd_per_h == pytest.approx(plain.unit_usd_per_h * factor)


def test_what_is_reserved_is_billed_anyway_and_not_counted():
    spec = make_spec(WORK, CHECKPOINT, "where: {buy: [on-demand, reservation/r]}", nodes="2")
    bought, reserved = (
        candidate(spec, f"us-central1-a/a3-highgpu-8g/{buy}")
        for buy in ("on-demand", "reservation/r")
    )
    assert reserved.rates.machines_per_h == 0
    assert reserved.rates.reserved_per_h == bought.rates.machines_per_h
    assert reserved.usd < 0.01 * bought.usd
    assert reserved.reserved_usd == pytest.approx(bought.usd, rel=0.01)
    assert bought.reserved_usd == 0
    first = explain.dollars(reserved)[0]
    assert (first.name, first.value) == (explain.RESERVED, 0.0)
    assert "not counted" in first.how


def test_a_budget_is_for_what_is_not_billed_anyway():
    limits = "limits: {budget: 50 USD}"
    spec = make_spec(WORK, limits, "where: {buy: [on-demand, reservation/r]}")
    found = make_plan(spec, packaged()).candidates
    assert {one.way.name for one in found} == {"reservation/r"}


def test_checkpoints_elsewhere_are_not_priced():
    spec = make_spec(WORK, "checkpoint: {to: s3://bucket/x}")
    found = candidate(spec, "us-central1-a/a3-highgpu-8g/on-demand")
    assert found.unpriced == ("checkpoints in s3://bucket/x",)
    assert found.rates.storage_per_h == 0


def test_keeping_checkpoints_costs_their_size():
    spec = make_spec(WORK, "checkpoint: {to: gs://b/x, keep: 5}")
    found = candidate(spec, "us-central1-a/a3-highgpu-8g/on-demand")
    gib = 7e9 * 14 / 2**30
    assert found.rates.storage_per_h == pytest.approx(5 * gib * 0.02 / 730)


def test_disks_and_addresses_are_counted_by_host():
    spec = make_spec("limits: {ttl: 1h}", accelerators="v5e-256")
    found = candidate(spec, "us-central1-a/v5e-256/on-demand")
    hosts = found.estimate.gang.hosts
    assert hosts > 32
    assert found.rates.disk_per_h == pytest.approx(hosts * 100 * 0.1 / 730)
    assert found.rates.nat_per_h == pytest.approx(0.0448)  # Google's cap.
