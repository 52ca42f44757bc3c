"""Progress is read once, of one rank, over all attempts; junk is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from folders import HandMadeFolder
from windlass.agent import layout
from windlass.controller.progress import (
    ProgressFollower,
    checkpoint_steps,
    parse_record,
    read_last_record,
    read_newest_records,
    read_records,
)


@pytest.fixture
def made(tmp_path: Path) -> HandMadeFolder:
    return HandMadeFolder(tmp_path / "run")


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"3", b'{"loss": 1}', b'{"step": "x"}', b'{"step": null}', b"\xff"]
)
def test_what_is_no_record_is_left_out(raw):
    assert parse_record(raw, 1) is None


def test_a_record_keeps_numbers_and_texts():
    raw = b'{"step": 7, "time": 5.5, "attempt": 2, "loss": 0.5, "note": "nan", "list": [1]}'
    record = parse_record(raw, 2)
    assert record is not None
    assert (record.step, record.time, record.attempt, record.event) == (7, 5.5, 2, "")
    assert record.metrics == {"loss": 0.5, "note": "nan"}


def test_records_are_followed_over_attempts(made):
    follower = ProgressFollower(made.folder)
    assert follower.fresh(0) == []
    made.win(1)
    assert follower.fresh(1) == []
    made.progress({"step": 1, "time": 1.0})
    assert [record.step for record in follower.fresh(1)] == [1]
    made.progress({"step": 2, "time": 2.0})
    made.win(2).progress({"event": "restored", "step": 1}, {"step": 2}, attempt=2)
    found = follower.fresh(2)
    assert [(record.attempt, record.step, record.event) for record in found] == [
        (1, 2, ""),
        (2, 1, "restored"),
        (2, 2, ""),
    ]
    assert follower.fresh(2) == []


def test_one_rank_speaks_for_all(made):
    made.win(1).progress({"step": 5}, rank=3)
    made.progress({"step": 4}, rank=2)
    assert [record.step for record in read_records(made.folder, 1)] == [4]


def test_a_lower_rank_that_reports_later_takes_over(made):
    """Only the first rank tells of checkpoints, and it need not be the first to report."""
    follower = ProgressFollower(made.folder)
    made.win(1).progress({"step": 1}, rank=1)
    assert [record.step for record in follower.fresh(1)] == [1]
    made.progress({"step": 1}, {"event": "saved", "step": 1}, rank=0)
    made.progress({"step": 2}, rank=1)
    assert [(record.step, record.event) for record in follower.fresh(1)] == [(1, ""), (1, "saved")]


def test_the_last_step_is_found_without_reading_everything(made):
    assert read_last_record(made.folder, 3) is None
    made.win(1).progress({"step": 1}, {"step": 2}, {"event": "saved", "step": 2})
    made.win(2)
    last = read_last_record(made.folder, 2)
    assert last is not None
    assert (last.attempt, last.step) == (1, 2)


def test_only_committed_checkpoints_are_listed(made):
    assert checkpoint_steps(made.folder) == []
    for name in ("20/manifest.json", "9/manifest.json", "30/data-0", "x/manifest.json"):
        made.put(f"checkpoints/{name}", {})
    assert checkpoint_steps(made.folder) == [9, 20]


def test_the_newest_records_of_an_attempt_are_enough_for_its_pace(made):
    assert read_newest_records(made.folder, 1) == []
    made.win(1)
    assert read_newest_records(made.folder, 1) == []
    made.progress(*({"step": step} for step in range(1500)))
    stem = layout.rank(1, "c1", 0, 0)
    for number in (2, 3):
        name = layout.chunk(f"{stem}/progress", number, "jsonl")
        made.folder.write(name, json.dumps({"step": 1498 + number}).encode())
    steps = [record.step for record in read_newest_records(made.folder, 1)]
    assert steps[-1] == 1501
    assert steps == list(range(steps[0], 1502))
    assert 990 < len(steps) <= 1000
