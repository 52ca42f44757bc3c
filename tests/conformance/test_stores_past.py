"""What a store tells of the past, over every store: promises 18 and 19.

Must not know which store it runs over.
"""

from __future__ import annotations

from typing import Any

import pytest

from builders import make_attempt, make_claim
from conformance.stores import add, take
from windlass.state.model import Change
from windlass.state.past import Held, Pace
from windlass.state.phases import AttemptPhase, Outcome
from windlass.state.store import Store

OFFER = "us-central1-a/a3-highgpu-8g/spot"


def remember(
    store: Store, run_id: str, *attempts: dict[str, Any], run: dict[str, Any] | None = None, **claim
) -> None:
    """A run whose attempts, each with one claim, have gone like this."""
    added = add(store, run_id, **(run or {}))
    rows = []
    for number, fields in enumerate(attempts, 1):
        winner = f"{run_id}-{number}-0"
        phase = {"phase": AttemptPhase.ENDED, "winner": winner}
        rows.append(make_attempt(run_id, number, **{**phase, **fields}))
    claims = [make_claim(run_id, number, **claim) for number in range(1, len(attempts) + 1)]
    lease = take(store)
    store.write(lease, Change(run=added, attempts=tuple(rows), claims=tuple(claims)))
    store.release_lease(lease)


SPOT = {"offer": OFFER, "buy": "spot", "accelerators": "H100:8", "nodes": 4}
LOST = {"started_at": 0.0, "ended_at": 7200.0, "outcome": Outcome.LOST}
TAKEN = {"started_at": 7300.0, "ended_at": 10_900.0, "outcome": Outcome.PREEMPTED}
DONE = {"started_at": 11_000.0, "ended_at": 14_600.0, "outcome": Outcome.SUCCEEDED}


def test_18_hours_and_losses_are_added_up_by_kind(store):
    remember(store, "a", LOST, TAKEN, DONE, **SPOT)
    remember(store, "b", TAKEN, **SPOT)
    remember(store, "c", DONE, **{**SPOT, "buy": "on-demand"})
    assert store.held(now=20_000.0) == [
        Held("H100:8", "on-demand", 4, 0, 3600.0),
        Held("H100:8", "spot", 4, 3, 18_000.0),
    ]


def test_18_an_attempt_that_still_runs_counts_up_to_now(store):
    running = {"phase": AttemptPhase.RUNNING, "started_at": 1000.0}
    remember(store, "a", running, **SPOT)
    assert store.held(now=4600.0) == [Held("H100:8", "spot", 4, 0, 3600.0)]
    assert store.held(now=0.0) == [Held("H100:8", "spot", 4, 0, 0.0)]


@pytest.mark.parametrize(
    ("attempt", "claim"),
    [
        pytest.param(TAKEN, {"offer": ""}, id="nothing was rented"),
        pytest.param({**LOST, "started_at": None}, {}, id="it never started"),
        pytest.param({**LOST, "winner": "another"}, {}, id="another claim has won"),
    ],
)
def test_18_what_says_nothing_of_a_hazard_is_left_out(store, attempt, claim):
    remember(store, "a", attempt, **{**SPOT, **claim})
    assert store.held(now=20_000.0) == []


def test_19_steps_of_runs_of_the_name_come_newest_first(store):
    on = {"accelerators": "H100:8", "nodes": 2}
    remember(store, "old", {"step_s": 2.0}, run={"name": "llm", "created_at": 1.0}, **on)
    newer = {"name": "llm", "created_at": 2.0, "spec": '{"a":1}'}
    remember(store, "new", {"step_s": 1.5}, {}, {"step_s": 1.0}, run=newer, **on)
    remember(store, "other", {"step_s": 9.0}, run={"name": "cnn"}, **on)
    remember(store, "cpu", {"step_s": 9.0}, run={"name": "llm"}, nodes=1)
    assert store.paces("llm") == [
        Pace('{"a":1}', "H100:8", 2, 1.0),
        Pace('{"a":1}', "H100:8", 2, 1.5),
        Pace("{}", "H100:8", 2, 2.0),
    ]
    assert store.paces("nobody's") == []


def test_18_and_19_tell_of_one_cloud_where_that_is_asked_for(store):
    for cloud, losses in (("google", 1), ("twin:/t", 2), ("", 3)):
        for number in range(losses):
            run = {"name": "llm", "cloud": cloud}
            remember(store, f"r{losses}{number}", {**LOST, "step_s": losses}, run=run, **SPOT)

    def known(cloud):
        return sum(one.losses for one in store.held(now=20_000.0, cloud=cloud))

    assert [known(cloud) for cloud in ("", "google", "twin:/t", "twin:/u")] == [6, 4, 5, 3]
    assert len(store.paces("llm")) == 6
    assert {one.step_s for one in store.paces("llm", cloud="google")} == {1.0, 3.0}
