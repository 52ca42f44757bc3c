"""Where the time of a run went."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import make_attempt, make_claim, make_run
from windlass.controller.progress import Record
from windlass.rehearsal.times import Times, times_of

RUN = replace(make_run(), created_at=100.0, ended_at=210.0)
ATTEMPTS = [
    make_attempt(number=1, created_at=101.0, ended_at=142.0, winner="r-1-1"),
    make_attempt(number=2, created_at=143.0, ended_at=200.0, winner="r-2-0"),
]
CLAIMS = [
    make_claim(attempt=1, index=0, held_from=102.0),
    make_claim(attempt=1, index=1, held_from=105.0),
    make_claim(attempt=2, index=0, held_from=145.0),
]


def record(attempt: int, time: float | None, event: str = "") -> Record:
    return Record(attempt=attempt, step=1, time=time, event=event)


RECORDS = [
    record(1, None),
    record(1, 139.0),
    record(1, 140.5),
    record(1, 140.8, "saved"),
    record(2, 150.0, "restored"),
    record(2, 152.0),
    record(2, 153.0),
]


def test_every_second_is_in_one_sum():
    found = times_of(RUN, ATTEMPTS, CLAIMS, RECORDS)
    assert found == Times(finding_s=7.0, starting_s=41.0, training_s=2.5, ending_s=49.5)
    assert sum(found) == 100.0


@pytest.mark.parametrize(
    ("claims", "records", "found"),
    [
        pytest.param([], [], Times(42.0 + 57.0, 0.0, 0.0, 1.0), id="no machines ever came"),
        pytest.param(CLAIMS, [], Times(7.0, 37.0 + 55.0, 0.0, 1.0), id="no step was ever done"),
    ],
)
def test_what_never_came_was_waited_for(claims, records, found):
    assert times_of(RUN, ATTEMPTS, claims, records) == found


def test_clocks_that_differ_make_no_time():
    late = [replace(claim, held_from=500.0) for claim in CLAIMS]
    found = times_of(RUN, ATTEMPTS, late, [record(1, 1.0), record(2, 900.0)])
    assert sum(found) == 100.0 and min(found) >= 0.0


@pytest.mark.parametrize(
    ("run", "attempts"),
    [
        pytest.param(RUN, [], id="nothing was tried"),
        pytest.param(replace(RUN, ended_at=None), ATTEMPTS, id="it goes on"),
    ],
)
def test_where_nothing_is_over_there_are_none(run, attempts):
    assert times_of(run, attempts, CLAIMS, RECORDS) == Times()
