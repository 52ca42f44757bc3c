"""Charges added up."""

from __future__ import annotations

import pytest

from builders import make_charge
from windlass.policy.totals import By, totals, usd_since

NLP = {"team": "nlp", "env": "dev"}
CHARGES = [
    make_charge("a", from_at=0.0, until_at=3600.0, **NLP),
    make_charge("a", index=1, from_at=0.0, until_at=360.0, is_extra=True, **NLP),
    make_charge("b", from_at=3600.0, owner="bob", **NLP),
    make_charge("c", from_at=3600.0, until_at=3610.0),
]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (By.TEAM, {"nlp": 75.6, "": 0.6}),
        (By.ENV, {"dev": 75.6, "": 0.6}),
        (By.OWNER, {"ada": 40.2, "bob": 36.0}),
        (By.RUN, {"a": 39.6, "b": 36.0, "c": 0.6}),
    ],
)
def test_charges_are_added_up_dearest_first(by, expected):
    found = totals(CHARGES, by=by, now=7200.0)
    assert [(total.key, pytest.approx(total.usd)) for total in found] == list(expected.items())


def test_a_total_says_what_races_cost_and_what_is_held_now():
    [team, _] = totals(CHARGES, by=By.TEAM, now=7200.0)
    assert (team.runs, team.usd_per_h) == (2, 36.0)
    assert team.race_usd == pytest.approx(3.6)
    assert team.hours == pytest.approx(2.1)


def test_only_what_was_spent_since_counts():
    charge = make_charge(from_at=0.0, until_at=3600.0)
    assert usd_since(charge, now=9999.0, since=1800.0) == pytest.approx(18.0)
    assert usd_since(charge, now=9999.0, since=-5.0) == pytest.approx(36.0)
    assert usd_since(charge, now=9999.0, since=3600.0) == 0.0
