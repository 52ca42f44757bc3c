"""What the planner is told of a rehearsal's world, and what it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from windlass.catalog.load import chosen, load_catalog
from windlass.planner.priors import load_priors
from windlass.rehearsal.outlook import NEVER_PER_H, outlook
from windlass.twin.scenario.load import load_scenario


@pytest.fixture
def priors(tmp_path: Path):
    def read(text: str, *, delays: str = "short"):
        path = tmp_path / "scenario.yaml"
        path.write_text(text)
        catalog = load_catalog(chosen(tmp_path))
        scenario = load_scenario(path, catalog=catalog)
        return outlook(scenario, delays=delays, catalog=catalog).priors

    return read


def test_hazards_are_those_of_the_scenario(priors):
    found = priors("hazard:\n  - {what: L4, model: spot, per_hour: 3}\n")
    assert found.value("hazard", "spot", "L4") == pytest.approx(3600 / (1200 + 30))
    assert found.value("hazard", "spot", "H100") == NEVER_PER_H
    assert found.value("hazard", "on-demand") == load_priors().value("hazard", "on-demand")


def test_of_several_hazards_the_highest_counts(priors):
    text = "hazard:\n  - {what: L4, per_hour: 3}\n  - {what: L4, per_hour: 5, from: 1h}\n"
    assert priors(text).value("hazard", "spot", "L4") == pytest.approx(3600 / (720 + 30))


def test_a_notice_is_time_in_which_machines_are_held(priors):
    found = priors("notice: 10m\nhazard:\n  - {what: L4, model: spot, per_hour: 6}\n")
    assert found.value("hazard", "spot", "L4") == pytest.approx(3.0)


def test_what_happens_on_purpose_is_not_told(priors):
    assert priors("faults:\n  - {after: 1m, preempt: '*'}\n").value("hazard", "spot") == NEVER_PER_H


@pytest.mark.parametrize(
    ("text", "delays", "wait_s"),
    [("{}", "short", 1.0), ("{}", "google", 28.0), ("delays: {boot: 9s}", "google", 9.0)],
    ids=["short", "as at Google", "of the scenario"],
)
def test_waits_are_those_of_the_twin(priors, text, delays, wait_s):
    assert priors(text, delays=delays).value("first_wait", "spot") == wait_s
