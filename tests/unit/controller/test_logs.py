"""Logs come out of chunks once, whole, and in order of time."""

from __future__ import annotations

from pathlib import Path

import pytest

from folders import HandMadeFolder, WholeReadsOnly, stamped
from windlass.controller.logs import (
    Choice,
    Follower,
    gang_size,
    read_lines,
    sources,
    tail_lines,
    winning_claim,
)


@pytest.fixture
def made(tmp_path: Path) -> HandMadeFolder:
    return HandMadeFolder(tmp_path / "run")


@pytest.fixture(params=["parts", "whole"])
def folder(request, made):
    return made.folder if request.param == "parts" else WholeReadsOnly(made.folder)


def texts(lines):
    return [line.text for line in lines]


def test_lines_of_ranks_are_merged_by_time(made):
    made.win(nodes=2)
    made.log(stamped(1, "a") + stamped(3, "c"))
    made.log(stamped(2, "b") + stamped(4, "d"), node=1, rank=1)
    follower = Follower(made.folder, Choice())
    found = follower.fresh(1)
    assert [(line.node, line.rank, line.text) for line in found] == [
        (0, 0, "a"),
        (1, 1, "b"),
        (0, 0, "c"),
        (1, 1, "d"),
    ]
    assert found[0].time == "2026-11-15T06:31:01.000Z"
    assert texts(read_lines(made.folder, 1, Choice())) == ["a", "b", "c", "d"]


def test_nothing_is_read_before_a_claim_has_won(made):
    made.log(stamped(1, "from a claim that may lose"))
    assert sources(made.folder, 1) == []
    assert winning_claim(made.folder, 1) is None
    assert gang_size(made.folder, 1) == 0


def test_an_attempt_that_was_given_up_has_no_lines(made):
    made.put("attempts/1/winner.json", {"claim": None})
    made.log(stamped(1, "late"))
    assert Follower(made.folder, Choice()).fresh(1, is_last=True) == []


def test_followed_attempts_come_one_after_the_other(made):
    made.win(1).log(stamped(1, "one") + "torn")
    follower = Follower(made.folder, Choice())
    assert texts(follower.fresh(1)) == ["one"]
    made.win(2).log(stamped(0, "two"), attempt=2)
    assert texts(follower.fresh(2)) == ["torn", "two"]
    made.log(stamped(2, "too late, attempt 1 is over"))
    assert texts(follower.fresh(2, is_last=True)) == []


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice(), ["r0", "r1", "again"]),
        (Choice(rank=1), ["r1"]),
        (Choice(node=1), ["r1"]),
        (Choice(attempt=2), ["again"]),
        (Choice(attempt=9), []),
        (Choice(first=2), ["again"]),
        (Choice(has_setup=True, has_ranks=False), ["installing"]),
        (Choice(has_setup=True), ["installing", "r0", "r1", "again"]),
    ],
)
def test_only_what_was_chosen_is_shown(made, choice, expected):
    made.win(1, nodes=2)
    made.log(stamped(0, "installing"), rank=None)
    made.log(stamped(1, "r0"))
    made.log(stamped(2, "r1"), node=1, rank=1)
    made.win(2).log(stamped(3, "again"), attempt=2)
    assert texts(read_lines(made.folder, 2, choice)) == expected
    assert texts(Follower(made.folder, choice).fresh(2, is_last=True)) == expected
    assert texts(tail_lines(made.folder, 2, choice, count=50)) == expected


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 99])
def test_the_tail_is_the_end_of_everything(made, count):
    made.win(1)
    made.log(stamped(1, "a") + stamped(2, "b"))
    made.log(stamped(3, "c") + "no newline at the end", chunk=2)
    made.win(2).log(stamped(1, "d"), attempt=2)
    everything = texts(read_lines(made.folder, 2, Choice()))
    expected = everything[len(everything) - count :] if count < len(everything) else everything
    assert texts(tail_lines(made.folder, 2, Choice(), count=count)) == expected


@pytest.mark.parametrize(
    ("raw", "time", "text"),
    [
        ("2026-11-15T06:31:22.123Z hello", "2026-11-15T06:31:22.123Z", "hello"),
        ("2026-11-15T06:31:22.123Z ", "2026-11-15T06:31:22.123Z", ""),
        ("2026-11-15T06:31:22.123Z", "2026-11-15T06:31:22.123Z", ""),
        ("no stamp", "", "no stamp"),
        ("", "", ""),
        ("2026-11-15T06:31:22.123Z  two spaces", "2026-11-15T06:31:22.123Z", " two spaces"),
    ],
)
def test_the_stamp_is_taken_off(made, raw, time, text):
    made.win().log(raw + "\n")
    (line,) = read_lines(made.folder, 1, Choice())
    assert (line.time, line.text) == (time, text)


def test_broken_text_and_broken_objects_are_survived(made):
    made.win()
    made.folder.append("attempts/1/c1/nodes/0/rank-0/log-00001.txt", b"\xff\xfe ok\n")
    assert texts(read_lines(made.folder, 1, Choice())) == ["\ufffd\ufffd ok"]
    made.folder.write("attempts/2/winner.json", b"{torn")
    assert winning_claim(made.folder, 2) is None
    made.folder.write("attempts/2/winner.json", b"[]")
    assert winning_claim(made.folder, 2) is None


def test_a_long_log_comes_in_parts_and_loses_nothing(made, folder):
    made.win()
    big = ("x" * 1000 + "\n") * 5000
    for chunk in range(1, 6):
        made.log(f"{big}chunk {chunk}\n", chunk=chunk)
    made.log("unfinished", chunk=5)
    made.win(2).log("second\n", attempt=2)
    follower = Follower(folder, Choice())
    parts = [follower.fresh(2, is_last=True)]
    while follower.has_more:
        parts.append(follower.fresh(2, is_last=True))
    assert len(parts) > 1
    told = [line.text for part in parts for line in part if not line.text.startswith("x")]
    assert told == [*(f"chunk {n}" for n in range(1, 6)), "unfinished", "second"]
    assert sum(map(len, parts)) == 5 * 5001 + 2
