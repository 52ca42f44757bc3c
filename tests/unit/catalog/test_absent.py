"""What cannot be rented is explained, with what can."""

from __future__ import annotations

import pytest

from windlass.catalog.absent import nearest_counts, why_absent
from windlass.catalog.load import load_catalog
from windlass.spec.accelerators import accelerators


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("H100:8", None),
        ("v5e-16", None),
        ("GPU:1", None),
        ("H100:3", "H100:1, H100:2, H100:4, H100:8"),
        ("H100-MEGA:4", "H100-MEGA:8"),
        ("GPU:7", "no machine has 7 GPUs"),
        ("GB200:4", "with a reservation only"),
        ("GB300:4", "with a reservation only"),
        ("tpu7x-16", "has no price for tpu7x"),
    ],
)
def test_it_says_why_there_is_no_offer(asked, said):
    reason = why_absent(load_catalog(), accelerators(asked))
    assert reason is None if said is None else said in reason


def test_the_nearest_numbers_come_in_order():
    catalog = load_catalog()
    assert nearest_counts(catalog, accelerators("H100:3"), most=2) == (2, 4)
    assert nearest_counts(catalog, accelerators("v5p-1280"), most=3) == (1152, 1280, 1408)
    assert nearest_counts(catalog, accelerators("GB200:4")) == ()
