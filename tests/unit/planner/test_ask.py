"""A spec in the planner's own terms."""

from __future__ import annotations

import pytest

from plans import CHECKPOINT, WORK, make_spec, packaged
from windlass.catalog.model import Buy
from windlass.planner.ask import Circumstances, allowed_buys, make_ask, node_counts
from windlass.planner.history import History, MeasuredStep
from windlass.spec.model import Accelerators

REFERENCE = "work: {steps: 100, reference: {accelerators: A100-80:8, step_seconds: 1.9}}"


@pytest.mark.parametrize(
    ("low", "high", "counts"),
    [
        (1, 1, (1,)),
        (2, 5, (2, 3, 4, 5)),
        (1, 64, (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64)),
        (5, 40, (5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40)),
        (30, 50, (30, 32, 40, 48, 50)),
        (512, 512, (512,)),
    ],
)
def test_long_ranges_are_tried_in_steps_of_at_most_a_quarter(low, high, counts):
    assert node_counts(low, high) == counts


def test_spot_is_bearable_only_with_a_checkpoint():
    assert allowed_buys(make_spec()) == ("on-demand",)
    assert allowed_buys(make_spec(CHECKPOINT)) == ("spot", "on-demand")
    assert allowed_buys(make_spec("where: {buy: [flex-start]}")) == ("flex-start",)


def test_a_reservation_is_bought_as_on_demand():
    spec = make_spec("where: {buy: [reservation/mine, on-demand]}")
    ways = make_ask(spec, packaged(), Circumstances()).ways
    assert [(way.name, way.kind, way.order) for way in ways[Buy.ON_DEMAND]] == [
        ("reservation/mine", "reservation", 0),
        ("on-demand", "on-demand", 1),
    ]


def test_regions_are_patterns():
    ask = make_ask(make_spec("where: {regions: [us-*, europe-west4]}"), packaged(), Circumstances())
    assert ask.has_region("us-east4")
    assert ask.has_region("europe-west4")
    assert not ask.has_region("europe-west1")


def test_ones_own_step_times_replace_the_specs():
    mine = MeasuredStep(
        accelerators=Accelerators(name="H100", count=8, is_tpu=False), nodes=2, step_s=0.7
    )
    spec = make_spec(REFERENCE)
    told = make_ask(spec, packaged(), Circumstances()).amount.reference
    seen = make_ask(
        spec, packaged(), Circumstances(history=History(steps=(mine,)))
    ).amount.reference
    assert (told.source, told.step_s, told.gang.chip.name) == ("spec", 1.9, "A100-80")
    assert (seen.source, seen.step_s, seen.gang.nodes) == ("history", 0.7, 2)


def test_steps_without_any_time_of_a_step_say_nothing():
    assert make_ask(make_spec("work: {steps: 100}"), packaged(), Circumstances()).amount is None
    assert make_ask(make_spec(), packaged(), Circumstances()).amount is None
    assert make_ask(make_spec(WORK), packaged(), Circumstances()).amount is not None


def test_a_slice_can_be_the_reference():
    work = "work: {steps: 100, reference: {accelerators: v5e-16, step_seconds: 1.9}}"
    gang = make_ask(make_spec(work), packaged(), Circumstances()).amount.reference.gang
    assert (gang.chips, gang.hosts) == (16, 4)
