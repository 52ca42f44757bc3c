"""What is said of a rehearsal when it is over."""

from __future__ import annotations

import io
import json

from builders import make_event, make_run
from windlass.cli.rehearsal_text import document, text
from windlass.cli.terminal import Paint
from windlass.controller.report import Report
from windlass.rehearsal.story import Forecast, Interruption, Story
from windlass.rehearsal.times import Times
from windlass.state.phases import Outcome, RunPhase

REPORT = Report(
    steps=200,
    steps_total=200,
    step_s=0.1,
    restarts=1,
    losses=(),
    saved_step=200,
    metrics={},
    wall_s=53.0,
    useful_s=21.0,
    goodput=0.4,
)
TAKEN = Interruption(
    attempt=1,
    outcome=Outcome.PREEMPTED,
    place="us-east1-b/g2-standard-4/spot",
    next_place="us-central1-b/g2-standard-4/spot",
    noticed_at=100.0,
    detect_s=0.008,
    again_s=11.9,
    saved_step=91,
    resumed_step=91,
    steps_lost=0,
)


def story(**changed) -> Story:
    given = {
        "run": make_run("r-1", phase=RunPhase.SUCCEEDED),
        "forecast": Forecast(usd_p50=0.013, usd_p90=0.02, p50_s=35.0, p90_s=40.0, is_of_work=True),
        "report": REPORT,
        "usd": 0.017,
        "finish_s": 55.0,
        "times": Times(finding_s=4.0, starting_s=25.0, training_s=21.0, ending_s=5.0),
        "refusals": [make_event(code="out-of-stock", details={"offer": "us-central1-a/g2/spot"})],
        "interruptions": [TAKEN],
        "left": [],
    }
    return Story(**{**given, **changed})


def said(told: Story) -> str:
    return text(told, Paint(io.StringIO()))


def test_everything_is_told():
    assert said(story()).splitlines()[1:] == [
        "Rehearsed  r-1  succeeded",
        "          PREDICTED P50     P90    HERE",
        "  cost           $0.013  $0.020  $0.017",
        "  finish            35s     40s     55s",
        "",
        "  out-of-stock  us-central1-a/g2/spot",
        "  preempted     attempt 1 on us-east1-b/g2-standard-4/spot",
        "    told        8 ms after the notice was written",
        "    resumed     from the checkpoint of step 91",
        "    training    again 11.9 s after the notice, on us-central1-b/g2-standard-4/spot",
        "  steps         200 of 200",
        "  work lost     none",
        "  goodput       40.0 % (21s of 53s)",
        "  time          finding machines 4.0s, starting 25s, training 21s, leaving 5.0s",
        "  left behind   nothing",
    ]


def test_what_was_left_is_named():
    assert "left behind   disk d in us-east1-b" in said(story(left=["disk d in us-east1-b"]))


def test_an_upper_bound_is_called_one():
    forecast = Forecast(usd_p50=1.0, usd_p90=1.0, p50_s=60.0, p90_s=60.0, is_of_work=False)
    assert "upper bound" in said(story(forecast=forecast))


def test_programs_get_the_same():
    told = json.loads(json.dumps(document(story())))
    assert told["usd"] == 0.017 and told["left_behind"] == []
    assert sum(told["times"].values()) == told["finish_s"]
    assert told["interruptions"][0]["next_offer"] == TAKEN.next_place
    assert told["refusals"][0]["offer"] == "us-central1-a/g2/spot"
