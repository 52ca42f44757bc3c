"""The ends of machines that nobody looks after: the time of day, or so long after they came."""

from __future__ import annotations

from claims import make_claim_request
from windlass.engines.lifetime import WEEK_S, Lifetime, lifetime, waits_s

MADE_AT = 1000.0


def test_a_claim_ends_with_its_budget_and_with_its_runs_time_to_live():
    claim = make_claim_request(made_at=MADE_AT, expires_at=MADE_AT + 190, ends_at=MADE_AT + 7200)
    assert lifetime(claim, shortest_s=60) == Lifetime(MADE_AT + 7200, 190)
    assert waits_s(claim, shortest_s=60) == 7200


def test_without_an_end_of_the_run_the_claims_own_is_one():
    claim = make_claim_request(made_at=MADE_AT, expires_at=MADE_AT + 190)
    assert lifetime(claim, shortest_s=60) == Lifetime(MADE_AT + 190, 190)


def test_without_any_end_it_is_a_week():
    assert lifetime(make_claim_request(made_at=0.0), shortest_s=60) == Lifetime(WEEK_S, WEEK_S)


def test_machines_are_asked_for_as_long_as_their_engine_gives_them_at_least():
    claim = make_claim_request(made_at=MADE_AT, expires_at=MADE_AT + 5, ends_at=MADE_AT + 5)
    assert lifetime(claim, shortest_s=600) == Lifetime(MADE_AT + 5, 600)
