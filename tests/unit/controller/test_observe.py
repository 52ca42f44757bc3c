"""Views of runs: engines are asked together, folders after them, and doubt is kept apart."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from builders import make_attempt, make_claim
from controllers import GONE, PENDING, RUNNING, ToldEngine
from windlass.agent import layout
from windlass.controller.observe import CANNOT_LOOK, NOT_ASKED, NOT_FOUND, Observer
from windlass.controller.renting import Gang
from windlass.controller.view import Measured
from windlass.engines.base import Limits, Seen
from windlass.errors import CredentialsMissing, EngineTransient, OptionRefused
from windlass.spec.canonical import to_json
from windlass.spec.model import Limits as SpecLimits
from windlass.spec.model import Spec, Work
from windlass.state.model import RunState
from windlass.state.phases import AttemptPhase, ClaimPhase, RunPhase


@pytest.fixture
def observer(controller):
    return Observer(controller.site, on_bug=lambda *bug: controller.bugs.append(bug))


def state_of(controller, name="r", *, nodes=1, attempt=AttemptPhase.STARTING, **claim):
    """A run in its first attempt with one claim."""
    run = replace(controller.add(name, nodes=nodes), phase=RunPhase.STARTING, attempt=1)
    fields = {"engine": "told", "phase": ClaimPhase.SUBMITTED, "handle": f"{name}-1-0", **claim}
    return RunState(
        run=run, attempt=make_attempt(name, phase=attempt), claims=(make_claim(name, **fields),)
    )


def look(observer, state):
    (view,) = observer.look([state])
    return view


def test_every_engine_is_asked_once_for_all_runs(controller, observer):
    states = [state_of(controller, name) for name in "abc"]
    controller.engine.seen = {f"{name}-1-0": RUNNING for name in "abc"}
    views = list(observer.look(states))
    assert [view.state.run.id for view in views] == ["a", "b", "c"]
    assert controller.engine.looks == [("a-1-0", "b-1-0", "c-1-0")]


def test_a_claim_that_was_not_submitted_yet_is_not_gone(controller, observer):
    state = state_of(controller, handle="", phase=ClaimPhase.ASKED)
    (claim,) = look(observer, state).claims
    assert claim.observation == NOT_ASKED
    assert claim.gone_for_s is None


MUST_GO = {
    "ending": AttemptPhase.ENDING,
    "ended": AttemptPhase.ENDED,
    "out of the race": AttemptPhase.STARTING,
}


@pytest.mark.parametrize("phase", MUST_GO.values(), ids=MUST_GO)
def test_a_claim_without_a_handle_that_must_go_is_searched_for(controller, observer, phase):
    state = state_of(controller, handle="", phase=ClaimPhase.CANCELLING, attempt=phase)
    (claim,) = look(observer, state).claims
    assert (claim.observation, claim.handle) == (NOT_FOUND, "")
    controller.engine.seen["r-1-0"] = RUNNING
    (claim,) = look(observer, state).claims
    assert (claim.observation, claim.handle) == (RUNNING, "r-1-0")


def test_a_search_that_failed_is_no_proof(controller, observer):
    state = state_of(
        controller, handle="", phase=ClaimPhase.CANCELLING, attempt=AttemptPhase.ENDING
    )
    controller.engine.trouble = EngineTransient("no list")
    (claim,) = look(observer, state).claims
    assert claim.observation == NOT_ASKED
    assert claim.gone_for_s is None


TROUBLES = {
    "it cannot be asked": EngineTransient("no"),
    "we may not ask it": CredentialsMissing("no", remedy="log in"),
    "it has a bug": KeyError("oops"),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_an_engine_in_trouble_leaves_everything_unknown(controller, observer, trouble):
    controller.engine.trouble = trouble
    (claim,) = look(observer, state_of(controller)).claims
    assert claim.observation == CANNOT_LOOK
    assert claim.observation.seen is Seen.UNKNOWN


def test_gone_is_counted_from_its_first_sight(controller, observer):
    state = state_of(controller)
    controller.engine.seen["r-1-0"] = GONE
    assert look(observer, state).claims[0].gone_for_s == 0.0
    controller.clock.at += 7.0
    assert look(observer, state).claims[0].gone_for_s == 7.0


def test_nothing_is_read_for_a_claim_that_waits_in_a_queue(controller, observer):
    state = state_of(controller)
    controller.engine.seen["r-1-0"] = PENDING
    controller.cut_off.add("r")
    view = look(observer, state)
    assert view.claims[0].observation == PENDING
    assert view.winner is None


def test_there_is_a_view_of_every_node(controller, observer):
    state = state_of(controller, nodes=3)
    controller.engine.seen["r-1-0"] = RUNNING
    controller.leave("r", layout.heartbeat(1, "r-1-0", 1), {"beat": 1, "state": "ready"})
    nodes = look(observer, state).claims[0].nodes
    assert [node.state for node in nodes] == ["", "ready", ""]


def test_claims_that_are_gone_are_not_looked_at(controller, observer):
    state = state_of(controller, phase=ClaimPhase.GONE)
    assert look(observer, state).claims == ()
    assert controller.engine.looks == []


def test_a_run_that_cannot_be_read_or_understood_hides_no_other(controller, observer):
    far, good = state_of(controller, "far"), state_of(controller, "good")
    bad = state_of(controller, "bad")
    bad = replace(bad, run=replace(bad.run, spec="nonsense"))
    controller.engine.seen = {f"{name}-1-0": RUNNING for name in ("far", "good", "bad")}
    controller.cut_off.add("far")
    assert [view.state.run.id for view in observer.look([far, bad, good])] == ["good"]
    assert [name for name, _ in controller.bugs] == ["bad"]


def test_limits_and_restarts_come_with_the_view(controller, observer):
    view = look(observer, state_of(controller))
    assert view.limits == controller.engine.limits()
    assert view.restarts_max == 10


class Patient(ToldEngine):
    def limits(self):
        return Limits(nodes_max=9, start_timeout_s=900.0, stale_s=10.0, notice_s=5.0)


def test_a_run_with_claims_at_several_engines_has_the_patience_of_all(controller):
    engines = {"told": controller.engine, "patient": Patient()}
    observer = Observer(replace(controller.site, engine=engines.__getitem__), on_bug=print)
    state = state_of(controller)
    other = make_claim("r", index=1, engine="patient", phase=ClaimPhase.ASKED)
    limits = look(observer, replace(state, claims=(*state.claims, other))).limits
    assert (limits.start_timeout_s, limits.stale_s, limits.notice_s) == (900.0, 10.0, 30.0)


def test_nothing_is_read_for_a_claim_that_never_had_a_machine(controller, observer):
    controller.leave("r", layout.heartbeat(1, "r-1-0", 0), {"beat": 1, "state": "running"})
    state = state_of(controller, refused="out-of-stock", phase=ClaimPhase.CANCELLING)
    (claim,) = look(observer, state).claims
    assert claim.nodes[0].beat_age_s is None


def test_the_nodes_of_a_claim_are_those_of_what_it_rents(controller, observer):
    state = state_of(controller, offer="z/v5e-16/spot", accelerators="v5e-16")
    state = replace(state, claims=(replace(state.claims[0], nodes=2),))
    (claim,) = look(observer, state).claims
    assert len(claim.nodes) == 8


def test_saves_are_measured_where_money_depends_on_them(controller, observer):
    spec = Spec(name="r", run="true", limits=SpecLimits(budget_usd=5.0), work=Work(steps=100))
    options = json.dumps({"rented": Gang(offer="z/m/spot", buy="spot")._asdict()})
    run = controller.add(spec=to_json(spec), options=options)
    controller.start()
    said = {"step": 50, "event": "saved", "seconds": 4.0}
    controller.leave("r", f"{layout.rank(1, 'r-1-0', 0, 0)}/progress-00001.jsonl", said)
    state = RunState(run=replace(run, attempt=1), attempt=make_attempt(), claims=())
    expected = Measured(save_s=4.0, saved_share=0.5, done_share=0.5)
    assert look(observer, state).measured == expected
    free = replace(state, run=replace(state.run, id="s", options="{}"))
    assert look(observer, free).measured == Measured()


TROUBLES = {
    "nobody is logged in": (CredentialsMissing("no login", remedy="Log in."), "no login"),
    "the configuration is wrong": (OptionRefused("no project", remedy="Name it."), "no project"),
    "it passes by itself": (EngineTransient("503"), ""),
}


@pytest.mark.parametrize("handle", ["", "r-1-0"])
@pytest.mark.parametrize(("error", "said"), TROUBLES.values(), ids=TROUBLES)
def test_why_an_engine_cannot_be_asked_is_seen_until_it_can(
    controller, observer, error, said, handle
):
    state = state_of(controller, handle=handle, phase=ClaimPhase.CANCELLING)
    controller.engine.trouble = error
    (claim,) = look(observer, state).claims
    assert (claim.observation.seen, claim.trouble) == (Seen.UNKNOWN, said)
    assert not controller.bugs
    controller.engine.trouble = None
    assert look(observer, state).claims[0].trouble == ""
