"""Durations, numbers, tables and carets look right, whatever is in them."""

from __future__ import annotations

import io

import pytest

from windlass.cli.render import problem_text
from windlass.cli.summary import duration_of_step
from windlass.cli.table import clip, columns, draw, facts
from windlass.cli.terminal import Paint, has_colour
from windlass.cli.words import duration, iso, number, percent, plural, size
from windlass.errors import Problem


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (-3, "0.0s"),
        (0.44, "0.4s"),
        (12.9, "12s"),
        (61, "1m01s"),
        (3600, "1h00m"),
        (7384, "2h03m"),
        (86400 * 3 + 7200, "3d2h"),
    ],
)
def test_durations_are_short(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (0.123456, "0.1235"), (2.0, "2"), (1e9, "1e+09"), ("nan", "nan"), (1e-7, "1e-07")],
)
def test_metrics_have_the_digits_that_matter(value, text):
    assert number(value) == text


def test_other_words():
    assert iso(0.5) == "1970-01-01T00:00:00.500Z"
    assert iso(None) is None
    assert percent(0.9312) == "93.1 %"
    assert (plural(1, "run"), plural(0, "run")) == ("1 run", "0 runs")
    assert (size(512), size(3 << 30), size(5 << 40)) == ("512 B", "3.0 GiB", "5.0 TiB")
    assert [duration_of_step(s) for s in (2e-5, 0.0123, 1.9)] == ["20 µs", "12.3 ms", "1.9 s"]


def test_tables_are_aligned_also_with_wide_characters():
    rows = [("日本", "1"), ("é", "22"), ("plain", "3\n3")]
    drawn = draw(("NAME", "N"), rows, width=80, right=frozenset({1}))
    assert drawn == "NAME     N\n日本     1\né       22\nplain  3 3"
    assert {columns(line) for line in drawn.splitlines()} == {10}


def test_the_last_column_is_cut_to_the_terminal():
    drawn = draw(("A", "REASON"), [("x", "a long story that does not fit")], width=20)
    assert drawn.splitlines()[1] == "x  a long story tha…"
    assert clip("日本語", 5) == "日本…"


def test_facts_of_several_lines_stay_in_their_column():
    assert facts([("a", "1\n2"), ("long", "3")]) == "a     1\n      2\nlong  3"


def test_colour_is_for_terminals_only(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Paint(Terminal())("x", "red") == "\x1b[31mx\x1b[0m"
    assert Paint(io.StringIO())("x", "red") == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colour(Terminal())


@pytest.mark.parametrize(
    ("source", "column", "caret"),
    [("nmae: x", 1, "^"), ("a: 日本 x", 7, "        ^"), ("\tkey", 2, "\t^")],
)
def test_the_caret_stands_below_the_column(source, column, caret):
    problem = Problem(
        code="c", path="s.yaml", line=3, column=column, message="m", remedy="Do.", source=source
    )
    assert problem_text(problem, Paint(io.StringIO())) == (
        f"s.yaml:3:{column}: m [c]\n    3 | {source}\n      | {caret}\n      Do."
    )
