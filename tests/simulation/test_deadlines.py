"""Deadlines that are met by leaving spot while it works, in worlds where only spot goes wrong."""

from __future__ import annotations

import pytest

import counts
from windlass.controller import moving
from windlass.simulation.scenario import simulate


@pytest.fixture(scope="module")
def seeds():
    """Few: two hours and more are simulated, second by second."""
    return range(max(2, counts.RENTED_SEEDS // 100))


def late_s(seed):
    """By how much the run was late; the promises of every world hold in these, too."""
    trace = simulate(seed, is_tight=True)
    assert trace.failures == []
    [late] = trace.late_s.values()
    return late, trace.moves


@pytest.mark.soak
def test_it_is_met_by_moving_in_time(seeds, record_property):
    found = [late_s(seed) for seed in seeds]
    record_property("seconds_to_spare", f"{-max(late for late, _ in found):.0f}")
    assert all(late < 0 for late, _ in found)
    assert {moves for _, moves in found} == {1}, "and not back and forth"


@pytest.mark.soak
def test_it_is_missed_by_staying_until_spot_is_lost(seeds, monkeypatch, record_property):
    monkeypatch.setattr(moving, "must_leave", lambda *_: None)
    found = [late_s(seed) for seed in seeds]
    missed = sum(late > 0 for late, _ in found)
    record_property("missed_without_moves", f"{missed} of {len(found)}")
    assert {moves for _, moves in found} == {0}
    assert missed == len(found)
