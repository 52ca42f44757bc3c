"""The lines of a script are marked, also those that come in pieces."""

from __future__ import annotations

from windlass.twin.machines.inside.scripts import Lines


def test_pieces_become_lines():
    lines = Lines(lambda: b"> ")
    assert lines.feed(b"one\ntw") == b"> one\n"
    assert lines.feed(b"o\n\n") == b"> two\n> \n"
    assert lines.feed(b"rest") == b""
    assert lines.rest() == b"> rest\n"
    assert lines.rest() == b""


def test_a_line_without_end_is_cut():
    lines = Lines(lambda: b"> ")
    assert lines.feed(b"x" * 9000) == b"> " + b"x" * 9000 + b"\n"
