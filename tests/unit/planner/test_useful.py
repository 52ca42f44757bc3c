"""How long the work takes when nothing happens."""

from __future__ import annotations

import pytest

from plans import A100_80, H100, V5E, gang_of
from windlass.planner.gang import allreduce_s, compute_of_step_s, flops_per_s, step_s
from windlass.planner.priors import load_priors
from windlass.planner.useful import Amount, Reference, params_of, useful_time

PRIORS = load_priors()
REFERENCE = Reference(gang=gang_of(A100_80), step_s=1.9, source="spec")
STEPS = Amount(steps=1000, reference=REFERENCE)


def test_tokens_cost_six_operations_for_each_parameter():
    amount = Amount(params=7e9, tokens=2e10)
    found = useful_time(amount, gang_of(H100), PRIORS)
    assert found.work_s == pytest.approx(6 * 7e9 * 2e10 / (8 * 989e12 * 0.4), rel=0.01)


def test_the_reference_itself_takes_what_was_measured():
    found = useful_time(STEPS, gang_of(A100_80), PRIORS)
    assert (found.work_s, found.step_s) == (1900.0, 1.9)


def test_a_faster_chip_takes_less_by_its_peak_and_mfu():
    found = useful_time(STEPS, gang_of(H100), PRIORS)
    assert found.step_s == pytest.approx(1.9 * (312 * 0.45) / (989 * 0.4), rel=0.05)


def test_more_nodes_are_faster_but_never_more_than_in_proportion():
    times = [useful_time(STEPS, gang_of(H100, n), PRIORS).work_s for n in (1, 2, 4, 8, 16, 64)]
    assert times == sorted(times, reverse=True)
    assert times[0] <= times[-1] * 64 * 1.0001


def test_slow_links_show_when_a_step_has_little_to_compute():
    slow = Amount(params=7e10, tokens=1e9, steps=10_000)
    assert useful_time(slow, gang_of(H100, 64), PRIORS).scaling < 0.9


def test_the_size_of_the_model_is_inferred_from_the_reference():
    assert params_of(STEPS, PRIORS) == pytest.approx(
        1.9 * 8 * 312e12 * 0.45 / (6 * 8192 * 8), rel=1e-9
    )
    assert params_of(Amount(steps=5), PRIORS) is None


def test_too_little_is_no_estimate():
    assert useful_time(Amount(steps=5), gang_of(H100), PRIORS) is None


def test_one_chip_sums_nothing_and_a_slice_uses_its_own_links():
    assert allreduce_s(gang_of("us-central1-a/g2-standard-4/on-demand"), 1e9, PRIORS) == 0.0
    inside = allreduce_s(gang_of(V5E), 1e9, PRIORS)
    between = allreduce_s(gang_of(V5E, 2), 1e9, PRIORS)
    assert 0 < inside < between


def test_summing_grows_with_bytes_and_nodes():
    times = [allreduce_s(gang_of(H100, n), 14e9, PRIORS) for n in (1, 2, 4, 8)]
    assert times == sorted(times)
    assert allreduce_s(gang_of(H100, 2), 28e9, PRIORS) > times[1] * 1.9


@pytest.mark.parametrize("sum_s", [0.0, 0.1, 0.7, 2.0])
def test_what_was_computed_is_found_back_from_a_step(sum_s):
    step = step_s(1.0, sum_s, PRIORS.value("overlap"))
    assert compute_of_step_s(step, sum_s, PRIORS) == pytest.approx(1.0)


def test_an_unpublished_peak_has_no_speed():
    gang = gang_of(H100)
    without = gang._replace(chip=None)
    assert flops_per_s(without, PRIORS) is None
    assert useful_time(STEPS, without, PRIORS) is None
