"""Whoever waits for a result is told when it is known, not when the last machine has gone."""

from __future__ import annotations

import pytest

from builders import make_attempt, make_claim
from windlass.cli.watch import Watch
from windlass.controller.logs import Choice
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase

OFFER = "us-central1-a/g2-standard-4/spot"


def watched(seeded, *, outcome=Outcome.SUCCEEDED, offer=OFFER, is_patient=False):
    run = seeded.add(
        "r-1",
        age_s=60.0,
        attempts=(make_attempt("r-1", 1, phase=AttemptPhase.ENDED, ended_at=seeded.now - 5.0),),
        claims=(make_claim("r-1", phase=ClaimPhase.CANCELLING, handle="h", offer=offer),),
        phase=RunPhase.STOPPING,
        outcome=outcome,
        attempt=1,
    )
    return Watch(seeded.home, run, Choice(), is_patient=is_patient).look()


def test_a_result_is_known_before_rented_machines_are_gone(seeded):
    news = watched(seeded)
    assert (news.run.phase, news.is_last) == (RunPhase.SUCCEEDED, True)
    assert news.run.ended_at == seeded.now - 5.0


STILL_WAITS = {
    "whoever wants to see the machines go": {"is_patient": True},
    "nothing is rented, and so it is a matter of moments": {"offer": ""},
    "it was stopped: ranks may still save": {"outcome": Outcome.STOPPED},
    "it failed: it can be retried only when it has ended": {"outcome": Outcome.USER_ERROR},
}


@pytest.mark.parametrize("case", STILL_WAITS.values(), ids=STILL_WAITS)
def test_others_wait_for_the_end(seeded, case):
    news = watched(seeded, **case)
    assert (news.run.phase, news.is_last) == (RunPhase.STOPPING, False)
