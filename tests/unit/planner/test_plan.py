"""Plans over the catalog that comes with Windlass."""

from __future__ import annotations

import pytest

from plans import CHECKPOINT, WORK, make_spec, packaged
from windlass.planner.ask import Circumstances
from windlass.planner.estimate import Basis
from windlass.planner.history import History, Seen
from windlass.planner.plan import Plan, all_failover, asked_offers, grouped, make_plan
from windlass.planner.quota import Quota
from windlass.planner.ranking import Goal
from windlass.spec.model import Spec

METRIC = "PREEMPTIBLE_NVIDIA_H100_GPUS"


def plan(*lines: str, quota: dict | None = None, **fields: str) -> Plan:
    return make_plan(
        make_spec(*lines, **fields), packaged(), Circumstances(quota=Quota(quota or {}))
    )


def codes(found: Plan) -> dict[str, int]:
    return {code: count for code, count, _ in grouped(found)}


@pytest.mark.parametrize(
    ("accelerators", "offer", "usd"),
    [
        ("H100:8", "us-central1-a/a3-highgpu-8g/on-demand", 88.49),
        ("H100:8", "us-central1-a/a3-highgpu-8g/spot", 52.962),
        ("A100-80:1", "us-central1-a/a2-ultragpu-1g/on-demand", 5.0688),
        ("v6e-256", "us-east5-b/v6e-256/on-demand", 691.20),
    ],
)
def test_an_hour_of_machines_costs_the_list_price(accelerators, offer, usd):
    found = plan(CHECKPOINT, accelerators=accelerators)
    by_id = {candidate.id: candidate for candidate in found.candidates}
    assert by_id[offer].rates.machines_per_h == pytest.approx(usd, abs=0.001)
    assert found.basis is Basis.HOUR


def test_every_offer_is_a_candidate_or_refused_once():
    found = plan(WORK, CHECKPOINT, "where: {regions: [us-*]}", "limits: {deadline: 50h}")
    candidates = {candidate.offer.id for candidate in found.candidates}
    refused = [refusal.offer.id for refusal in found.refusals]
    asked = {offer.id for offer in asked_offers(found.ask.spec, packaged())}
    assert len(refused) == len(set(refused))
    assert candidates.isdisjoint(refused)
    assert candidates | set(refused) == asked
    assert all(refusal.sentence for refusal in found.refusals)


def test_the_cheapest_comes_first_and_with_only_a_budget_the_fastest():
    cheap = plan(WORK, CHECKPOINT, nodes="1..8")
    assert cheap.goal is Goal.DOLLARS
    dollars = [candidate.usd for candidate in cheap.candidates]
    assert dollars == sorted(dollars)
    fast = plan(WORK, CHECKPOINT, "limits: {budget: 3000 USD}", nodes="1..8")
    assert fast.goal is Goal.TIME
    times = [candidate.estimate.wall_s for candidate in fast.candidates]
    assert times == sorted(times)
    both = plan(WORK, CHECKPOINT, "limits: {budget: 30000 USD, deadline: 100h}")
    assert both.goal is Goal.DOLLARS


def test_limits_are_met_at_p90():
    found = plan(WORK, CHECKPOINT, "limits: {deadline: 30h, budget: 2500 USD}", nodes="1..16")
    assert found.candidates
    for candidate in found.candidates:
        assert candidate.estimate.p90_s <= 30 * 3600
        assert candidate.usd_p90 <= 2500
    assert {"deadline", "budget"} & set(codes(found))


def test_the_order_of_buy_breaks_ties():
    found = plan("where: {buy: [reservation/a, reservation/b], regions: [us-central1]}")
    swapped = plan("where: {buy: [reservation/b, reservation/a], regions: [us-central1]}")
    assert found.candidates[0].way.name == "reservation/a"
    assert swapped.candidates[0].way.name == "reservation/b"


def test_without_work_the_price_is_that_of_the_ttl():
    found = plan("limits: {ttl: 10h}")
    assert found.basis is Basis.TTL
    best = found.best
    assert best.usd == pytest.approx(
        10 * (best.rates.machines_per_h + best.rates.disk_per_h), rel=0.01
    )


def test_a_quota_refuses_what_needs_more_and_says_so():
    found = plan(CHECKPOINT, quota={"us-central1": {METRIC: 16}}, nodes="4")
    refusal = next(one for one in found.refusals if one.code == "quota")
    assert refusal.sentence == f"us-central1 has 16 of {METRIC} free; 32 are needed for 4 nodes"
    assert all(one.offer.region == "us-central1" for one in found.refusals if one.code == "quota")


def test_a_quota_leaves_fewer_nodes_alone():
    found = plan(CHECKPOINT, quota={"us-central1": {METRIC: 16}}, nodes="1..4")
    spot = [
        candidate.nodes
        for candidate in found.candidates
        if candidate.id == "us-central1-a/a3-highgpu-8g/spot"
    ]
    assert sorted(spot) == [1, 2]


def test_a_model_that_does_not_fit_is_refused_with_the_sum():
    found = plan("work: {params: 70e9, tokens: 1e9}", CHECKPOINT)
    assert not found.candidates
    said = {refusal.code: refusal.sentence for refusal in found.refusals}
    assert "GiB of states" in said["memory"]
    assert plan("work: {params: 70e9, tokens: 1e9}", CHECKPOINT, nodes="2").candidates


def test_without_a_checkpoint_a_long_run_on_spot_never_ends():
    found = plan("work: {params: 7e9, tokens: 5e11}", "where: {buy: [spot]}")
    assert set(codes(found)) == {"buy", "never-ends"}


def test_flex_start_gives_machines_for_seven_days():
    found = plan("work: {params: 7e9, tokens: 2e11}", CHECKPOINT, "where: {buy: [flex-start]}")
    assert codes(found)["too-long"] > 0
    assert "flex-start gives machines for 7d at most" in grouped(found)[0][2].sentence


def test_a_chip_without_a_published_peak_has_no_speed():
    assert "speed-unknown" in codes(plan("work: {params: 1e8, tokens: 1e9}", accelerators="P4:1"))


def test_no_candidate_of_the_front_is_beaten():
    found = plan(WORK, CHECKPOINT, nodes="1..32", accelerators="H100:8, A100-80:8, v5e-16")
    front = [(point.usd, point.estimate.wall_s) for point in found.front]
    assert len(front) > 3
    assert front == sorted(front)
    assert [time for _, time in front] == sorted((time for _, time in front), reverse=True)
    for candidate in found.candidates:
        assert any(
            usd <= candidate.usd and time <= candidate.estimate.wall_s for usd, time in front
        )


def test_places_to_try_start_with_the_best_and_spread():
    found = plan(WORK, CHECKPOINT, "where: {regions: [us-*]}")
    assert found.failover[0] == found.best
    assert len({place.id for place in found.failover}) == len(found.failover)
    first = found.failover[:4]
    assert len({place.offer.zone for place in first}) == 4
    assert len({place.offer.region for place in found.failover}) > 2


def test_where_zones_are_not_ours_to_choose_each_region_is_tried_once():
    buys = "where: {regions: [us-*], buy: [spot, reservation/block]}"
    spec = make_spec(WORK, CHECKPOINT, buys)
    found = all_failover(make_plan(spec, packaged(), Circumstances(is_managed=True)))
    spot = [(one.offer.region, one.lot.label) for one in found if one.way.name == "spot"]
    assert len(set(spot)) == len(spot) > 2
    reserved = [one.offer for one in found if one.way.is_prepaid]
    assert len({offer.region for offer in reserved}) < len({offer.zone for offer in reserved})


def test_ones_own_history_moves_the_ranking():
    spec: Spec = make_spec(WORK, CHECKPOINT, "where: {regions: [us-central1]}")
    stormy = History(seen={("H100", "spot"): Seen(preemptions=5000, node_hours=1000.0)})
    calm = make_plan(spec, packaged()).best
    rough = make_plan(spec, packaged(), Circumstances(history=stormy)).best
    assert calm.way.name == "spot"
    assert rough.way.name == "on-demand"


def test_a_slice_is_preempted_as_a_whole():
    found = plan(WORK, CHECKPOINT, accelerators="v5e-256")
    spot = next(candidate for candidate in found.candidates if candidate.way.name == "spot")
    assert spot.estimate.course.hazard_per_s == pytest.approx(0.06 / 3600)


def test_a_cpu_run_is_priced_by_its_ttl():
    from windlass.spec.load import parse_spec

    text = "name: a\nrun: b\nresources: {cpus: 8, memory: 30GiB}\nlimits: {ttl: 4h}\n"
    found = make_plan(parse_spec(text, path="x", folder=None), packaged())
    assert found.best.offer.machine.vcpus >= 8
    assert found.best.offer.chip is None
