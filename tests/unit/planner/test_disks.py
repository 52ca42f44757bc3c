"""Boot disks by machine family."""

from __future__ import annotations

import pytest

from plans import WORK, make_spec, packaged
from windlass.planner.candidates import Candidate
from windlass.planner.disks import HYPERDISK, HYPERDISK_ONLY, PERSISTENT, boot_disk
from windlass.planner.plan import make_plan


def priced(accelerators: str, offer: str) -> Candidate:
    spec = make_spec(WORK, "where: {buy: [spot, on-demand]}", accelerators=accelerators)
    found = make_plan(spec, packaged()).candidates
    return next(one for one in found if one.id == offer)


@pytest.mark.parametrize("family", ["a2-ultra", "a3-high", "a3-mega", "g2", "n1", "c3", "ct5p"])
def test_most_families_boot_from_persistent_disks(family):
    assert boot_disk(family) == PERSISTENT


@pytest.mark.parametrize("family", ["a3-ultra", "a4", "g4", "ct6e", "tpu7x", "n4", "c4"])
def test_the_newest_take_hyperdisks_only(family):
    assert boot_disk(family) == HYPERDISK


def test_families_are_spelt_as_the_catalog_spells_them():
    sold = {machine.family for machine in packaged().machines.values()}
    newer_than_the_catalog = {"c4", "c4a", "c4d", "n4", "n4a", "n4d", "m4", "x4", "h4d"}
    assert HYPERDISK_ONLY - newer_than_the_catalog <= sold


def test_a_hyperdisk_is_priced_where_the_catalog_has_its_price():
    found = priced("H200:8", "us-central1-b/a3-ultragpu-8g/spot")
    assert found.lot.tariff.disk == "hyperdisk-balanced"
    assert found.rates.disk_per_h == pytest.approx(100 * 0.08 / 730)
    assert found.unpriced == ()


def test_elsewhere_the_total_is_a_lower_bound():
    found = priced("H200:8", "us-west1-c/a3-ultragpu-8g/spot")
    assert found.rates.disk_per_h == 0
    assert found.unpriced == ("boot disks (hyperdisk-balanced) in us-west1",)
