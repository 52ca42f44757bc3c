"""Other prices are found with their source, and what is not there is not invented."""

from __future__ import annotations

import pytest

from windlass.catalog.committed import committed_usd_per_h
from windlass.catalog.load import load_catalog
from windlass.catalog.prices import Price


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def test_a_price_comes_with_its_source(catalog):
    assert catalog.other_prices.find("gcs_standard", "us-central1") == Price(
        item="gcs_standard",
        scope="us-central1",
        usd=0.02,
        unit="USD/GiB-month",
        source="Cyclenerd pricing.yml@fd66b26",
        date="2026-07-30",
        confidence="high",
    )


@pytest.mark.parametrize(
    ("item", "scopes", "expected"),
    [
        ("gcs_read_same_region", ("any", "region"), ("region", 0.0)),
        ("vertex_training_management_fee", ("any",), ("any", 0.15)),
        (
            "network_inter_region",
            ("north-america|north-america", "other"),
            ("north-america|north-america", 0.02),
        ),
        ("network_inter_region", ("nowhere|else", "other"), ("other", None)),
        ("gcs_standard", ("mars-north1",), None),
        ("no_such_item", ("any",), None),
        ("gcs_standard", (), None),
    ],
)
def test_prices_are_found_in_the_first_scope_that_has_one(catalog, item, scopes, expected):
    found = catalog.other_prices.find(item, *scopes)
    if expected is None:
        assert found is None
        return
    scope, usd = expected
    assert found.scope == scope
    assert usd is None or found.usd == usd


def test_local_ssd_is_priced_by_region(catalog):
    assert catalog.local_ssd["us-central1"].usd_per_gib_month == 0.08
    assert catalog.local_ssd["us-central1"].spot_usd_per_gib_month == 0.032
    assert len(catalog.local_ssd) == 42


def test_images_name_accelerators_as_specs_do(catalog):
    runtimes = {image.name: image.chips for image in catalog.images if image.kind == "tpu_runtime"}
    assert runtimes["v2-alpha-tpuv5-lite"] == ("v5e",)
    assert {chip for image in catalog.images for chip in image.chips} <= set(catalog.chips)


@pytest.mark.parametrize(
    ("offer_id", "years", "usd"),
    [
        ("us-central1-a/a3-highgpu-8g/on-demand", 1, 88.48999 * 0.63),
        ("us-central1-a/a3-highgpu-8g/on-demand", 3, 88.48999 * 0.45),
        ("us-east5-b/v6e-256/on-demand", 3, 691.2 * 0.45),
        ("us-central1-a/a3-highgpu-8g/on-demand", 2, None),
        ("us-central1-a/a3-highgpu-8g/spot", 1, None),
        ("us-central1-a/a3-highgpu-8g/flex-start", 3, None),
    ],
)
def test_only_on_demand_is_discounted_for_a_commitment(catalog, offer_id, years, usd):
    found = committed_usd_per_h(catalog.offer(offer_id), years)
    assert found == (None if usd is None else pytest.approx(usd))
