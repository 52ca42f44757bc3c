from __future__ import annotations

import pytest

from windlass.twin.compute.links import BASE, last, normalised, parts

FULL = BASE + "projects/p/zones/z-a/machineTypes/e2-small"
FORMS = {
    "Google's own": FULL,
    "another endpoint": "http://127.0.0.1:8080/compute/v1/projects/p/zones/z-a/machineTypes/e2-small",
    "the endpoint at the root": "http://127.0.0.1:8080/projects/p/zones/z-a/machineTypes/e2-small",
    "beta": "https://compute.googleapis.com/compute/beta/projects/p/zones/z-a/machineTypes/e2-small",
    "without a host": "projects/p/zones/z-a/machineTypes/e2-small",
    "without a project": "zones/z-a/machineTypes/e2-small",
    "only the name": "e2-small",
}


@pytest.mark.parametrize("url", FORMS.values(), ids=FORMS)
def test_resources_are_kept_in_one_form(url: str) -> None:
    body = normalised({"machineType": url}, project="p", zone="z-a")
    assert body == {"machineType": FULL}


def test_what_users_write_is_left_alone() -> None:
    script = "curl http://127.0.0.1:8080/projects/p/x"
    body = {"metadata": {"items": [{"key": "startup-script", "value": script}]}}
    assert normalised(body, project="p", zone="z-a") == body


def test_template_has_no_zone_to_put_a_type_in() -> None:
    body = normalised({"machineType": "e2-small"}, project="p", zone="")
    assert body == {"machineType": "e2-small"}


def test_url_is_taken_apart() -> None:
    named = {"projects": "p", "zones": "z-a", "machineTypes": "e2-small"}
    assert (parts(FULL), last(FULL)) == (named, "e2-small")
    everywhere = parts(BASE + "projects/p/global/networks/default")
    assert everywhere == {"projects": "p", "networks": "default"}
