"""Priors, and what one's own runs make of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from windlass.planner.history import History, Seen, hazard_per_node_h, make_history
from windlass.planner.priors import load_priors
from windlass.spec.canonical import to_json
from windlass.spec.model import Launch, Spec
from windlass.state.past import Held, Pace

PRIORS = load_priors()


def hazard(seen: Seen | None) -> float:
    history = History(seen={("H100", "spot"): seen}) if seen else History()
    return hazard_per_node_h(history, PRIORS, chip="H100", buy="spot")


def test_every_prior_says_where_it_is_from():
    for prior in PRIORS.entries.values():
        assert prior.value >= 0
        assert prior.unit
        assert prior.source


def test_a_missing_word_at_the_end_falls_back_to_the_general_figure():
    assert PRIORS.find("hazard", "spot", "L4").key == "hazard/spot"
    assert PRIORS.find("hazard", "spot", "V100").key == "hazard/spot/V100"
    assert PRIORS.find("hazard", "spot", "L4").is_assumption
    with pytest.raises(KeyError):
        PRIORS.find("nothing")


def test_without_history_the_prior_holds():
    assert hazard(None) == 0.06
    assert hazard(Seen()) == pytest.approx(0.06)


def test_history_takes_over_as_it_grows():
    assert hazard(Seen(preemptions=0, node_hours=100.0)) < 0.06
    assert hazard(Seen(preemptions=20, node_hours=100.0)) > 0.06
    assert hazard(Seen(preemptions=20_000, node_hours=100_000.0)) == pytest.approx(0.2, rel=0.01)


HELD = {
    "spot GPUs": (Held("H100:8", "spot", 4, 1, 7200.0), ("H100", "spot"), Seen(1, 8.0)),
    "spot slices go as a whole": (
        Held("v5e-16", "spot", 2, 3, 3600.0),
        ("v5e", "spot"),
        Seen(3, 2.0),
    ),
    "hosts of other slices fail one by one": (
        Held("v5e-16", "on-demand", 2, 1, 3600.0),
        ("v5e", "on-demand"),
        Seen(1, 8.0),
    ),
    "reservations are one way to buy": (
        Held("H100:8", "reservation/mine", 1, 0, 3600.0),
        ("H100", "reservation"),
        Seen(0, 1.0),
    ),
    "no accelerators": (Held("", "spot", 1, 0, 3600.0), ("cpu", "spot"), Seen(0, 1.0)),
    "accelerators of a later Windlass": (
        Held("Z900:8", "spot", 1, 0, 3600.0),
        ("Z900:8", "spot"),
        Seen(0, 1.0),
    ),
}


@pytest.mark.parametrize(("row", "key", "seen"), HELD.values(), ids=HELD)
def test_what_was_rented_counts_as_a_plan_counts(row, key, seen):
    assert make_history([row, row], [], spec=None).seen == {key: seen.plus(seen)}


SPEC = Spec(name="llm", run="python train.py", env={"BATCH": "8"})


def pace(spec: Spec = SPEC, *, on: str = "H100:8", step_s: float = 1.0) -> Pace:
    return Pace(to_json(spec), on, 2, step_s)


def test_steps_of_the_same_program_keep_their_order():
    limited = replace(SPEC, limits=replace(SPEC.limits, ttl_s=60.0), labels={"team": "nlp"})
    found = make_history([], [pace(limited), pace(on="v5e-16", step_s=3.0)], spec=SPEC)
    assert [str(step) for step in found.steps] == ["1 s on 2 x H100:8", "3 s on 2 x v5e-16"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"run": "python other.py"}, id="command"),
        pytest.param({"env": {"BATCH": "16"}}, id="environment"),
        pytest.param({"launch": Launch.JAX}, id="launcher"),
    ],
)
def test_steps_of_another_program_say_nothing(other):
    assert make_history([], [pace(replace(SPEC, **other))], spec=SPEC).steps == ()
    assert make_history([], [pace()], spec=None).steps == ()
