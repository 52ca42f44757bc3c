from __future__ import annotations

import pytest

from slices import PROJECT, V4, Slices

VERSIONS = ("v1", "v2", "v2alpha1")


@pytest.mark.parametrize("version", VERSIONS)
def test_locations_are_the_zones_with_slices(version: str) -> None:
    twin = Slices()
    found = [one["locationId"] for one in twin.get("/locations", version=version)["locations"]]
    assert {V4, "us-central1-b", "europe-west4-a"} <= set(found)
    one = twin.get(f"/locations/{V4}", version=version)
    assert one["name"] == f"{PROJECT}/locations/{V4}"
    assert twin.ask("GET", "/locations/mars-west1-a", version=version)[0] == 403


@pytest.mark.parametrize("version", VERSIONS)
def test_accelerator_types_are_those_of_the_zone(version: str) -> None:
    twin = Slices()
    path = f"/locations/{V4}/acceleratorTypes"
    found = {one["type"]: one for one in twin.get(path, version=version)["acceleratorTypes"]}
    assert all(name.startswith("v4-") for name in found)
    assert twin.get(f"{path}/v4-8", version=version) == found["v4-8"]
    assert ("acceleratorConfigs" in found["v4-8"]) is (version != "v1")
    assert twin.ask("GET", f"{path}/v5p-8", version=version)[0] == 404


def test_accelerator_types_are_filtered_by_type() -> None:
    twin = Slices()
    path = f"/locations/{V4}/acceleratorTypes"
    found = twin.get(path, filter="type=v4-16")["acceleratorTypes"]
    assert [one["type"] for one in found] == ["v4-16"]


SOFTWARE = {
    "v1": ("tensorflowVersions", "2.14.0"),
    "v2": ("runtimeVersions", "tpu-vm-base"),
    "v2alpha1": ("runtimeVersions", "v2-alpha-tpuv6e"),
}


@pytest.mark.parametrize("version", SOFTWARE)
def test_software_is_listed_in_each_versions_words(version: str) -> None:
    twin = Slices()
    collection, known = SOFTWARE[version]
    path = f"/locations/{V4}/{collection}"
    found = twin.get(path, version=version)[collection]
    assert known in [one["version"] for one in found]
    assert twin.get(f"{path}/{known}", version=version)["version"] == known
    assert twin.ask("GET", f"{path}/no-such", version=version)[0] == 404


def test_there_are_no_reservations_and_an_account_of_the_services_own() -> None:
    twin = Slices()
    assert twin.get(f"/locations/{V4}/reservations", version="v2alpha1") == {}
    answer = twin.done("POST", f"/locations/{V4}:generateServiceIdentity", {})
    assert answer["identity"]["email"].endswith("@cloud-tpu.iam.gserviceaccount.com")
