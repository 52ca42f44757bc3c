from __future__ import annotations

from types import MappingProxyType

import pytest

from builders import make_attempt, make_claim, make_event, make_run
from windlass.state.phases import Outcome, RunPhase
from windlass.state.rows import ATTEMPTS, CLAIMS, EVENTS, RUNS, storable


@pytest.mark.parametrize(
    ("table", "value"),
    [
        pytest.param(RUNS, make_run(outcome=Outcome.LOST, phase=RunPhase.FAILED), id="run"),
        pytest.param(ATTEMPTS, make_attempt(given_up=True), id="attempt"),
        pytest.param(CLAIMS, make_claim(handle="h"), id="claim"),
    ],
)
def test_a_value_comes_back_from_its_row(table, value):
    row = table.row(value)
    assert all(type(cell) in (str, int, float, bool, type(None)) for cell in row)
    assert table.value(tuple(row)) == value


def test_an_event_gets_its_sequence_from_the_database():
    event = make_event(details=MappingProxyType({"a": ["ü", 1, None]}))
    row = EVENTS.row(event)
    assert "sequence" not in EVENTS.insert
    back = EVENTS.value((*row, 7))
    assert (back.sequence, back.details) == (7, {"a": ["ü", 1, None]})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("größe 東京 🚀", "größe 東京 🚀", id="any script"),
        pytest.param("a\0b", "a\ufffdb", id="NUL"),
        pytest.param("a\udcffb", "a\ufffdb", id="a byte that was no UTF-8"),
        pytest.param("\ud83d\ude80", "\ufffd\ufffd", id="a pair in halves"),
        pytest.param(RunPhase.QUEUED, "queued", id="a phase"),
        pytest.param(None, None, id="nothing"),
        pytest.param(1.5, 1.5, id="a number"),
    ],
)
def test_both_databases_take_what_is_stored(given, kept):
    assert storable(given) == kept
    assert type(storable(given)) is type(kept)
