"""Offers are found by what a spec can ask, and nothing else comes with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from windlass.catalog.load import load_catalog
from windlass.spec.accelerators import accelerators

GIB = 1 << 30


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def labels(offers):
    return {offer.label for offer in offers}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["H100:8"], {"a3-highgpu-8g", "a3-edgegpu-8g"}),
        (["H100-MEGA:8"], {"a3-megagpu-8g"}),
        (["A100-80:8"], {"a2-ultragpu-8g"}),
        (["v5e-16"], {"v5e-16"}),
        (["v5litepod-16", "H200:8"], {"v5e-16", "a3-ultragpu-8g"}),
        (["L4:4"], {"g2-standard-48"}),
        (["GPU:16"], {"a2-megagpu-16g"}),
        (["GPU:16", "A100:16"], {"a2-megagpu-16g"}),
        (["H100:3"], set()),
        (["GB200:4"], set()),
        (["tpu7x-16"], set()),
    ],
)
def test_accelerators_are_found_in_exactly_that_number(catalog, asked, expected):
    found = catalog.offers(accelerators=[accelerators(text) for text in asked])
    assert labels(found) == expected
    assert len(found) == len({offer.id for offer in found})


def test_a_gpu_that_is_added_to_a_machine_names_both(catalog):
    found = catalog.offers(accelerators=[accelerators("V100:8")])
    assert labels(found) == {
        "n1-standard-32+V100:8",
        "n1-standard-64+V100:8",
        "n1-standard-96+V100:8",
        "n1-highmem-64+V100:8",
    }


def test_nothing_named_means_machines_without_accelerators(catalog):
    found = catalog.offers()
    assert len(found) == 2 * 1218
    assert {(offer.chip, offer.chips) for offer in found} == {(None, 0)}


@pytest.mark.parametrize(
    ("machine", "asked", "expected"),
    [
        ("a3-highgpu-8g", None, {"a3-highgpu-8g"}),
        ("ct6e-standard-8t", None, {"v6e-8"}),
        ("e2-standard-4", None, {"e2-standard-4"}),
        ("n1-standard-8", None, set()),
        ("n1-standard-8+T4:2", None, {"n1-standard-8+T4:2"}),
        ("n1-standard-8", "T4:2", {"n1-standard-8+T4:2"}),
        ("a3-highgpu-8g", "H100:8", {"a3-highgpu-8g"}),
        ("a3-highgpu-8g", "L4:1", set()),
        ("nonsense", None, set()),
    ],
)
def test_a_machine_type_narrows_down(catalog, machine, asked, expected):
    wanted = [accelerators(asked)] if asked else []
    assert labels(catalog.offers(accelerators=wanted, machine=machine)) == expected


def test_cpus_and_memory_are_of_one_host(catalog):
    assert labels(catalog.offers(cpus=44, memory_bytes=200 * GIB)) == {"c3-standard-88"}
    assert labels(catalog.offers(cpus=32.5)) == {"c3-standard-44", "c3-standard-88"}
    slices = [accelerators("v5e-8"), accelerators("v5e-16")]
    assert labels(catalog.offers(accelerators=slices, cpus=200)) == {"v5e-8"}


def test_numbers_in_which_a_chip_is_rented(catalog):
    assert catalog.counts("H100") == (1, 2, 4, 8)
    assert catalog.counts("v5e") == (1, 4, 8, 16, 32, 64, 128, 256)
    assert catalog.counts("GB200") == ()
    assert catalog.counts("nonsense") == ()


@pytest.mark.parametrize("offer_id", ["", "a/b/c", "us-central1-a/a3-highgpu-8g/weekly", "x"])
def test_an_id_that_is_none_finds_nothing(catalog, offer_id):
    assert catalog.offer(offer_id) is None


def test_a_catalog_of_other_offers_answers_the_same_questions(catalog):
    found = catalog.offers(accelerators=[accelerators("H100:8")])
    cheap = [replace(offer, usd_per_h=1.0) for offer in reversed(found)]
    other = catalog.with_offers([*cheap, *catalog.offers()])
    again = other.offers(accelerators=[accelerators("H100:8")])
    assert {offer.id for offer in again} == {offer.id for offer in found}
    assert {offer.usd_per_h for offer in again} == {1.0}
    assert len(other.offers()) == len(catalog.offers())
    assert other.offers(accelerators=[accelerators("L4:1")]) == []
    assert other.snapshot == catalog.snapshot
    assert other.other_prices is catalog.other_prices
