"""Every byte of a stream is handed over once, and every line whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from folders import HandMadeFolder, WholeReadsOnly
from windlass.controller.chunks import Chunks, Lines

STEM = "attempts/1/c1/nodes/0/rank-0/log"


@pytest.fixture
def made(tmp_path: Path) -> HandMadeFolder:
    return HandMadeFolder(tmp_path / "run")


@pytest.fixture(params=["parts", "whole"])
def folder(request, made):
    return made.folder if request.param == "parts" else WholeReadsOnly(made.folder)


def test_every_byte_is_handed_over_once_across_chunks(made, folder):
    chunks = Chunks(folder, STEM, "txt")
    assert chunks.fresh() == b""
    made.log("one")
    assert chunks.fresh() == b"one"
    made.log("two")
    made.log("three", chunk=2)
    made.log("four", chunk=3)
    assert chunks.fresh() == b"twothreefour"
    assert chunks.fresh() == b""
    made.log("!", chunk=3)
    assert chunks.fresh() == b"!"


def test_an_unfinished_line_waits_for_its_end(made, folder):
    lines = Lines(Chunks(folder, STEM, "txt"))
    made.log("a\nb")
    assert lines.fresh() == [b"a"]
    made.log("c\n", chunk=2)
    assert lines.fresh() == [b"bc"]
    made.log("rest", chunk=2)
    assert lines.fresh() == []
    assert lines.fresh(is_last=True) == [b"rest"]
    assert lines.fresh(is_last=True) == []
