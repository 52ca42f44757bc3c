"""What holds for every plan, whatever the prices, hazards, quotas and order of rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counts
from plans import make_spec, packaged
from windlass.catalog.model import Offer
from windlass.planner.ask import Circumstances
from windlass.planner.candidates import Candidate
from windlass.planner.history import History, Seen
from windlass.planner.judge import Judge
from windlass.planner.plan import Plan, make_plan
from windlass.planner.quota import Quota
from windlass.spec.model import Spec

pytestmark = pytest.mark.soak

WORK = ("work: {params: 1e9, tokens: 1e9}", "work: {params: 7e9, tokens: 2e10}", "")
LIMITS = ("", "limits: {deadline: 60h}", "limits: {budget: 2000 USD}", "limits: {ttl: 90h}")
CHECKPOINTS = ("", "checkpoint: {to: gs://b/c}", "checkpoint: {to: gs://b/c, every: 20m}")
WHERE = (
    "",
    "where: {regions: [us-*]}",
    "where: {buy: [flex-start, spot, on-demand]}",
    "where: {buy: [reservation/mine, spot]}",
)
ACCELERATORS = ("H100:8", "A100-80:8, L4:8", "v5e-16", "T4:1, V100:8")


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    lines = [draw(st.sampled_from(some)) for some in (WORK, LIMITS, CHECKPOINTS, WHERE)]
    nodes = draw(st.sampled_from(("1", "2..5", "1..64")))
    return make_spec(*lines, accelerators=draw(st.sampled_from(ACCELERATORS)), nodes=nodes)


def some_offers(spec: Spec) -> list[Offer]:
    return packaged().offers(accelerators=spec.resources.accelerators)[::3]


def planned(spec: Spec, offers: list[Offer], **circumstances: object) -> Plan:
    return make_plan(spec, packaged().with_offers(offers), Circumstances(**circumstances))


def names(plan: Plan) -> list[tuple[str, int]]:
    return [(candidate.id, candidate.nodes) for candidate in plan.candidates]


def position(plan: Plan, offer: Offer) -> dict[tuple[str, int], int]:
    """Places in the ranking of one offer's candidates."""
    return {
        (candidate.id, candidate.nodes): place
        for place, candidate in enumerate(plan.candidates)
        if candidate.offer.id == offer.id
    }


once = settings(max_examples=counts.EXAMPLES // 4, deadline=None)


@once
@given(specs(), st.data(), st.floats(0.05, 0.999))
def test_a_lower_price_never_ranks_worse(spec, data, share):
    offers = some_offers(spec)
    number = data.draw(st.integers(0, len(offers) - 1))
    cheaper = list(offers)
    cheaper[number] = replace(offers[number], usd_per_h=offers[number].usd_per_h * share)
    before = position(planned(spec, offers), offers[number])
    after = position(planned(spec, cheaper), offers[number])
    assert before.keys() <= after.keys()
    if spec.limits.budget_usd is None:  # More of its own candidates may come in before it.
        assert all(after[key] <= place for key, place in before.items())


@once
@given(specs(), st.integers(0, 500), st.integers(1, 500))
def test_a_higher_hazard_never_makes_spot_cheaper(spec, preemptions, more):
    def spot(count: int) -> dict[tuple[str, int], Candidate]:
        chips = {offer.chip.name for offer in some_offers(spec)}
        seen = {(chip, "spot"): Seen(preemptions=count, node_hours=1000.0) for chip in chips}
        plan = planned(spec, some_offers(spec), history=History(seen=seen))
        return {(c.id, c.nodes): c for c in plan.candidates if c.way.kind == "spot"}

    calm, rough = spot(preemptions), spot(preemptions + more)
    assert rough.keys() <= calm.keys()
    for key, candidate in rough.items():
        assert candidate.usd >= calm[key].usd * (1 - 1e-9)
        assert candidate.estimate.wall_s >= calm[key].estimate.wall_s * (1 - 1e-9)


@once
@given(specs(), st.integers(0, 600), st.integers(0, 600))
def test_more_quota_never_removes_a_candidate(spec, free, more):
    offers = some_offers(spec)

    def with_free(units: int) -> set[tuple[str, int]]:
        metrics = {o.quota_metric: float(units) for o in offers if o.quota_metric}
        quota = Quota({offer.region: metrics for offer in offers})
        return set(names(planned(spec, offers, quota=quota)))

    assert with_free(free) <= with_free(free + more)


@once
@given(specs(), st.randoms(use_true_random=False))
def test_the_ranking_does_not_depend_on_the_order_of_rows(spec, chance):
    offers = some_offers(spec)
    shuffled = list(offers)
    chance.shuffle(shuffled)
    one, other = planned(spec, offers), planned(spec, shuffled)
    assert names(one) == names(other)
    assert [c.id for c in one.failover] == [c.id for c in other.failover]
    assert [(c.usd, c.estimate.wall_s) for c in one.front] == [
        (c.usd, c.estimate.wall_s) for c in other.front
    ]


@settings(max_examples=max(3, counts.EXAMPLES // 50), deadline=None)
@given(specs())
def test_every_offer_of_the_catalog_yields_candidates_or_exactly_one_refusal(spec):
    plan = make_plan(spec, packaged())
    every = list(packaged().all_offers())
    batches, refusals = Judge(plan.ask, packaged().other_prices).judge(every)
    taken = {offer.id for batch in batches for offer in batch.offers}
    refused = [refusal.offer.id for refusal in refusals]
    assert len(refused) == len(set(refused))
    assert taken.isdisjoint(refused)
    assert len(taken) + len(refused) == len(every)


@once
@given(specs())
def test_p90_is_never_below_p50_nor_limits_broken(spec):
    plan = planned(spec, some_offers(spec))
    for candidate in plan.candidates[:20]:
        estimate = candidate.estimate
        assert estimate.p50_s <= estimate.p90_s * (1 + 1e-9)
        assert candidate.usd_p50 <= candidate.usd_p90 * (1 + 1e-9)
        if spec.work is not None and spec.limits.deadline_s is not None:
            assert estimate.p90_s <= spec.limits.deadline_s * 1.001


@once
@given(specs())
def test_a_reservation_never_costs_more_than_buying_the_same(spec):
    where = replace(spec.where, buy=("on-demand", "reservation/mine"))
    plan = planned(replace(spec, where=where), some_offers(spec))
    usd = {(c.offer.id, c.nodes, c.way.kind): c.usd for c in plan.candidates}
    bought = [key for key in usd if key[2] == "on-demand"]
    assert all(usd[(*key[:2], "reservation")] <= usd[key] for key in bought)


@once
@given(specs())
def test_the_front_holds_what_no_other_beats(spec):
    plan = planned(spec, some_offers(spec))
    worths = [(c.usd, c.estimate.wall_s) for c in plan.candidates]
    front = {(c.usd, c.estimate.wall_s) for c in plan.front}
    for usd, wall_s in front:
        assert not any(u <= usd and w <= wall_s and (u, w) != (usd, wall_s) for u, w in worths)
    for usd, wall_s in worths:
        assert any(u <= usd and w <= wall_s for u, w in front)
