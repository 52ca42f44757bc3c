"""Where the figures behind a plan are from."""

from __future__ import annotations

import pytest

from windlass.catalog.load import load_catalog
from windlass.planner.ask import Circumstances
from windlass.planner.history import History, MeasuredStep, Seen
from windlass.planner.plan import make_plan
from windlass.planner.priors import load_priors
from windlass.planner.sources import assumptions, learned, sources
from windlass.spec.accelerators import accelerators
from windlass.spec.load import parse_spec

CATALOG = load_catalog()
PRIORS = load_priors()
SEEN = {("H100", "spot"): Seen(3, 40.0), ("v5e", "on-demand"): Seen(0, 9.0)}
STEPS = (MeasuredStep(accelerators("A100-80:8"), 1, 1.5),)
TEXT = """\
name: a
run: b
resources: {{accelerators: H100:8}}
where: {{buy: spot}}
{work}
"""


def plan(work: str, **history):
    spec = parse_spec(TEXT.format(work=work), path="a.yaml", folder=None)
    return make_plan(spec, CATALOG, Circumstances(history=History(**history)))


def test_without_history_everything_is_as_it_is_assumed():
    figures = assumptions(PRIORS, History())
    assert [figure.key for figure in figures] == list(PRIORS.entries)
    assert not any(figure.is_own for figure in figures)


def test_what_history_moves_stands_in_for_its_prior_or_beside_the_general_one():
    figures = {one.key: one for one in assumptions(PRIORS, History(seen=SEEN, steps=STEPS))}
    assert figures["hazard/spot/H100"].value == pytest.approx(5 / (2 / 0.06 + 40.0))
    assert figures["hazard/on-demand/v5e"].prior == PRIORS.find("hazard", "on-demand")
    assert figures["hazard/on-demand"].seen is None
    assert figures["step"].value == 1.5
    own = [key for key, figure in figures.items() if figure.is_own]
    assert own == ["step", "hazard/spot/H100", "hazard/on-demand/v5e"]


def test_a_plan_names_only_what_its_candidates_owe_to_history():
    tokens = plan("work: {params: 7e9, tokens: 1e9}", seen=SEEN, steps=STEPS)
    own = learned(tokens.ask, tokens.candidates[:3])
    assert [figure.key for figure in own] == ["hazard/spot/H100"]
    steps = plan("work: {steps: 100}", steps=STEPS)
    (step,) = learned(steps.ask, steps.candidates[:3])
    assert step.source == "your own runs: on 1 x A100-80:8"
    nothing = plan("work: {params: 7e9, tokens: 1e9}")
    assert learned(nothing.ask, nothing.candidates[:3]) == ()


def test_the_figures_behind_a_candidate_are_named_with_their_sources():
    found = plan("work: {params: 7e9, tokens: 1e9}", seen={("H100", "on-demand"): Seen(9, 1.0)})
    figures = sources(found.ask, found.candidates[0])
    assert [figure.key for figure in figures] == [
        "mfu/H100",
        "hazard/spot/H100",
        "first_wait/spot",
        "wait/spot",
        "start/gpu",
    ]
    assert not any(figure.is_own for figure in figures)


def test_the_price_of_an_hour_owes_nothing_to_them():
    found = plan("", seen=SEEN)
    assert sources(found.ask, found.candidates[0]) == ()
