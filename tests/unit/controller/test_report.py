"""Steps, losses and goodput from records."""

from __future__ import annotations

import pytest

from builders import make_attempt, make_charge, make_run
from windlass.controller.progress import Record
from windlass.controller.report import Cost, Loss, Report, cost_of, make_report
from windlass.state.phases import Outcome


def steps(attempt: int, first: int, last: int, *, start: float, each: float = 1.0, stride: int = 1):
    return [
        Record(attempt=attempt, step=step, time=start + (step - first) * each)
        for step in range(first, last + 1, stride)
    ]


def event(attempt: int, name: str, step: int) -> Record:
    return Record(attempt=attempt, step=step, event=name)


def report(records, *, wall: float = 100.0, restarts: int = 0, attempts=()) -> Report:
    run = make_run(started_at=0.0, ended_at=wall, restarts=restarts)
    return make_report(run, attempts, records, now=wall, steps_total=None)


def test_a_run_that_reports_nothing_has_no_figures():
    found = report([])
    assert (found.steps, found.goodput, found.step_s, found.steps_lost) == (None, None, None, 0)
    assert found.wall_s == 100.0


def test_a_run_that_never_started_has_no_wall_time():
    found = make_report(make_run(), [], [], now=50.0, steps_total=10)
    assert (found.wall_s, found.goodput, found.steps_total) == (None, None, 10)


def test_time_until_machines_are_known_to_be_gone_is_nobodys():
    attempts = [make_attempt(number=1, created_at=0.0, ended_at=80.0, outcome=Outcome.SUCCEEDED)]
    found = report(steps(1, 1, 80, start=0.0), attempts=attempts)
    assert (found.wall_s, found.goodput) == (80.0, 1.0)


def test_without_restarts_every_step_counts():
    found = report(steps(1, 1, 80, start=10.0))
    assert (found.steps, found.steps_lost, found.step_s) == (80, 0, 1.0)
    assert found.useful_s == pytest.approx(80.0)
    assert found.goodput == pytest.approx(0.8)


def test_steps_after_the_checkpoint_are_lost_and_do_not_count():
    records = [
        *steps(1, 1, 30, start=0.0),
        event(2, "restored", 20),
        *steps(2, 21, 50, start=60.0),
    ]
    found = report(records, restarts=1)
    assert found.steps == 50
    assert [(loss.attempt, loss.steps) for loss in found.losses] == [(1, 10)]
    assert found.useful_s == pytest.approx(50.0)
    assert found.goodput == pytest.approx(0.5)


def test_an_attempt_that_restored_nothing_loses_everything_before_it():
    found = report([*steps(1, 1, 30, start=0.0), *steps(2, 1, 40, start=50.0)], restarts=1)
    assert found.steps_lost == 30
    assert found.useful_s == pytest.approx(40.0)


def test_steps_counted_from_zero_lose_as_many():
    found = report([*steps(1, 0, 9, start=0.0), *steps(2, 0, 19, start=50.0)])
    assert found.steps_lost == 10


def test_an_attempt_that_died_before_its_first_step_changes_nothing():
    records = [
        *steps(1, 1, 10, start=0.0),
        event(2, "restored", 8),
        event(3, "restored", 8),
        *steps(3, 9, 20, start=40.0),
    ]
    found = report(records, restarts=2)
    assert [(loss.attempt, loss.steps) for loss in found.losses] == [(1, 2)]


def test_reports_that_leave_steps_out_are_shared_evenly():
    records = [
        *steps(1, 10, 100, start=0.0, stride=10),
        event(2, "restored", 95),
        *steps(2, 96, 120, start=200.0),
    ]
    found = report(records, wall=400.0)
    assert found.steps_lost == 5
    # 85 steps between the first report and the checkpoint, 10 before it taken as median ones.
    assert found.useful_s == pytest.approx(95.0 + 25.0)


def test_the_first_step_of_an_attempt_is_taken_for_a_median_one():
    found = report([Record(attempt=1, step=1, time=50.0), *steps(1, 2, 11, start=51.0)])
    assert found.useful_s == pytest.approx(11.0)


def test_waiting_for_a_person_is_not_counted():
    attempts = [
        make_attempt(number=1, created_at=0.0, ended_at=40.0, outcome=Outcome.USER_ERROR),
        make_attempt(number=2, created_at=90.0, ended_at=100.0, outcome=Outcome.LOST),
        make_attempt(number=3, created_at=110.0),
    ]
    assert report([], wall=150.0, attempts=attempts).wall_s == pytest.approx(100.0)


def test_the_last_metrics_and_checkpoint_are_told():
    records = [
        Record(attempt=1, step=1, time=0.0, metrics={"loss": 2.0}),
        event(1, "saved", 1),
        Record(attempt=1, step=2, time=1.0, metrics={"loss": "nan"}),
        event(1, "saved", 2),
    ]
    found = report(records)
    assert (found.metrics, found.saved_step) == ({"loss": "nan"}, 2)


def test_goodput_never_exceeds_one():
    assert report(steps(1, 1, 80, start=0.0), wall=10.0).goodput == 1.0


def test_a_loss_says_what_it_took_and_how_the_attempt_ended():
    records = [
        *steps(1, 1, 30, start=0.0, each=2.0),
        event(2, "restored", 25),
        *steps(2, 26, 40, start=100.0, each=2.0),
    ]
    found = report(records, restarts=1, attempts=[make_attempt(outcome=Outcome.PREEMPTED)])
    lost = Loss(attempt=1, steps=5, seconds=10.0, outcome=Outcome.PREEMPTED)
    assert found.losses == (lost,)
    assert found.seconds_lost == 10.0
    assert report([]).seconds_lost is None


def test_what_was_rented_is_added_up():
    charges = [
        make_charge(from_at=0.0, until_at=3600.0),
        make_charge(index=1, from_at=0.0, until_at=360.0, is_extra=True),
        make_charge(attempt=2, from_at=3600.0),
    ]
    cost = cost_of(charges, now=7200.0)
    assert cost == Cost(usd=pytest.approx(75.6), usd_per_h=36.0, race_usd=3.6, charges=3)
    assert cost_of([], now=7200.0) is None
