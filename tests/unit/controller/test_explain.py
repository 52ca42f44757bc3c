"""Explanations name the cause and a command that helps, in every phase."""

from __future__ import annotations

import pytest

from builders import make_attempt, make_claim, make_run
from windlass.controller.explain import explain
from windlass.controller.explanation import Facts, NodeFacts
from windlass.controller.report import Loss
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase, Wanted


def run(phase: RunPhase, **fields):
    return make_run("r-1", phase=phase, **{"created_at": 100.0, **fields})


def ended(outcome: Outcome, number: int = 1, **fields):
    return make_attempt(
        "r-1", number, phase=AttemptPhase.ENDED, outcome=outcome, ended_at=150.0, **fields
    )


def other(name: str, *, created_at: float, phase: RunPhase = RunPhase.STARTING, started=None):
    return make_run(name, created_at=created_at, phase=phase, started_at=started)


LOST = ended(Outcome.LOST, reason="node 1 was lost", code="node-lost")
WAITING = {"code": "waiting-for-engine", "reason": "8 GPUs of 8 are in use", "attempt": 1}

CASES = {
    "queued, not seen yet": (
        Facts(run=run(RunPhase.QUEUED), now=101.0),
        ["r-1 is queued.", "not looked at it yet"],
    ),
    "queued, no controller": (
        Facts(run=run(RunPhase.QUEUED), now=101.0, is_controller_alive=False),
        ["No controller is running"],
    ),
    "queued after a loss": (
        Facts(run=run(RunPhase.QUEUED, attempt=1), now=150.0, attempts=(LOST,)),
        ["about to be started again", "Attempt 1 ended: node 1 was lost."],
    ),
    "a secret that machines may not read": (
        Facts(
            run=run(RunPhase.FAILED, attempt=1, engine="compute"),
            now=150.0,
            attempts=(
                ended(
                    Outcome.USER_ERROR,
                    code="exit-1",
                    exit_status=1,
                    failed_node=0,
                    reason="the secret HF (projects/p/secrets/HF/versions/latest) cannot be read: "
                    "403 Permission denied. Allow the machines' account to: `gcloud x`",
                ),
            ),
        ),
        [
            "r-1 failed: the secret HF cannot be read.",
            "/HF/versions/latest: Permission denied.",
            "Allow the machines' account to: `gcloud x`. Then retry.",
            "windlass doctor --on compute --spec FILE",
        ],
    ),
    "an engine that cannot be asked": (
        Facts(
            run=run(RunPhase.STOPPING, attempt=1, outcome=Outcome.REJECTED, reason="no role"),
            now=150.0,
            claims=(
                make_claim(
                    "r-1", engine="compute", phase=ClaimPhase.CANCELLING, error="no list", handle=""
                ),
            ),
        ),
        [
            "r-1 is over, but compute cannot be asked whether machines of it are left.",
            "No list.",
            "Why it ended: no role.",
            "windlass doctor --on compute",
            "windlass stop r-1 --now",
        ],
    ),
    "backing off": (
        Facts(
            run=run(RunPhase.QUEUED, attempt=2, next_attempt_at=190.0, reason="node 1 was lost"),
            now=150.0,
            attempts=(LOST, ended(Outcome.LOST, 2, reason="node 0 was lost")),
        ),
        ["waits 40 s", "2 attempts ended before; the last: node 0 was lost."],
    ),
    "asking for on-demand beside spot": (
        Facts(
            run=run(RunPhase.RUNNING, attempt=1, code="moving", reason="losing spot would miss it"),
            now=150.0,
            claims=(
                make_claim("r-1", offer="a/m/spot"),
                make_claim("r-1", 2, offer="b/m/on-demand", refused="out-of-stock", error="none"),
            ),
        ),
        [
            "running on spot, and is to move to on-demand",
            "Losing spot would miss it.",
            "b/m/on-demand was refused (out-of-stock): none.",
        ],
    ),
    "moving": (
        Facts(
            run=run(RunPhase.QUEUED, attempt=1, code="moving", next_attempt_at=150.0),
            now=150.0,
            attempts=(ended(Outcome.MOVED, reason="left for on-demand in b"),),
        ),
        ["r-1 moves from spot to on-demand", "Attempt 1 ended: left for on-demand in b."],
    ),
    "nothing to rent": (
        Facts(
            run=run(
                RunPhase.QUEUED,
                attempt=1,
                next_attempt_at=190.0,
                code="out-of-stock",
                reason="none of 2 offers is to be had now (2 out-of-stock)",
            ),
            now=150.0,
            claims=tuple(
                make_claim("r-1", index=index, refused="out-of-stock", error="no stock", offer=zone)
                for index, zone in enumerate(("a/big/spot", "b/big/spot"))
            ),
        ),
        [
            "waits 40 s: there is nothing to rent",
            "None of 2 offers is to be had now",
            "b/big/spot was refused (out-of-stock): no stock. So were 1 more.",
            "where.regions",
        ],
    ),
    "no quota anywhere": (
        Facts(
            run=run(RunPhase.FAILED, attempt=1, code="quota-exceeded", reason="no quota"),
            now=200.0,
            attempts=(ended(Outcome.REJECTED, reason="no quota"),),
        ),
        ["will not take it", "No quota.", "more quota"],
    ),
    "the budget is used up": (
        Facts(
            run=run(RunPhase.STOPPED, code="budget", reason="its budget is used up: 5 of 5 USD"),
            now=200.0,
        ),
        ["stopped because its budget is used up", "limits.budget"],
    ),
    "work was lost": (
        Facts(
            run=run(RunPhase.RUNNING, attempt=3, restarts=2),
            now=200.0,
            losses=(Loss(attempt=1, steps=5, seconds=10.0), Loss(attempt=2, steps=1)),
        ),
        ["6 steps had to be done again (10 s of work): 5 after attempt 1, 1 after attempt 2."],
    ),
    "waiting for room": (
        Facts(
            run=run(RunPhase.STARTING, **WAITING),
            now=200.0,
            others=(
                other("big-1", created_at=1.0, phase=RunPhase.RUNNING, started=2.0),
                other("q-1", created_at=50.0),
                other("later", created_at=150.0),
            ),
        ),
        ["waits for room on local", "8 GPUs of 8", "held by big-1.", "q-1 waits before it"],
    ),
    "waiting in a queue of rented machines": (
        Facts(
            run=run(RunPhase.STARTING, **WAITING),
            now=200.0,
            claims=(make_claim("r-1", offer="a/v5e-16/spot"),),
            others=(other("big-1", created_at=1.0, phase=RunPhase.RUNNING, started=2.0),),
            early_lines=("w-r-1-1-0: WAITING_FOR_RESOURCES",),
        ),
        ["8 GPUs of 8", "The last that was said of it: w-r-1-1-0: WAITING_FOR_RESOURCES"],
    ),
    "many hold the machine": (
        Facts(
            run=run(RunPhase.STARTING, **WAITING),
            now=200.0,
            others=tuple(
                other(f"b-{n}", created_at=1.0, phase=RunPhase.RUNNING, started=2.0)
                for n in range(5)
            ),
        ),
        ["held by b-0, b-1, b-2 and 2 more."],
    ),
    "preparing": (
        Facts(
            run=run(RunPhase.STARTING, code="preparing", reason="running setup", attempt=1),
            now=101.0,
        ),
        ["being prepared: running setup", "windlass logs r-1 --setup"],
    ),
    "the engine refuses for now": (
        Facts(
            run=run(RunPhase.STARTING, attempt=1),
            now=101.0,
            claims=(make_claim("r-1", tries=3, error="no route to host"),),
        ),
        ["local has not taken r-1 yet", "After 3 tries it last said: no route to host"],
    ),
    "asked": (
        Facts(run=run(RunPhase.STARTING, attempt=1), now=101.0, claims=(make_claim("r-1"),)),
        ["local is being asked"],
    ),
    "nodes come up": (
        Facts(
            run=run(RunPhase.STARTING, attempt=1),
            now=101.0,
            claims=(make_claim("r-1", phase=ClaimPhase.SUBMITTED),),
            nodes=(NodeFacts(index=0, beat_age_s=1.0), NodeFacts(index=1)),
        ),
        ["r-1 is starting", "Not heard of yet: node 1."],
    ),
    "starting, and unheard": (
        Facts(
            run=run(RunPhase.STARTING, attempt=1),
            now=160.0,
            claims=(make_claim("r-1", phase=ClaimPhase.SUBMITTED),),
            early_lines=("the agent cannot be fetched",),
        ),
        ["No agent was heard from its machines", "the agent cannot be fetched"],
    ),
    "running": (
        Facts(
            run=run(RunPhase.RUNNING, attempt=2),
            now=200.0,
            attempts=(LOST, make_attempt("r-1", 2)),
            nodes=(NodeFacts(index=0, beat_age_s=40.0), NodeFacts(index=1, beat_age_s=1.0)),
        ),
        ["is running (attempt 2)", "Attempt 1 ended", "Node 0 has not been heard of for 40 s."],
    ),
    "stopping": (
        Facts(run=run(RunPhase.STOPPING, reason="stopped by the user"), now=200.0),
        ["is stopping", "Stopped by the user.", "windlass stop r-1 --now"],
    ),
    "stopping at once": (
        Facts(run=run(RunPhase.STOPPING, wanted=Wanted.KILL), now=200.0),
        ["is stopping", "windlass show r-1"],
    ),
    "done, with machines to give back": (
        Facts(run=run(RunPhase.STOPPING, outcome=Outcome.SUCCEEDED), now=200.0),
        ["r-1 has done its work; its machines are being given back."],
    ),
    "succeeded": (Facts(run=run(RunPhase.SUCCEEDED), now=200.0), ["r-1 succeeded."]),
    "stopped": (
        Facts(run=run(RunPhase.STOPPED, code="stopped-by-user"), now=200.0),
        ["stopped by you", "windlass retry r-1"],
    ),
    "time to live": (
        Facts(run=run(RunPhase.STOPPED, code="ttl"), now=200.0),
        ["time to live is over", "limits.ttl"],
    ),
    "a module is missing": (
        Facts(
            run=run(RunPhase.FAILED, attempt=1),
            now=200.0,
            attempts=(
                ended(
                    Outcome.USER_ERROR, exit_status=1, failed_node=1, failed_rank=3, code="exit-1"
                ),
            ),
            last_lines=("ModuleNotFoundError: No module named 'x'",),
        ),
        ["rank 3 on node 1: the Python module x", "pip install x", "logs r-1 --rank 3"],
    ),
    "setup failed": (
        Facts(
            run=run(RunPhase.FAILED, attempt=1),
            now=200.0,
            attempts=(ended(Outcome.USER_ERROR, exit_status=2, code="setup-failed"),),
        ),
        ["setup: `setup:` ended with exit status 2", "windlass logs r-1 --setup"],
    ),
    "lost too often": (
        Facts(
            run=run(RunPhase.FAILED, attempt=11, restarts=10),
            now=200.0,
            attempts=(ended(Outcome.LOST, 11, reason="node 0 was lost"),),
            restarts_max=10,
        ),
        ["lost again after 10 restarts", "`limits.restarts` allows 10.", "node 0 was lost"],
    ),
    "rejected before an attempt": (
        Facts(run=run(RunPhase.FAILED, reason="it needs 8 GPUs, there are none"), now=200.0),
        ["will not take it", "It needs 8 GPUs, there are none.", "--emulate"],
    ),
    "rejected by the engine": (
        Facts(
            run=run(RunPhase.FAILED, attempt=1),
            now=200.0,
            attempts=(ended(Outcome.REJECTED),),
            claims=(make_claim("r-1", error="bad partition"),),
        ),
        ["will not take it", "Bad partition."],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_explanation_says_why_and_what_to_do(name):
    facts, expected = CASES[name]
    found = explain(facts)
    text = "\n".join(
        [found.headline, *found.why, found.remedy, *found.evidence, *found.next_commands]
    )
    for part in expected:
        assert part in text
    assert found.next_commands
    assert found.headline.endswith(".")
    assert ".." not in text


def test_what_was_acknowledged_is_never_to_be_let_go():
    claim = make_claim("r-1", phase=ClaimPhase.CANCELLING, error="no list", handle="h")
    stopping = run(RunPhase.STOPPING, attempt=1, outcome=Outcome.STOPPED)
    assert "--now" not in str(explain(Facts(run=stopping, now=150.0, claims=(claim,))))


def test_no_other_run_holds_what_can_be_rented():
    facts, _ = CASES["waiting in a queue of rented machines"]
    found = explain(facts)
    assert facts.others and not any("held by" in line for line in found.why)
    assert found.evidence == (), "nothing has printed yet"
