"""Candidates in a table as wide as the terminal."""

from __future__ import annotations

import io

import pytest

from plans import CHECKPOINT, WORK, make_spec, packaged
from windlass.cli.plan_table import candidates_table, change, dollars
from windlass.cli.plan_text import plan_text
from windlass.cli.terminal import Paint
from windlass.planner.plan import Plan, make_plan

PLAIN = Paint(io.StringIO())
SPECS = {
    "one accelerator": ("H100:8", "1", WORK),
    "any of five": ("H100:8, A100-80:8, H200:8, A100:8, L4:8", "1..64", WORK),
    "a large slice": ("v6e-256", "1", WORK),
    "no work": ("H100:8", "1..3", "limits: {ttl: 12h}"),
}


def planned(accelerators: str, nodes: str, work: str) -> Plan:
    spec = make_spec(work, CHECKPOINT, accelerators=accelerators, nodes=nodes)
    return make_plan(spec, packaged())


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("ask", SPECS.values(), ids=SPECS)
def test_no_line_is_longer_than_the_terminal_is_wide(ask, width):
    text = plan_text(planned(*ask), PLAIN, top=8, width=width)
    assert max(map(len, text.splitlines())) <= width


def test_a_narrow_terminal_keeps_what_matters_most():
    plan = planned(*SPECS["any of five"])
    narrow, wide = (
        candidates_table(plan, PLAIN, top=3, width=width).splitlines()[0].split("  ")
        for width in (80, 10_000)
    )
    narrow, wide = ([name.strip() for name in names if name.strip()] for names in (narrow, wide))
    assert {"ZONE", "MACHINE", "BUY", "NODES", "$", "TIME P90"} <= set(narrow)
    assert set(wide) - set(narrow) >= {"$/H", "TIME P50"}
    assert wide[-1] == "WHY"


def test_zones_that_differ_in_their_name_only_are_one_row():
    table = candidates_table(planned(*SPECS["a large slice"]), PLAIN, top=4, width=10_000)
    assert "also in" in table
    assert len(table.splitlines()) == 5


@pytest.mark.parametrize(
    ("value", "than", "text"),
    [(110.0, 100.0, "+10 %"), (90.0, 100.0, "-10 %"), (100.3, 100.0, ""), (99.7, 100.0, "")],
)
def test_what_nobody_would_notice_is_not_told(value, than, text):
    assert change(value, than) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.234, "1.23"), (12345.6, "12,346"), (float("inf"), "no end"), (float("nan"), "no end")],
)
def test_dollars_have_cents_where_they_matter(value, text):
    assert dollars(value) == text
