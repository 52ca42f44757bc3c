"""The shipped catalog holds Google's list prices, and what is not published is unknown."""

from __future__ import annotations

import pytest

from windlass.catalog.load import load_catalog
from windlass.catalog.model import Buy
from windlass.spec.accelerators import accelerators
from windlass.spec.refused import Refused

# Offers and what Google's own list, or the snapshot's README, says of them.
LISTED = {
    "us-central1-a/a3-highgpu-8g/on-demand": 88.49,
    "us-central1-a/a3-highgpu-8g/spot": 52.962,
    "us-central1-a/a2-ultragpu-1g/on-demand": 5.0688,
    "us-east5-b/v6e-256/on-demand": 691.20,
    "us-central1-a/a2-highgpu-1g/on-demand": 3.6734,
    "us-central1-a/g2-standard-4/on-demand": 0.7068,
    "us-central1-b/g4-standard-48/on-demand": 4.50,
    "us-central1-a/n1-standard-4+T4:1/on-demand": 0.54,
    "us-central1-a/a3-megagpu-8g/on-demand": 93.4007,
    "us-central1-a/a3-megagpu-8g/flex-start": 40.32,
    "us-central1-b/a4-highgpu-8g/calendar": 90.216,
    "us-central1-b/a4-highgpu-8g/flex-start": 64.44,
    "us-east5-a/v6e-1/flex-start": 1.35,
}
# The types that people's notes on Google Cloud name in their tables.
GPU_NOTES = {
    "NVIDIA T4": ("n1-standard-", 16),
    "NVIDIA L4": ("g2-standard-", 24),
    "NVIDIA V100": ("n1-standard-", 16),
    "NVIDIA A100-40GB": ("a2-highgpu-", 40),
    "NVIDIA A100-80GB": ("a2-ultragpu-", 80),
    "NVIDIA H100-80GB": ("a3-highgpu-", 80),
}
# Memory is per chip; the notes print that of a core for v2 and v3.
TPU_NOTES = {
    "v2-8": (4, 1, 16),
    "v3-8": (4, 1, 32),
    "v4-8": (4, 1, 32),
    "v5e-4": (4, 1, 16),
    "v5p-8": (4, 1, 95),
    "v4-32": (16, 4, 32),
}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.mark.parametrize(("offer_id", "usd"), LISTED.items())
def test_a_price_is_the_one_on_googles_list(catalog, offer_id, usd):
    offer = catalog.offer(offer_id)
    assert offer.id == offer_id
    assert offer.usd_per_h == pytest.approx(usd, abs=6e-5 * max(1, usd))


@pytest.mark.parametrize(("name", "expected"), GPU_NOTES.items())
def test_every_gpu_that_notes_name_can_be_rented(catalog, name, expected):
    machine, memory_gib = expected
    found = catalog.offers(accelerators=[accelerators(name)])
    chip = catalog.chips[accelerators(name).name]
    if not found:  # Some are not rented one at a time.
        found = catalog.offers_with(chip.name)
    assert chip.memory_gib == memory_gib
    assert any(offer.machine.name.startswith(machine) for offer in found)
    assert {Buy.ON_DEMAND, Buy.SPOT} <= {o.buy for o in catalog.offers_with(chip.name)}


@pytest.mark.parametrize(("name", "expected"), TPU_NOTES.items())
def test_every_tpu_that_notes_name_can_be_rented(catalog, name, expected):
    found = catalog.offers(accelerators=[accelerators(name)])
    assert found
    for offer in found:
        assert (offer.chips, offer.hosts, offer.chip.memory_gib) == expected
        assert offer.label == name


def test_a_slice_that_only_notes_know_is_refused_with_the_nearest_ones():
    with pytest.raises(Refused) as caught:
        accelerators("v4-8192")
    assert "v4-6144" in caught.value.remedy


def test_what_is_not_published_is_unknown(catalog):
    assert catalog.chips["P4"].peak_tflops is None
    assert catalog.chips["T4"].scale_up_gb_per_s is None
    assert catalog.chips["T4"].has_bf16 is False
    assert catalog.chips["T4"].peak_tflops == 65
    assert catalog.machines["tpu-vm"].network_gbps is None
    assert catalog.machines["a4-highgpu-8g"].busbw_gb_per_s is None
    assert catalog.machines["e2-standard-4"].local_ssd_gib is None
    assert catalog.chips["v2"].quota[Buy.ON_DEMAND] is None
    assert catalog.offer("us-east1-d/v3-8/spot") is None


def test_what_cannot_be_ordered_on_demand_keeps_its_list_price(catalog):
    assert catalog.offer("us-central1-a/a3-highgpu-1g/on-demand") is None
    assert catalog.offer("us-central1-a/a3-highgpu-1g/spot").list_usd_per_h == 11.06125
    assert catalog.offer("us-central1-b/a4-highgpu-8g/spot").list_usd_per_h is None


def test_flex_start_and_calendar_are_offered_only_where_they_are_priced(catalog):
    later = [o for o in catalog.all_offers() if o.buy in (Buy.FLEX_START, Buy.CALENDAR)]
    assert {o.region for o in later} == {"us-central1", "us-east5"}
    assert {o.basis for o in later} == {"published", "derived"}
    assert {o.label for o in later if o.buy is Buy.CALENDAR} == {"a4-highgpu-8g"}
    assert {o.label for o in later if o.region == "us-east5"} == {"v6e-1"}


@pytest.mark.parametrize(
    ("offer_id", "metric"),
    [
        ("us-central1-a/a3-highgpu-8g/on-demand", "GPUS_PER_GPU_FAMILY:NVIDIA_H100"),
        ("us-central1-a/a3-highgpu-8g/flex-start", "PREEMPTIBLE_NVIDIA_H100_GPUS"),
        ("us-central1-b/a4-highgpu-8g/calendar", None),
        ("us-central1-a/v5e-16/spot", "TPUV5sPreemptibleLitepodPerProjectPerZoneForTPUAPI"),
        ("us-central1-a/e2-standard-4/spot", None),
    ],
)
def test_an_offer_names_the_quota_that_it_spends(catalog, offer_id, metric):
    assert catalog.offer(offer_id).quota_metric == metric


def test_what_is_rented_has_the_sizes_of_the_whole(catalog):
    offer = catalog.offer("us-east5-b/v6e-256/on-demand")
    assert (offer.chips, offer.hosts, offer.machine.chips) == (256, 64, 4)
    assert offer.slice.accelerator_type == "v6e-256"
    assert offer.slice.topology == "16x16"
    assert catalog.offer("us-central1-a/v5e-16/spot").slice.accelerator_type == "v5litepod-16"
    pair = catalog.offer("us-central1-a/n1-standard-8+T4:2/spot")
    assert (pair.chips, pair.hosts, pair.machine.name) == (2, 1, "n1-standard-8")
