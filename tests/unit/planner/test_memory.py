"""Whether a model fits."""

from __future__ import annotations

import pytest

from plans import H100, L4, gang_of
from windlass.planner.memory import activation_bytes, least_nodes, memory_need
from windlass.planner.priors import load_priors

PRIORS = load_priors()


@pytest.mark.parametrize(
    ("params", "nodes", "fits"),
    [(7e9, 1, True), (30e9, 1, True), (70e9, 1, False), (70e9, 2, True), (405e9, 8, False)],
)
def test_states_are_split_over_all_chips(params, nodes, fits):
    assert memory_need(params, gang_of(H100, nodes), PRIORS).fits is fits


def test_the_sum_is_shown():
    said = memory_need(70e9, gang_of(H100), PRIORS).text()
    assert "7e+10 parameters x 16 bytes / 8 chips = 130.4 GiB of states" in said
    assert "H100 has 80 GiB" in said


def test_the_least_number_of_nodes_is_just_enough():
    needed = least_nodes(70e9, gang_of(H100), PRIORS)
    assert memory_need(70e9, gang_of(H100, needed), PRIORS).fits
    assert not memory_need(70e9, gang_of(H100, needed - 1), PRIORS).fits


def test_no_number_of_nodes_helps_when_activations_alone_are_too_large():
    assert least_nodes(1e13, gang_of(L4), PRIORS) is None


def test_activations_of_a_usual_model_are_of_a_usual_size():
    assert activation_bytes(7e9, PRIORS) == pytest.approx(0.86e9, rel=0.05)


def test_a_run_without_accelerators_needs_no_accelerator_memory():
    assert memory_need(7e9, gang_of(H100)._replace(chip=None), PRIORS) is None
