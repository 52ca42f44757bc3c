from __future__ import annotations

from dataclasses import replace

import pytest

from builders import make_attempt, make_claim, make_event, make_run
from windlass.errors import InternalError, LeaseLost, PhaseIllegal, RunChanged
from windlass.state.fence import Stored, check_change, check_lease, check_requeue
from windlass.state.model import Change, Lease
from windlass.state.phases import AttemptPhase, ClaimPhase, RunPhase

HELD = Lease(holder="c1", epoch=5, expires_at=10.0)
STORED = Stored(
    version=3,
    phase=RunPhase.RUNNING,
    attempts={1: AttemptPhase.ENDED, 2: AttemptPhase.RUNNING},
    claims={"r-2-0": ("r", 2, ClaimPhase.SUBMITTED), "x-1-0": ("x", 1, ClaimPhase.ASKED)},
)
RUN = make_run(phase=RunPhase.RUNNING, version=3)


@pytest.mark.parametrize(
    ("current", "is_lost"),
    [
        pytest.param(HELD, False, id="the same"),
        pytest.param(replace(HELD, expires_at=99.0), False, id="renewed by another thread"),
        pytest.param(replace(HELD, epoch=6), True, id="taken again by the same holder"),
        pytest.param(replace(HELD, holder="c2", epoch=6), True, id="taken by another"),
        pytest.param(replace(HELD, holder="", expires_at=0.0), True, id="released"),
    ],
)
def test_a_lease_is_lost_when_it_changed_hands(current, is_lost):
    if not is_lost:
        check_lease(HELD, current)
        return
    with pytest.raises(LeaseLost, match="c1 held the lease in epoch 5"):
        check_lease(HELD, current)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(Change(run=RUN), id="nothing moves"),
        pytest.param(Change(run=replace(RUN, phase=RunPhase.STOPPING)), id="the run moves"),
        pytest.param(
            Change(
                run=RUN,
                attempts=(make_attempt(number=2, phase=AttemptPhase.ENDED), make_attempt(number=3)),
                claims=(make_claim(attempt=2, phase=ClaimPhase.GONE), make_claim(attempt=3)),
                events=(make_event(),),
            ),
            id="old rows move and new ones begin",
        ),
    ],
)
def test_a_change_of_what_was_read_is_allowed(change):
    check_change(change, STORED)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param(Change(run=replace(RUN, version=2)), RunChanged, id="stale"),
        pytest.param(Change(run=replace(RUN, phase=RunPhase.STARTING)), PhaseIllegal, id="run"),
        pytest.param(Change(run=RUN, attempts=(make_attempt(),)), PhaseIllegal, id="attempt"),
        pytest.param(Change(run=RUN, claims=(make_claim(attempt=2),)), PhaseIllegal, id="claim"),
        pytest.param(
            Change(run=RUN, attempts=(make_attempt("x"),)), InternalError, id="x's attempt"
        ),
        pytest.param(Change(run=RUN, claims=(make_claim("x"),)), InternalError, id="x's claim"),
        pytest.param(
            Change(run=RUN, claims=(make_claim(id="x-1-0"),)), InternalError, id="x's claim's id"
        ),
        pytest.param(Change(run=RUN, events=(make_event("x"),)), InternalError, id="x's event"),
    ],
)
def test_a_change_that_would_break_something_is_refused(change, error):
    with pytest.raises(error):
        check_change(change, STORED)


def test_a_change_of_a_removed_run_is_refused():
    with pytest.raises(RunChanged, match="removed"):
        check_change(Change(run=RUN), Stored(version=None, attempts={}, claims={}))


@pytest.mark.parametrize("phase", RunPhase)
def test_a_user_queues_again_only_what_failed_or_was_stopped(phase):
    if phase in (RunPhase.FAILED, RunPhase.STOPPED):
        check_requeue(phase)
        return
    with pytest.raises(PhaseIllegal):
        check_requeue(phase)
