"""What the evidence of a rehearsal shows."""

from __future__ import annotations

from dataclasses import replace

from builders import make_attempt, make_claim, make_event, make_run
from windlass.controller.progress import Record
from windlass.controller.report import make_report
from windlass.rehearsal.story import Evidence, Forecast, tell
from windlass.state.phases import AttemptPhase, Outcome

FORECAST = Forecast(usd_p50=1.0, usd_p90=2.0, p50_s=60.0, p90_s=90.0, is_of_work=True)
FIRST, SECOND = "us-east1-b/g2-standard-4/spot", "us-central1-b/g2-standard-4/spot"


def record(attempt: int, step: int, time: float, event: str = "") -> Record:
    return Record(attempt=attempt, step=step, time=time, event=event)


PREEMPTED = Evidence(
    run=replace(make_run(), created_at=100.0, started_at=110.0, ended_at=200.0, attempt=2),
    attempts=[
        make_attempt(
            number=1,
            phase=AttemptPhase.ENDED,
            created_at=100.0,
            ended_at=142.0,
            outcome=Outcome.PREEMPTED,
            winner="r-1-1",
        ),
        make_attempt(
            number=2,
            phase=AttemptPhase.ENDED,
            created_at=143.0,
            ended_at=200.0,
            outcome=Outcome.SUCCEEDED,
            winner="r-2-0",
        ),
    ],
    claims=[
        make_claim(attempt=1, index=0, offer="us-central1-a/g2-standard-4/spot"),
        make_claim(attempt=1, index=1, offer=FIRST),
        make_claim(attempt=2, index=0, offer=SECOND),
    ],
    events=[make_event(code="out-of-stock"), make_event(code="running")],
    records=[
        record(1, 9, 139.0),
        record(1, 10, 140.5),
        record(1, 10, 140.8, "saved"),
        record(2, 10, 150.0, "restored"),
        record(2, 11, 152.0),
        record(2, 12, 153.0),
    ],
    notices=[140.0, 140.0],
    passed_on=[(1, 140.02), (1, 140.3)],
    usd=0.02,
    left=[],
)


def told(evidence: Evidence):
    report = make_report(
        evidence.run, evidence.attempts, evidence.records, now=200.0, steps_total=12
    )
    return tell(evidence, forecast=FORECAST, report=report)


def test_a_preemption_is_followed_from_its_notice_to_the_next_step():
    story = told(PREEMPTED)
    (one,) = story.interruptions
    assert (one.attempt, one.outcome) == (1, Outcome.PREEMPTED)
    assert (one.place, one.next_place) == (FIRST, SECOND)
    assert one.noticed_at == 140.0
    assert round(one.detect_s, 3) == 0.02
    assert one.again_s == 12.0
    assert (one.saved_step, one.resumed_step, one.steps_lost) == (10, 10, 0)
    assert story.finish_s == 100.0
    assert [event.code for event in story.refusals] == ["out-of-stock"]


def test_without_a_notice_it_is_counted_from_the_end():
    (one,) = told(replace(PREEMPTED, notices=[], passed_on=[])).interruptions
    assert (one.noticed_at, one.detect_s, one.again_s) == (None, None, 10.0)


def test_where_the_cloud_says_nothing_the_agents_word_counts():
    (one,) = told(replace(PREEMPTED, notices=[])).interruptions
    assert (one.noticed_at, one.detect_s) == (140.02, None)


def test_steps_that_were_done_in_vain_are_told_of_their_attempt():
    records = [
        replace(one, step=7) if one.event == "restored" else one for one in PREEMPTED.records
    ]
    (one,) = told(replace(PREEMPTED, records=records)).interruptions
    assert (one.resumed_step, one.steps_lost) == (7, 3)


def test_a_run_that_nothing_happened_to_has_no_interruptions():
    calm = replace(PREEMPTED, attempts=PREEMPTED.attempts[1:], events=[])
    story = told(calm)
    assert (story.interruptions, story.refusals, story.left) == ([], [], [])
