"""A run belongs to the cloud that it was submitted to, and nobody asks another one about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import make_charge, make_run
from controllers import GONE, RUNNING
from windlass.controller.clouds import cloud_here, elsewhere, is_within
from windlass.controller.explain import explain
from windlass.controller.explanation import Facts
from windlass.controller.loop import SWEEP_EVERY_S
from windlass.controller.presence import Presence
from windlass.controller.summons import Summons
from windlass.engines.base import Limits
from windlass.errors import OptionRefused, RunElsewhere
from windlass.state.phases import RunPhase, Wanted

TWIN = "twin:/somewhere/twin"


def test_the_environment_says_which_cloud_is_talked_to():
    assert cloud_here({}) == "google"
    assert cloud_here({"WINDLASS_CLOUD": TWIN}) == TWIN


@pytest.mark.parametrize(
    ("mark", "cloud", "expected"),
    [
        ("", "google", True),
        ("", TWIN, True),
        ("google", "google", True),
        ("google", TWIN, False),
        (TWIN, "google", False),
        (TWIN, TWIN, True),
        (TWIN, "twin:/another", False),
        (TWIN, "", True),
    ],
)
def test_what_has_a_mark_is_within_its_own_cloud_and_the_rest_within_any(mark, cloud, expected):
    assert is_within(make_run("r", cloud=mark), cloud) is expected
    assert is_within(make_charge("r", cloud=mark), cloud) is expected


def test_what_is_said_names_both_clouds_and_the_way():
    there = elsewhere(make_run("r", cloud=TWIN), here="google")
    assert there.message == (
        "r is on the twin in /somewhere/twin, and this command talks to Google Cloud"
    )
    assert "`windlass twin exec -- windlass …`" in there.remedy
    back = elsewhere(make_run("r", cloud="google"), here=TWIN)
    assert back.message.startswith("r is on Google Cloud, and this command talks to the twin in")
    assert "does not talk to the twin" in back.remedy


def test_an_explanation_says_what_the_store_knows_and_where_to_ask():
    run = make_run("r", cloud=TWIN, phase=RunPhase.RUNNING, attempt=1)
    told = explain(Facts(run=run, now=0.0, cloud="google"))
    assert told.headline == "r is running (attempt 1)."
    assert "nothing is asked or done about it from here" in told.why[0]
    assert told.next_commands == ("windlass twin exec -- windlass explain r",)
    assert explain(Facts(run=run, now=0.0, cloud=TWIN)).next_commands[0] == "windlass attach r"


# ---- the controller ------------------------------------------------------------------------------


class SharedLimits:
    """An engine that others rent from, too."""

    def __init__(self, engine) -> None:
        self._engine = engine

    def limits(self) -> Limits:
        return replace(self._engine.limits(), is_rented=True)

    def __getattr__(self, name):
        return getattr(self._engine, name)


def serve(controller, cloud):
    engine = SharedLimits(controller.engine)
    controller.site = replace(controller.site, cloud=cloud, engine=lambda name: engine)
    controller.new_loop()


def test_a_run_of_another_cloud_is_never_asked_for(controller):
    serve(controller, "google")
    controller.add("far", cloud=TWIN)
    controller.add("near", cloud="google")
    for _ in range(5):
        controller.tick(1.0)
    assert controller.engine.asked == ["near-1-0"]
    assert controller.run("far").phase is RunPhase.QUEUED
    assert controller.events("far") == ["noted"], "nothing but what its submitter wrote"


def test_a_run_of_another_cloud_is_neither_lost_nor_cancelled_and_goes_on_where_it_is(controller):
    serve(controller, TWIN)
    controller.add(cloud=TWIN)
    controller.tick()
    controller.start()
    controller.tick(0.1)
    before = controller.state()
    serve(controller, "google")
    controller.engine.seen = {}  # Google has never heard of it.
    controller.engine.looks.clear()
    controller.want("r", Wanted.STOP)
    for _ in range(5):
        controller.tick(SWEEP_EVERY_S)
    after = controller.state()
    assert (after.attempt, after.claims) == (before.attempt, before.claims)
    assert after.run.phase is RunPhase.RUNNING
    assert controller.engine.looks == [] and controller.engine.cancelled == []
    assert controller.loop.is_idle and not controller.loop.is_bound
    serve(controller, TWIN)
    controller.engine.seen = {"r-1-0": RUNNING}
    controller.tick(0.1)
    assert controller.loop.is_bound
    assert controller.engine.cancelled == [("r-1-0", False)], "the wish was kept for it"


def test_what_is_called_like_a_run_of_another_cloud_is_left_to_its_owner(controller):
    serve(controller, "google")
    ended = {"phase": RunPhase.SUCCEEDED, "ended_at": 1.0}
    controller.add("far", cloud=TWIN, **ended)
    controller.add("near", cloud="google", **ended)
    controller.engine.seen = {"far-1-0": RUNNING, "near-1-0": RUNNING, "stranger-1-0": RUNNING}
    controller.tick()
    assert [handle for handle, _ in controller.engine.cancelled] == ["near-1-0"]
    controller.engine.seen = dict.fromkeys(controller.engine.seen, GONE)


# ---- calling the controller ----------------------------------------------------------------------


@pytest.fixture
def google_serves(tmp_path):
    presence = Presence(tmp_path, cloud="google")
    assert presence.take()
    yield presence
    presence.release()


def summons(tmp_path, controller, cloud=TWIN) -> Summons:
    presence = Presence(tmp_path, cloud=cloud)
    return Summons(presence, {}, store=lambda: controller.store)


def test_a_run_for_another_cloud_is_refused_while_the_controller_is_bound(
    tmp_path, controller, google_serves
):
    ours = summons(tmp_path, controller)
    ours.check_free()
    controller.add("any")
    ours.check_free()
    controller.add("bound", cloud="google")
    with pytest.raises(OptionRefused, match=r"serves runs on Google Cloud \(bound\)"):
        ours.check_free()
    summons(tmp_path, controller, cloud="google").check_free()


def test_runs_at_google_come_first_also_when_their_controller_has_died(tmp_path, controller):
    controller.add("far", cloud=TWIN)
    summons(tmp_path, controller, cloud="google").check_free()
    summons(tmp_path, controller).check_free()
    controller.add("paid", cloud="google")
    with pytest.raises(OptionRefused, match="paid"):
        summons(tmp_path, controller).check_free()


def test_a_controller_that_was_not_started_on_demand_leaves_for_nobody(
    tmp_path, controller, google_serves
):
    google_serves.release()
    assert google_serves.take(is_lasting=True)
    with pytest.raises(OptionRefused, match="serves runs on Google Cloud,"):
        summons(tmp_path, controller).check_free()


def test_a_run_is_served_by_a_controller_of_its_cloud_only(tmp_path, controller, google_serves):
    ours = summons(tmp_path, controller)
    run = make_run("r", cloud=TWIN)
    assert not ours.is_served(run)
    assert ours.is_served(make_run("any"))
    with pytest.raises(RunElsewhere):
        ours.wake(make_run("g", cloud="google"))
