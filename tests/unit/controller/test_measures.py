"""What ranks report of their saves."""

from __future__ import annotations

import json

import pytest

from windlass.agent import layout
from windlass.agent.folder import DiskFolder
from windlass.controller.measures import EVERY_S, FIRST_EVERY_S, Measures
from windlass.controller.view import Measured
from windlass.simulation.timeline import Timeline


def report(folder, attempt, *records):
    claim = f"r-{attempt}-0"
    folder.write(layout.winner(attempt), json.dumps({"claim": claim}).encode())
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    folder.write(f"{layout.rank(attempt, claim, 0, 0)}/progress-00001.jsonl", lines)


def saved(step, **more):
    return {"step": step, "event": "saved", **more}


@pytest.fixture
def folder(tmp_path):
    return DiskFolder(tmp_path)


@pytest.fixture
def clock():
    return Timeline()


@pytest.fixture
def measures(clock):
    return Measures(clock)


def later(clock, seconds):
    clock.run_until(clock.monotonic() + seconds, after_each=lambda: None)


def test_the_newest_save_says_how_long_it_took_and_what_is_safe(measures, folder):
    report(folder, 1, {"step": 5}, saved(10, seconds=3.0), saved(20, seconds=4.0), {"step": 22})
    assert measures.of(folder, "r", 1, steps=80) == Measured(
        save_s=4.0, saved_share=0.25, done_share=0.275
    )


def test_a_run_that_has_not_begun_has_nothing_to_tell(measures, folder):
    assert measures.of(folder, "r", 0, steps=80) == Measured()


def test_without_a_count_of_steps_no_share_is_known(measures, folder):
    report(folder, 1, saved(10))
    assert measures.of(folder, "r", 1, steps=None) == Measured()


def test_the_first_save_is_not_waited_for_as_long(measures, folder, clock):
    assert measures.of(folder, "r", 1, steps=80) == Measured()
    report(folder, 1, saved(10, seconds=3.0))
    later(clock, FIRST_EVERY_S)
    assert measures.of(folder, "r", 1, steps=80).save_s == 3.0


def test_it_is_read_now_and_then(measures, folder, clock):
    report(folder, 1, saved(10, seconds=3.0))
    measures.of(folder, "r", 1, steps=20)
    report(folder, 1, saved(20, seconds=5.0))
    assert measures.of(folder, "r", 1, steps=20).save_s == 3.0
    later(clock, EVERY_S)
    assert measures.of(folder, "r", 1, steps=20).save_s == 5.0


def test_the_save_of_an_earlier_attempt_counts_until_there_is_another(measures, folder):
    report(folder, 1, saved(10, seconds=3.0))
    report(folder, 2, {"step": 11})
    expected = Measured(save_s=3.0, saved_share=0.5, done_share=0.55)
    assert measures.of(folder, "r", 2, steps=20) == expected
    assert measures.of(folder, "r", 3, steps=20) == expected


def test_an_attempt_that_went_on_from_less_has_less_done(measures, folder):
    report(folder, 1, saved(10), {"step": 18})
    report(folder, 2, {"step": 10, "event": "restored"})
    assert measures.of(folder, "r", 2, steps=20).done_share == 0.5


def test_what_has_ended_is_forgotten(measures, folder):
    report(folder, 1, saved(10, seconds=3.0))
    measures.of(folder, "r", 1, steps=20)
    measures.forget_all_but([])
    report(folder, 1, saved(20, seconds=5.0))
    assert measures.of(folder, "r", 1, steps=20).save_s == 5.0


def test_what_an_ended_attempt_leaves_is_its_newest_checkpoint_and_what_came_after(
    measures, folder
):
    report(folder, 1, saved(10), {"step": 13}, saved(20), {"step": 26})
    left = measures.left(folder, "r", 1, Measured())
    assert (left.saved_step, left.steps_lost) == (20, 6)


def test_an_attempt_that_saved_nothing_leaves_what_it_began_with(measures, folder):
    report(folder, 2, {"step": 20, "event": "restored"}, {"step": 23})
    left = measures.left(folder, "r", 2, Measured())
    assert (left.saved_step, left.steps_lost) == (20, 3)


def test_ranks_that_report_nothing_leave_nothing_to_tell(measures, folder):
    assert measures.left(folder, "r", 1, Measured(save_s=2.0)) == Measured(save_s=2.0)
