"""What engines need of a project is told for each that rents from Google."""

from __future__ import annotations

import pytest

from windlass.catalog.load import load_catalog
from windlass.engines.registry import engine_names, google_engines, needs_of

CATALOG = load_catalog()


def test_one_word_means_all_engines_that_rent_from_google():
    assert set(google_engines()) <= set(engine_names())
    assert google_engines("compute") == ["compute"]
    assert google_engines("local") == []


@pytest.mark.parametrize("name", google_engines())
def test_every_need_is_named_as_google_names_it(name):
    needs = needs_of(name)
    assert all(api.endswith(".googleapis.com") for api in needs.apis)
    assert all(role.startswith("roles/") for role in needs.permissions.values())
    assert all(permission.count(".") == 2 for permission in needs.permissions)


@pytest.mark.parametrize(
    ("name", "offer"),
    [
        ("compute", "us-central1-a/a3-highgpu-8g/spot"),
        ("tpu", "us-west4-a/v5e-4/on-demand"),
    ],
)
def test_what_must_exist_has_an_url_and_a_fix(name, offer):
    probes = needs_of(name).probes(CATALOG, CATALOG.offer(offer), "p")
    assert probes
    assert all(probe.url.startswith("https://") and probe.fix for probe in probes)
