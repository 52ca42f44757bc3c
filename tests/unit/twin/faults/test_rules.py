"""Which calls a rule strikes: by method, time, share and count; the same ones for the same seed."""

from __future__ import annotations

from random import Random

import pytest

from buckets import HandClock
from windlass.twin.cloud import Cloud
from windlass.twin.faults.rules import ON_THE_WAY_IN, FaultRule, FaultRules, Kind
from windlass.twin.journal import SqliteJournal


def rules_of(*rules: FaultRule, seed: int = 1, clock: HandClock | None = None) -> FaultRules:
    cloud = Cloud(clock=clock or HandClock(0.0), chance=Random(seed))
    found = FaultRules(cloud)
    for rule in rules:
        found.add(rule)
    return found


def strikes(rules: FaultRules, method: str = "compute.instances.get", count: int = 1) -> list[bool]:
    return [bool(rules.striking(method, ON_THE_WAY_IN)) for _ in range(count)]


@pytest.mark.parametrize(
    ("pattern", "method", "is_struck"),
    [
        ("*", "compute.instances.get", True),
        ("compute.instances.*", "compute.instances.get", True),
        ("compute.instances.get", "compute.instances.get", True),
        ("compute.instances.get", "compute.instances.list", False),
        ("storage.*", "compute.instances.get", False),
    ],
)
def test_a_rule_strikes_the_methods_that_fit_its_pattern(pattern, method, is_struck):
    assert strikes(rules_of(FaultRule(method=pattern)), method) == [is_struck]


def test_a_rule_strikes_no_more_than_its_count():
    assert strikes(rules_of(FaultRule(count=2)), count=4) == [True, True, False, False]


def test_a_rule_holds_for_its_time():
    clock = HandClock(0.0)
    rules = rules_of(FaultRule(since=10.0, until=20.0), clock=clock)
    found = []
    for clock.at in (9.0, 10.0, 19.0, 20.0):
        found += strikes(rules)
    assert found == [False, True, True, False]


def test_a_share_of_calls_is_struck_and_the_seed_says_which():
    first, again, other = (
        strikes(rules_of(FaultRule(share=0.3), seed=seed), count=500) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert 100 < sum(first) < 200


def test_other_rules_do_not_change_whom_a_rule_strikes():
    rule = FaultRule(method="compute.*", share=0.5)
    alone = strikes(rules_of(rule), count=50)
    both = rules_of(rule)
    both.add(FaultRule(method="storage.*", share=0.5))
    for index in range(50):
        both.striking("storage.objects.get", ON_THE_WAY_IN)
        assert strikes(both) == [alone[index]]


def test_kinds_are_asked_for_apart():
    rules = rules_of(FaultRule(kind=Kind.LOST_REPLY))
    assert strikes(rules) == [False]
    assert rules.striking("x", frozenset({Kind.LOST_REPLY}))


def test_rules_and_their_counts_outlive_a_restart(tmp_path):
    path = tmp_path / "state.db"
    cloud = Cloud(clock=HandClock(0.0), chance=Random(1), journal=SqliteJournal(path))
    rules = FaultRules(cloud)
    rules.add(FaultRule(count=2))
    strikes(rules)
    cloud.commit()
    again = Cloud(clock=HandClock(0.0), chance=Random(1), journal=SqliteJournal(path))
    found = FaultRules(again)
    assert (found.documents()[0]["struck"], strikes(found, count=2)) == (1, [True, False])


def test_cleared_rules_strike_nobody():
    rules = rules_of(FaultRule(), FaultRule())
    assert (rules.clear(), strikes(rules), bool(rules)) == (2, [False], False)
