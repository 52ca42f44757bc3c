from __future__ import annotations

import itertools

import pytest

from windlass.errors import PhaseIllegal
from windlass.state import phases
from windlass.state.phases import AttemptPhase, ClaimPhase, RunPhase

TABLES = {
    "run": (RunPhase, phases.RUN_MOVES, phases.check_run_move),
    "attempt": (AttemptPhase, phases.ATTEMPT_MOVES, phases.check_attempt_move),
    "claim": (ClaimPhase, phases.CLAIM_MOVES, phases.check_claim_move),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_move_is_legal_exactly_when_the_table_has_it_or_nothing_moves(name):
    kind, moves, check = TABLES[name]
    for before, after in itertools.product(kind, kind):
        if before is after or after in moves[before]:
            check(before, after)
        else:
            with pytest.raises(PhaseIllegal, match=f"{name} cannot go from {before} to {after}"):
                check(before, after)


@pytest.mark.parametrize("name", TABLES)
def test_every_phase_is_in_the_table_and_can_be_reached_and_left_or_is_an_end(name):
    kind, moves, _ = TABLES[name]
    assert set(moves) == set(kind)
    first = next(iter(kind))
    reached, ahead = {first}, [first]
    while ahead:
        fresh = moves[ahead.pop()] - reached
        reached |= fresh
        ahead += fresh
    assert reached == set(kind)


def test_a_run_that_has_ended_moves_only_by_being_queued_again():
    for phase in RunPhase:
        if phases.is_ended(phase):
            assert phases.RUN_MOVES[phase] <= {RunPhase.QUEUED}
    assert phases.RUN_MOVES[RunPhase.SUCCEEDED] == frozenset()


def test_attempts_and_claims_only_move_forward():
    for kind, moves, _ in (TABLES["attempt"], TABLES["claim"]):
        order = list(kind)
        for before, afters in moves.items():
            assert all(order.index(after) > order.index(before) for after in afters)
