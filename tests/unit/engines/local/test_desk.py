"""The engine's folder: what a kill at any moment leaves is understood by the next controller."""

from __future__ import annotations

import fcntl
import json
import os

import pytest

from windlass.agent.processes import start_ticks
from windlass.engines.local.desk import Desk


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path / "local")


def ask_for(desk, *claims):
    for number, claim in enumerate(claims):
        desk.write(claim, "request.json", {"claim": claim})
        os.utime(desk.path(claim, "request.json"), ns=(0, number))


def test_claims_come_in_the_order_they_were_asked_for(desk):
    ask_for(desk, "z-1-0", "b-1-0", "a-1-0")
    assert desk.claims() == ["z-1-0", "b-1-0", "a-1-0"]


def test_a_claim_that_ended_leaves_only_a_tombstone(desk):
    ask_for(desk, "a-1-0")
    desk.end("a-1-0")
    assert desk.claims() == []
    assert desk.has_ended("a-1-0")
    assert not desk.path("a-1-0", "request.json").parent.exists()
    desk.end("a-1-0")
    desk.forget("a-1-0")
    desk.forget("a-1-0")
    assert not desk.has_ended("a-1-0")


def half_asked(desk):
    desk.path("a-1-0", "").mkdir(parents=True)


def half_asked_with_a_staged_file(desk):
    half_asked(desk)
    desk.path("a-1-0", ".request.json.1").write_text("{")


def half_deleted(desk):
    ask_for(desk, "a-1-0")
    desk.path("a-1-0", "").rename(desk.path(".a-1-0", ""))


def ended_but_not_deleted(desk):
    ask_for(desk, "a-1-0")
    folder = desk.path("a-1-0", "")
    kept = folder.with_name("kept")
    folder.rename(kept)
    desk.end("a-1-0")
    kept.rename(folder)


LEFTOVERS = [half_asked, half_asked_with_a_staged_file, half_deleted, ended_but_not_deleted]


@pytest.mark.parametrize("leave", LEFTOVERS)
def test_what_a_kill_left_is_no_claim_and_is_cleared_away(desk, leave):
    leave(desk)
    ask_for(desk, "b-1-0")
    assert desk.claims() == ["b-1-0"]
    assert [path.name for path in desk.path("b-1-0", "").parent.iterdir()] == ["b-1-0"]


def test_a_strangers_file_is_left_alone(desk):
    stray = desk.path(".DS_Store", "")
    stray.write_text("")
    assert desk.claims() == []
    assert stray.exists()


TORN = {"empty": b"", "half": b'{"gpus": [', "not text": b"\xff\x00", "no object": b"[1]"}


@pytest.mark.parametrize("data", TORN.values(), ids=TORN)
def test_a_torn_file_is_as_if_it_were_not_there(desk, data):
    ask_for(desk, "a-1-0")
    desk.path("a-1-0", "placed.json").write_bytes(data)
    assert desk.read("a-1-0", "placed.json") is None
    assert desk.read("a-1-0", "request.json") == {"claim": "a-1-0"}


def test_files_are_readable_by_their_owner_alone(desk):
    ask_for(desk, "a-1-0")
    path = desk.path("a-1-0", "request.json")
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


# ---- locks ---------------------------------------------------------------------------------------


def hold(desk, said):
    """Be the node: take its lock and fill it."""
    path = desk.path("a-1-0", "node-0.lock")
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.write(lock, json.dumps(said).encode())
    return lock


def test_a_node_is_alive_while_it_holds_its_lock(desk):
    ask_for(desk, "a-1-0")
    assert not desk.has_started("a-1-0", 0)
    lock = hold(desk, {"pid": os.getpid(), "started": start_ticks(os.getpid())})
    assert desk.has_started("a-1-0", 0)
    assert desk.is_alive("a-1-0", 0)
    assert desk.keeper("a-1-0", 0) == os.getpid()
    os.close(lock)
    assert desk.has_started("a-1-0", 0)
    assert not desk.is_alive("a-1-0", 0)


def test_a_process_that_was_given_the_keepers_number_is_not_the_keeper(desk):
    ask_for(desk, "a-1-0")
    lock = hold(desk, {"pid": os.getpid(), "started": start_ticks(os.getpid()) - 1})
    assert desk.is_alive("a-1-0", 0), "the agent still holds it"
    assert desk.keeper("a-1-0", 0) is None
    os.close(lock)


@pytest.mark.parametrize("said", [{}, {"pid": "1"}, {"pid": 2**22 + 5, "started": 1}, []])
def test_a_lock_that_names_nobody_has_no_keeper(desk, said):
    ask_for(desk, "a-1-0")
    os.close(hold(desk, said))
    assert desk.keeper("a-1-0", 0) is None


def test_a_node_that_may_not_start_any_more_never_does(desk):
    ask_for(desk, "a-1-0")
    desk.forbid_start("a-1-0", 0)
    desk.forbid_start("a-1-0", 0)
    assert desk.has_started("a-1-0", 0)
    assert not desk.is_alive("a-1-0", 0)
    assert desk.keeper("a-1-0", 0) is None


def test_a_node_that_starts_at_this_very_moment_is_not_overwritten(desk):
    ask_for(desk, "a-1-0")
    lock = hold(desk, {"pid": 1})
    desk.forbid_start("a-1-0", 0)
    assert desk.read("a-1-0", "node-0.lock") == {"pid": 1}
    os.close(lock)
