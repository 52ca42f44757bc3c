"""ps, show, logs, events and explain over rows and run folders that were written by hand."""

from __future__ import annotations

import pytest

from builders import make_attempt, make_claim
from folders import stamped
from windlass.assemble import Home
from windlass.errors import CredentialsMissing
from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase


def ended(run_id, outcome, number=1, **fields):
    return make_attempt(run_id, number, phase=AttemptPhase.ENDED, outcome=outcome, **fields)


@pytest.fixture
def failed(seeded):
    """A run that lost a node, went on, and then failed."""
    now = seeded.now
    attempts = (
        ended(
            "train-7",
            Outcome.LOST,
            created_at=now - 3000,
            started_at=now - 3000,
            ended_at=now - 2000,
            code="node-lost",
            reason="node 1 was lost",
        ),
        ended(
            "train-7",
            Outcome.USER_ERROR,
            2,
            created_at=now - 2000,
            started_at=now - 2000,
            ended_at=now - 1000,
            code="exit-1",
            reason="rank 1 on node 1 exited with status 1",
            exit_status=1,
            failed_node=1,
            failed_rank=1,
        ),
    )
    run = seeded.add(
        "train-7",
        name="trän 7",
        age_s=3600,
        steps=100,
        phase=RunPhase.FAILED,
        outcome=Outcome.USER_ERROR,
        attempt=2,
        restarts=1,
        started_at=now - 3000,
        ended_at=now - 1000,
        code="exit-1",
        reason="rank 1 on node 1 exited with status 1",
        attempts=attempts,
        claims=(make_claim("train-7", 2, id="c2", phase=ClaimPhase.GONE, handle="local:1"),),
    )
    folder = seeded.folder("train-7")
    for attempt in (1, 2):
        folder.win(attempt, nodes=2)
    folder.log(stamped(1, "first"), attempt=1)
    folder.log(stamped(5, "second"), attempt=2)
    folder.log(stamped(0, "pip install"), attempt=2, rank=None)
    folder.log(
        stamped(4, "Traceback") + stamped(6, "ModuleNotFoundError: No module named 'flax'"),
        attempt=2,
        node=1,
        rank=1,
    )
    folder.progress(
        *({"step": step, "time": now - 3000 + step * 10, "loss": 5 / step} for step in range(1, 41))
    )
    folder.progress(
        {"event": "restored", "step": 30},
        *({"step": step, "time": now - 2000 + step, "loss": 0.5} for step in range(31, 61)),
        attempt=2,
    )
    folder.beat(now - 1000, attempt=2)
    folder.put("attempts/2/c2/nodes/1/exit.json", {"outcome": "user-error", "time": now - 1000})
    folder.put("checkpoints/30/manifest.json", {})
    return run


def test_ps_shows_live_runs_and_all_of_them_when_asked(windlass, seeded, failed):
    assert windlass("ps").err == (
        "No live runs. `windlass ps --all` also lists those that have ended.\n"
    )
    seeded.add("wait-1", age_s=7200, phase=RunPhase.QUEUED, reason="waiting for the controller")
    assert windlass("ps").out == (
        "ID      NAME    PHASE     AGE  TIME  RESTARTS  PROGRESS  REASON\n"
        "wait-1  wait-1  queued  2h00m     -         0  -         waiting for the controller\n"
    )
    assert windlass("ps", "--all").out == (
        "ID       NAME    PHASE     AGE    TIME  RESTARTS  PROGRESS    REASON\n"
        "train-7  trän 7  failed  1h00m  33m20s         1  60/100 60%  "
        "rank 1 on node 1 exited with status 1\n"
        "wait-1   wait-1  queued  2h00m       -         0  -           waiting for the controller\n"
    )
    limited = windlass("ps", "-a", "-n", "1")
    assert len(limited.out.splitlines()) == 2
    assert "ps -n 2" in limited.err


def test_ps_of_an_empty_home_says_how_to_begin(windlass):
    assert "windlass run SPEC" in windlass("ps").err
    assert windlass("ps", "--json").document == []


def test_ps_json_has_stable_keys(windlass, failed):
    (document,) = windlass("ps", "-a", "--json").document
    assert document["id"] == "train-7"
    assert document["name"] == "trän 7"
    assert document["phase"] == "failed"
    assert document["created_at"].endswith("Z")
    assert document["progress"]["step"] == 60
    assert document["steps_total"] == 100
    assert set(document) == {
        *("id name phase wanted engine owner attempt restarts created_at started_at".split()),
        *("ended_at expires_at outcome code reason emulate progress steps_total usd".split()),
    }


def test_show_tells_everything(windlass, failed):
    text = windlass("show", "train-7").out
    for part in (
        "train-7  failed  rank 1 on node 1 exited with status 1\n",
        "  name       trän 7\n",
        "(1h00m ago)",
        "(ran for 33m20s)",
        "  run        python train.py\n",
        "  #  OUTCOME     EXIT  NODE/RANK    TIME  REASON\n",
        "  1  lost           -  -          16m40s  node 1 was lost\n",
        "  2  user-error     1  1/1        16m40s  rank 1 on node 1 exited with status 1\n",
        "  0     10.0.0.0:29400  running     16m40s ago\n",
        "  1     -               user-error  16m40s ago\n",
        "  steps      60 of 100, ",
        "  work lost  10 steps, 1m40s (10 in attempt 1)\n",
        "  goodput    ",
        "  kept       checkpoints of step 30\n",
    ):
        assert part in text, part


def test_show_json_holds_the_same(windlass, failed):
    document = windlass("show", "train", "--json").document
    assert [attempt["outcome"] for attempt in document["attempts"]] == ["lost", "user-error"]
    assert document["claims"][0]["handle"] == "local:1"
    assert document["spec"]["run"] == "python train.py"
    assert document["checkpoints"] == [30]
    assert document["report"]["steps_lost"] == 10
    assert [node["has_ended"] for node in document["nodes"]] == [False, True]


def test_explain_names_the_cause(windlass, failed):
    assert windlass("explain", "train-7").out == (
        "train-7 failed: rank 1 on node 1: the Python module flax is not installed.\n"
        "  Attempt 1 ended: node 1 was lost.\n"
        "\n"
        "The last lines it printed:\n"
        "  │ Traceback\n"
        "  │ ModuleNotFoundError: No module named 'flax'\n"
        "\n"
        "What to do: Install it in `setup:` (for instance `pip install flax`), or name the Python "
        "of your environment in `run:`.\n"
        "\n"
        "Next:\n"
        "  windlass logs train-7 --rank 1 --tail 100\n"
        "  windlass retry train-7\n"
    )
    document = windlass("explain", "train-7", "--json").document
    assert document["headline"].startswith("train-7 failed")
    assert document["run"]["id"] == "train-7"


def test_explain_names_who_holds_the_machine(windlass, seeded):
    seeded.add("holder", age_s=100, phase=RunPhase.RUNNING, started_at=seeded.now - 90, attempt=1)
    seeded.add(
        "waiter",
        age_s=50,
        phase=RunPhase.STARTING,
        attempt=1,
        code="waiting-for-engine",
        reason="2 of 2 processors are in use",
    )
    text = windlass("explain", "waiter").out
    assert "waiter waits for room on local.\n" in text
    assert "  2 of 2 processors are in use.\n" in text
    assert "local is held by holder." in text


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            [],
            [
                "0/0 | first",
                "1/1 | Traceback",
                "0/0 | second",
                "1/1 | ModuleNotFoundError: No module named 'flax'",
            ],
        ),
        (["--attempt", "1"], ["0/0 | first"]),
        (["--rank", "0"], ["0/0 | first", "0/0 | second"]),
        (["--node", "1", "--tail", "1"], ["1/1 | ModuleNotFoundError: No module named 'flax'"]),
        (["--setup"], ["0/setup | pip install"]),
        (["-t", "--rank", "0", "--attempt", "1"], ["2026-11-15T06:31:01.000Z 0/0 | first"]),
        (["--tail", "0"], []),
        (["-f", "--attempt", "1"], ["0/0 | first"]),
        (["-f", "--tail", "1"], ["1/1 | ModuleNotFoundError: No module named 'flax'"]),
    ],
)
def test_logs_show_what_was_chosen(windlass, failed, options, expected):
    result = windlass("logs", "train-7", *options)
    assert (result.status, result.out.splitlines()) == (0, expected)


SILENCES = {
    (): "no rank has written anything; `windlass explain quiet` says why",
    ("--tail", "3"): "no rank has written anything",
    ("--json",): "no rank has written anything",
    ("--setup",): "`setup` has written nothing",
    ("--rank", "3"): "nothing fits; `windlass show quiet`",
}


@pytest.mark.parametrize(("options", "said"), SILENCES.items())
def test_logs_of_a_run_that_printed_nothing_say_so(windlass, seeded, options, said):
    seeded.add("quiet", phase=RunPhase.FAILED, attempt=1)
    result = windlass("logs", "quiet", *options)
    assert (result.status, result.out) == (0, "")
    assert said in result.err


@pytest.mark.parametrize("options", [[], ["-f"]])
def test_logs_in_json_are_one_document_a_line(windlass, failed, options):
    documents = windlass("logs", "train-7", "--attempt", "1", "--json", *options).documents
    assert documents == [
        {
            "time": "2026-11-15T06:31:01.000Z",
            "attempt": 1,
            "node": 0,
            "rank": 0,
            "text": "first",
        }
    ]


def test_attach_to_an_ended_run_shows_it_all_and_how_it_ended(windlass, failed):
    result = windlass("attach", "train-7")
    assert result.status == 1
    assert "0/0 | second\n" in result.out
    assert "✘ failed  train-7  after 43m20s: rank 1 on node 1 exited" in result.err
    assert "  attempts   2 (1 restart)\n" in result.err
    assert "windlass explain train-7" in result.err
    documents = windlass("attach", "train-7", "--json").documents
    assert {document["type"] for document in documents} == {
        *("log progress event run summary".split())
    }
    assert documents[-1]["report"]["steps"] == 60


def test_events_are_listed_in_order(windlass, failed):
    result = windlass("events", "train-7")
    assert result.out.endswith("submitted           submitted\n")
    (document,) = windlass("events", "train-7", "--json", "-f").documents
    assert (document["code"], document["attempt"]) == ("submitted", 0)


def test_a_run_is_found_by_name_and_by_the_beginning_of_its_id(windlass, seeded, failed):
    assert "train-7" in windlass("show", "trän 7").out
    assert "train-7" in windlass("show", "tra").out
    seeded.add("train-8")
    result = windlass("show", "train")
    assert result.status == 2
    assert "fits 2 runs\n  train-8  queued\n  train-7  failed\n" in result.err
    assert "Did you mean `train-7`" in windlass("show", "trian-7").err


def test_a_run_whose_folder_is_gone_can_still_be_shown(windlass, seeded):
    seeded.add(
        "bare", phase=RunPhase.STOPPED, attempt=3, started_at=seeded.now, ended_at=seeded.now
    )
    for command in ("show", "explain", "logs", "attach", "events"):
        assert windlass(command, "bare").status in (0, 7)
    assert windlass("ps", "--all").status == 0


def test_ps_lists_runs_whose_bucket_cannot_be_read(windlass, seeded, monkeypatch):
    seeded.add("far", phase=RunPhase.RUNNING, attempt=1, started_at=seeded.now)
    seeded.add("further", phase=RunPhase.RUNNING, attempt=1, started_at=seeded.now)

    def refuse(self, run_id):
        raise CredentialsMissing("there are no credentials here", remedy="Log in.")

    monkeypatch.setattr(Home, "folder", refuse)
    result = windlass("ps")
    assert result.status == 0
    assert "far" in result.out
    assert result.err == "windlass: progress cannot be read: there are no credentials here\n"
    assert [one["progress"] for one in windlass("ps", "--json").document] == [None, None]
