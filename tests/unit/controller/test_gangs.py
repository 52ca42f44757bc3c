"""What nodes have left in the run folder, whole or not."""

from __future__ import annotations

import json

import pytest

from windlass.agent import layout
from windlass.controller.gangs import GangReader
from windlass.controller.sightings import Sightings
from windlass.controller.view import GangEnd, NodeExit, Notice
from windlass.simulation.disk import Disk
from windlass.simulation.timeline import Timeline

CLAIM = "r-1-0"
WINNER = layout.winner(1)
END = layout.end(1, CLAIM)
NOTICE = layout.gang_notice(1, CLAIM)
BEAT = layout.heartbeat(1, CLAIM, 0)
EXIT = layout.exit_file(1, CLAIM, 0)

WHOLE = {
    WINNER: {"claim": CLAIM, "addresses": ["127.0.0.1:1"]},
    END: {"node": 1, "rank": 3, "status": 2, "outcome": "user-error", "reason": "bad"},
    NOTICE: {"node": 0, "seconds": 30, "reason": "told"},
    BEAT: {"beat": 4, "state": "running", "pid": 1},
    EXIT: {"outcome": "succeeded", "status": 0, "rank": None, "reason": "", "had_notice": False},
}


@pytest.fixture
def disk():
    return Disk()


@pytest.fixture
def reader():
    return GangReader(Sightings(), Timeline())


def read_all(reader, disk):
    """What is known of node 0 and its gang."""
    folder = disk.seen_by(lambda: False)
    node = reader.node(folder, 1, CLAIM, node=0, asked_at=0.0)
    return {
        WINNER: reader.winner(folder, "r", 1),
        END: reader.end(folder, 1, CLAIM),
        NOTICE: reader.notice(folder, 1, CLAIM),
        BEAT: node.beat_age_s,
        EXIT: node.exit,
    }


def test_what_is_whole_is_read(reader, disk):
    for name, value in WHOLE.items():
        if name != EXIT:
            disk.objects[name] = json.dumps(value).encode()
    found = read_all(reader, disk)
    assert found[WINNER] == CLAIM
    assert found[END] == GangEnd(node=1, rank=3, status=2, outcome="user-error", reason="bad")
    assert found[NOTICE] == Notice(node=0, seconds=30.0, reason="told")
    assert found[BEAT] == 0.0
    disk.objects[EXIT] = json.dumps(WHOLE[EXIT]).encode()
    found = read_all(reader, disk)
    assert found[EXIT] == NodeExit(
        outcome="succeeded", status=0, rank=None, reason="", had_notice=False
    )
    assert found[BEAT] is None, "a node that has left does not beat"


def test_nothing_is_there_at_first(reader, disk):
    assert set(read_all(reader, disk).values()) == {None}


BROKEN = {
    "empty": lambda whole: b"",
    "cut short": lambda whole: json.dumps(whole).encode()[:-2],
    "not text": lambda whole: b"\xff\xfe\x00",
    "a list": lambda whole: b"[1, 2]",
    "null": lambda whole: b"null",
    "an empty object": lambda whole: b"{}",
    "another object": lambda whole: b'{"hello": 1}',
    "wrong kinds": lambda whole: json.dumps({key: [1] for key in whole}).encode(),
    "too deep": lambda whole: b"[" * 200_000,
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_not_as_it_should_be_counts_as_not_there(name, broken, reader, disk):
    if name == NOTICE and broken in ("another object", "wrong kinds"):
        pytest.skip("a notice needs no fields")
    disk.objects[name] = BROKEN[broken](WHOLE[name])
    assert read_all(reader, disk)[name] is None
    disk.objects[name] = json.dumps(WHOLE[name]).encode()
    assert read_all(reader, disk)[name] is not None


def test_a_fence_that_was_given_up_is_no_free_one(reader, disk):
    disk.objects[WINNER] = b'{"claim": null, "reason": "given up"}'
    assert read_all(reader, disk)[WINNER] == ""


def test_what_is_final_is_read_once(reader, disk):
    for name, value in WHOLE.items():
        disk.objects[name] = json.dumps(value).encode()
    before = read_all(reader, disk)
    disk.objects.clear()
    assert read_all(reader, disk) == before


def test_what_belongs_to_others_is_forgotten(reader, disk):
    for name, value in WHOLE.items():
        disk.objects[name] = json.dumps(value).encode()
    read_all(reader, disk)
    reader.forget_all_but({CLAIM}, {"r"})
    disk.objects.clear()
    assert read_all(reader, disk)[WINNER] == CLAIM
    reader.forget_all_but(set(), set())
    assert set(read_all(reader, disk).values()) == {None}


def test_a_rank_that_is_no_number_is_no_rank(reader, disk):
    disk.objects[END] = json.dumps({**WHOLE[END], "rank": "3"}).encode()
    assert read_all(reader, disk)[END].rank is None
