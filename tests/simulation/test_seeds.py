"""The real controller and the real agent protocol over seeded worlds, checked after every event."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import counts
from rigs import UnfencedNode, UnheldNode
from windlass.policy.budget import SAVE_S
from windlass.policy.meter import HOUR_S, TICK_S
from windlass.simulation.scenario import Broken, simulate

GROUPS = 12
MOVING_SEEDS = (19, 27, 41, 55)
"""Rented worlds in which a run leaves spot that works."""
IS_SOAK = counts.SEEDS >= 1000
LOOK_S = 1.0
"""How often a run is looked at: a stop begins that much early or late."""


def seeds_of(name):
    lines = (Path(__file__).parent / name).read_text().splitlines()
    return [int(line.split("#")[0]) for line in lines if line.split("#")[0].strip()]


REGRESSIONS = seeds_of("regressions.txt")
RENTED_REGRESSIONS = seeds_of("regressions_rented.txt")
FAULTS_THAT_MUST_STRIKE = {
    "lost-request",
    "lost-reply",
    "stale-list",
    "late-claim",
    "boot-after-cancel",
    "lost-cancel",
    "crash-after-write",
    "crash-before-submit",
    "crash-after-submit",
    "hang-before-submit",
    "hang-after-write",
    "node-lost",
    "node-preempted",
    "node-cut-off",
    "clock-jump",
}

REFUSALS_THAT_MUST_STRIKE = {
    "stockout",
    "stockout-at-start",
    "stock-refused",
    "no-quota",
    "quota-refused",
    "late-refusal",
    "late-claim",
    "expired",
}
EVENTS_THAT_MUST_HAPPEN = {
    "out-of-stock",
    "quota-exceeded",
    "race-lost",
    "race-capped",
    "budget-warning",
    "budget",
    "ttl",
    "moving",
    "moved",
}


def failing(seeds, broken):
    """The seeds that end badly, with what they say: all of them in a soak, else the first."""
    bad = {}
    for seed in seeds:
        failures = simulate(seed, broken=broken).failures
        if failures:
            bad[seed] = failures
            if not IS_SOAK:
                break
    return bad


def changed(traces, **world):
    """The seeds whose trace is another when they are played again, of some of them."""
    again = traces[:: max(1, len(traces) // (100 if IS_SOAK else 4))]
    return [one.seed for one in again if simulate(one.seed, **world).lines != one.lines]


@pytest.mark.soak
@pytest.mark.parametrize("group", range(GROUPS))
def test_every_promise_holds_whatever_goes_wrong(group, record_property):
    seeds = range(group, counts.SEEDS, GROUPS)
    traces = [simulate(seed) for seed in seeds]
    hours = sum(trace.simulated_s for trace in traces) / 3600
    record_property("seeds", len(traces))
    record_property("simulated_hours", round(hours))
    assert {trace.seed: trace.failures for trace in traces if trace.failures} == {}
    assert changed(traces) == [], "the same seed gives the same trace"


@pytest.mark.soak
@pytest.mark.parametrize("group", range(GROUPS))
def test_every_promise_holds_where_machines_cost_money_and_run_out(group, record_property):
    seeds = range(group, counts.RENTED_SEEDS, GROUPS)
    traces = [simulate(seed, is_rented=True) for seed in seeds]
    record_property("rented_seeds", len(traces))
    assert {trace.seed: trace.failures for trace in traces if trace.failures} == {}
    assert changed(traces, is_rented=True) == [], "the same seed gives the same trace"


@pytest.mark.parametrize("seed", REGRESSIONS)
def test_a_seed_that_once_failed_holds(seed):
    assert simulate(seed).failures == []


@pytest.mark.parametrize("seed", RENTED_REGRESSIONS)
def test_a_seed_that_once_failed_where_machines_are_rented_holds(seed):
    assert simulate(seed, is_rented=True).failures == []


@pytest.mark.soak
def test_the_same_seed_gives_the_same_trace_under_another_hash_seed():
    seeds = list(range(0, counts.SEEDS, max(1, counts.SEEDS // 15)))
    program = (
        "import json, sys\n"
        "from windlass.simulation.scenario import simulate\n"
        "print(json.dumps([simulate(seed).lines for seed in json.loads(sys.argv[1])]))\n"
    )
    here = [simulate(seed).lines for seed in seeds]
    there = subprocess.run(
        [sys.executable, "-c", program, json.dumps(seeds)],
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(there.stdout) == here


def test_every_kind_of_fault_really_happens():
    struck = Counter()
    for seed in range(60):
        struck.update(simulate(seed).faults)
        if set(struck) >= FAULTS_THAT_MUST_STRIKE:
            break
    assert set(struck) >= FAULTS_THAT_MUST_STRIKE


def test_a_budget_is_used_but_for_one_save_and_not_overspent_by_more_than_a_tick():
    traces = [simulate(seed, is_rented=True, is_calm=True) for seed in range(60)]
    assert [trace.failures for trace in traces if trace.failures] == []
    stopped = [
        bill
        for trace in traces
        for bill in trace.bills.values()
        if bill.code == "budget" and bill.usd
    ]
    assert len(stopped) > 3
    for bill in stopped:
        least = bill.budget_usd - bill.usd_per_h * (SAVE_S + LOOK_S) / HOUR_S - bill.kept_usd
        most = bill.budget_usd + bill.usd_per_h * TICK_S / HOUR_S
        assert least <= bill.usd <= most, bill


def test_every_kind_of_refusal_really_happens():
    struck, codes = Counter(), Counter()
    for seed in range(60):
        trace = simulate(seed, is_rented=True)
        struck.update(trace.faults)
        codes.update(line.split()[5].rstrip(":") for line in trace.lines if " at 18" in line)
        if set(struck) >= REFUSALS_THAT_MUST_STRIKE and set(codes) >= EVENTS_THAT_MUST_HAPPEN:
            break
    assert set(struck) >= REFUSALS_THAT_MUST_STRIKE
    assert set(codes) >= EVENTS_THAT_MUST_HAPPEN


@pytest.mark.soak
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(Broken(is_submit_repeatable=True), id="submit is not idempotent"),
        pytest.param(Broken(is_store_unfenced=True), id="writes are not fenced"),
        pytest.param(Broken(node=UnfencedNode), id="agents ignore the fence"),
    ],
)
def test_a_broken_promise_is_noticed(broken, record_property):
    seeds = range(max(60, counts.SEEDS // 20))
    bad = failing(seeds, broken)
    if IS_SOAK:
        record_property("failing_seeds", f"{len(bad)} of {len(seeds)}")
    assert bad
    first = next(iter(bad))
    assert simulate(first, broken=broken).failures == bad[first], "a failing seed replays exactly"


def test_machines_that_do_not_wait_for_their_turn_are_noticed():
    broken = Broken(node=UnheldNode)
    traces = (simulate(seed, broken=broken, is_rented=True) for seed in MOVING_SEEDS)
    assert any("two live gangs" in said for trace in traces for said in trace.failures)


def test_a_race_without_a_fence_is_noticed():
    broken = Broken(node=UnfencedNode)
    traces = (simulate(seed, broken=broken, is_rented=True) for seed in range(30))
    assert any("two live gangs" in said for trace in traces for said in trace.failures)
