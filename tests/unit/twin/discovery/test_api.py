"""An API finds its methods by path, for every path that its document has."""

from __future__ import annotations

import re

import pytest

from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.documents import available

ALL = [(name, version) for name, versions in available().items() for version in versions]
IN_BUCKET = "/storage/v1/b/a-bucket/o"


def filled(path: str) -> str:
    """A path with something in the place of each variable."""
    return re.sub(r"\{\+?(\w+)\}", lambda found: f"a-{found[1].lower()}", path)


@pytest.mark.parametrize(("name", "version"), ALL, ids=[".".join(key) for key in ALL])
def test_every_method_is_found_by_its_path(name, version):
    api = load_api(name, version)
    missed = {}
    for method_id in api.method_ids:
        method = api.method(method_id)
        match = api.match(method.http_method, "/" + filled(api.service_path + method.flat_path))
        if match is None or match.method.id != method_id:
            missed[method_id] = match and match.method.id
    assert missed == {}


def test_a_variable_is_decoded_and_may_be_anything_but_empty():
    api = load_api("storage", "v1")
    match = api.match("GET", f"{IN_BUCKET}/a%2Fb%20c%3Ad")
    assert match is not None
    assert match.params == {"bucket": "a-bucket", "object": "a/b c:d"}
    assert api.match("GET", f"{IN_BUCKET}/a:b").params["object"] == "a:b"
    assert api.match("GET", f"{IN_BUCKET}/") is None
    assert api.match("GET", f"{IN_BUCKET}/a/b") is None


def test_a_resource_name_is_one_variable_with_slashes():
    match = load_api("tpu", "v2").match("GET", "/v2/projects/p/locations/z/nodes/n")
    assert match is not None
    assert match.params == {"name": "projects/p/locations/z/nodes/n"}
    assert match.method.id == "tpu.projects.locations.nodes.get"
    assert match.method.response == "Node"
    assert match.method.parameters["name"].required


def test_a_verb_is_no_part_of_the_name():
    match = load_api("tpu", "v2").match("POST", "/v2/projects/p/locations/z/nodes/n:stop")
    assert match is not None
    assert match.method.id == "tpu.projects.locations.nodes.stop"
    assert match.params == {"name": "projects/p/locations/z/nodes/n"}


def test_a_name_of_any_depth_is_found():
    path = "/v3/projects/p/metricDescriptors/custom.googleapis.com/a/b"
    match = load_api("monitoring", "v3").match("GET", path)
    assert match is not None
    assert match.params == {"name": path.removeprefix("/v3/")}


def test_a_name_in_the_middle_leaves_the_rest_to_the_others():
    path = "projects/p/zones/z/reservations/r/reservationBlocks/b/reservationSubBlocks/s"
    match = load_api("compute", "v1").match("GET", f"/compute/v1/{path}")
    assert match is not None
    assert match.method.id == "compute.reservationSubBlocks.get"
    assert match.params == {
        "project": "p",
        "zone": "z",
        "parentName": "reservations/r/reservationBlocks/b",
        "reservationSubBlock": "s",
    }


@pytest.mark.parametrize(
    ("http_method", "path", "part"),
    [
        ("POST", f"/upload{IN_BUCKET}", "simple"),
        ("POST", f"/resumable/upload{IN_BUCKET}", "resumable"),
        ("PUT", f"/upload{IN_BUCKET}", "resumable"),
        ("PUT", f"/resumable/upload{IN_BUCKET}", "resumable"),
        ("DELETE", f"/upload{IN_BUCKET}", "resumable"),
        ("POST", IN_BUCKET, ""),
    ],
)
def test_an_upload_has_paths_of_its_own(http_method, path, part):
    match = load_api("storage", "v1").match(http_method, path)
    assert match is not None
    assert (match.method.id, match.part) == ("storage.objects.insert", part)
    assert match.method.supports_media_upload


def test_a_download_has_a_path_of_its_own():
    match = load_api("storage", "v1").match("GET", f"/download{IN_BUCKET}/x")
    assert match is not None
    assert (match.method.id, match.part) == ("storage.objects.get", "download")
    assert match.method.supports_media_download


def test_a_path_says_what_may_be_done_with_it():
    api = load_api("storage", "v1")
    assert api.allows(f"{IN_BUCKET}/x") == {"GET", "PUT", "PATCH", "DELETE"}
    assert api.allows(IN_BUCKET) == {"GET", "POST"}
    assert api.allows("/storage/v1/nonsense") == set()


def test_an_api_is_read_once():
    assert load_api("tpu", "v1") is load_api("tpu", "v1")


@pytest.mark.parametrize("key", [("tpu", "v9"), ("file", "v1"), ("../api", "v1")])
def test_an_api_that_is_not_shipped_is_not_found(key):
    with pytest.raises(LookupError):
        load_api(*key)
