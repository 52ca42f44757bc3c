"""The real controller, agents and engines over a modelled twin, checked after every event."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import counts
import rigs
from windlass.simulation.scenario import Broken, simulate

GROUPS = 8
FAULTS_THAT_MUST_STRIKE = {
    "crash-after-call",
    "crash-after-submit",
    "crash-before-call",
    "hang-after-call",
    "hang-before-submit",
    "host-maintained",
    "laptop-closed",
    "late-claim",
    "lost-reply",
    "lost-request",
    "machine-call-lost",
    "machine-reply-lost",
    "no-quota",
    "nobody-there",
    "node-cut-off",
    "node-lost",
    "node-preempted",
    "outage",
    "refused-call",
    "stale-list",
    "stockout",
    "stockout-at-start",
    "taken-back-often",
}
EVENTS_THAT_MUST_HAPPEN = {
    "budget",
    "budget-warning",
    "engine-ambiguous",
    "engine-transient",
    "node-lost",
    "out-of-stock",
    "preempted",
    "queueing",
    "quota-exceeded",
    "race-capped",
    "race-lost",
    "ttl",
}
BROKEN = {
    "submit is not idempotent": (Broken(rig=rigs.forgetful), 76),
    "what was told to end is called gone": (Broken(rig=rigs.rash), 26),
    "machines have no end of their own": (Broken(rig=rigs.immortal), 1),
    "agents ignore the fence": (Broken(node=rigs.UnfencedNode), 18),
}
"""Each with a seed in which that was noticed when this was written: it is tried first."""
MOST_TRIED = 120


def regressions():
    lines = (Path(__file__).parent / "regressions_twinned.txt").read_text().splitlines()
    return [int(line.split("#")[0]) for line in lines if line.split("#")[0].strip()]


@pytest.mark.soak
@pytest.mark.parametrize("group", range(GROUPS))
def test_every_promise_holds_with_the_real_engines_over_the_twin(group, record_property):
    traces = [simulate(seed, is_twinned=True) for seed in range(group, counts.TWIN_SEEDS, GROUPS)]
    hours = sum(trace.simulated_s for trace in traces) / 3600
    record_property("twin_seeds", len(traces))
    record_property("simulated_hours", round(hours))
    assert {trace.seed: trace.failures for trace in traces if trace.failures} == {}
    again = traces[:: max(1, len(traces) // 3)]
    changed = [one.seed for one in again if simulate(one.seed, is_twinned=True).lines != one.lines]
    assert changed == [], "the same seed gives the same trace"
    if len(traces) >= 600:  # Fewer do not see all of it.
        struck, codes = Counter(), Counter()
        for trace in traces:
            struck.update(trace.faults)
            codes.update(line.split()[5].rstrip(":") for line in trace.lines if " at 18" in line)
        assert set(struck) >= FAULTS_THAT_MUST_STRIKE
        assert set(codes) >= EVENTS_THAT_MUST_HAPPEN


def test_seeds_that_once_failed_over_the_twin_hold():
    traces = [simulate(seed, is_twinned=True) for seed in regressions()]
    assert {trace.seed: trace.failures for trace in traces if trace.failures} == {}


def test_the_same_seed_gives_the_same_trace_over_the_twin_under_another_hash_seed():
    seeds = list(range(6))
    program = (
        "import json, sys\n"
        "from windlass.simulation.scenario import simulate\n"
        "seeds = json.loads(sys.argv[1])\n"
        "print(json.dumps([simulate(seed, is_twinned=True).lines for seed in seeds]))\n"
    )
    here = [simulate(seed, is_twinned=True).lines for seed in seeds]
    there = subprocess.run(
        [sys.executable, "-c", program, json.dumps(seeds)],
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(there.stdout) == here


@pytest.mark.parametrize("what", BROKEN)
def test_a_promise_that_an_engine_breaks_is_noticed(what):
    broken, first = BROKEN[what]
    for seed in (first, *range(MOST_TRIED)):
        failures = simulate(seed, is_twinned=True, broken=broken).failures
        if failures:
            break
    assert failures
    assert simulate(seed, is_twinned=True, broken=broken).failures == failures
    assert simulate(seed, is_twinned=True).failures == []
