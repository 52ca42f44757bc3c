from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doors import PROJECT, TOKEN, House
from windlass.twin.access.buckets import needed
from windlass.twin.messages import Request

HOST = "storage.googleapis.com"
OBJECTS = "/storage/v1/b/shelf/o"
UPLOAD = "/upload/storage/v1/b/shelf/o?uploadType=media&name=one"


@pytest.fixture
def house(tmp_path: Path) -> House:
    found = House(folder=tmp_path)
    found.good("POST", HOST, f"/storage/v1/b?project={PROJECT}", {"name": "shelf"})
    assert found.send("POST", HOST, UPLOAD, b"content").status == 200
    return found


def asked(house: House, email: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    token = TOKEN if email == house.cloud.settings.account else house.token_of(email)
    response = house.send(method, HOST, path, body, token=token)
    try:
        document = json.loads(response.content)  # type: ignore[arg-type]  # bytes where it is JSON
    except (TypeError, ValueError):
        document = None
    return response.status, document


CALLS = {
    "read": ("GET", f"{OBJECTS}/one?alt=media", None, "roles/storage.objectViewer"),
    "see": ("GET", f"{OBJECTS}/one", None, "roles/storage.objectViewer"),
    "list": ("GET", OBJECTS, None, "roles/storage.objectViewer"),
    "write": ("POST", UPLOAD, b"x", "roles/storage.objectCreator"),
    "delete": ("DELETE", f"{OBJECTS}/one", None, "roles/storage.objectUser"),
    "change": ("PATCH", f"{OBJECTS}/one", {"metadata": {}}, "roles/storage.objectAdmin"),
    "copy": ("POST", f"{OBJECTS}/one/copyTo/b/shelf/o/two", {}, "roles/storage.objectAdmin"),
    "see the bucket": ("GET", "/storage/v1/b/shelf", None, "roles/storage.admin"),
    "see its policy": ("GET", "/storage/v1/b/shelf/iam", None, "roles/storage.admin"),
    "read XML": ("GET", "/shelf/one", None, "roles/storage.objectViewer"),
    "list XML": ("GET", "/shelf", None, "roles/storage.objectViewer"),
    "write XML": ("PUT", "/shelf/two", b"x", "roles/storage.objectCreator"),
}


@pytest.mark.parametrize("where", ["project", "bucket"])
@pytest.mark.parametrize("name", CALLS)
def test_account_may_what_a_policy_allows_and_nothing_before(
    house: House, name: str, where: str
) -> None:
    method, path, body, role = CALLS[name]
    robot = house.robot()
    assert asked(house, robot, method, path, body)[0] == 403
    if where == "project":
        house.grant(robot, role)
    else:
        policy = house.good("GET", HOST, "/storage/v1/b/shelf/iam")
        policy["bindings"].append({"role": role, "members": [f"serviceAccount:{robot}"]})
        house.good("PUT", HOST, "/storage/v1/b/shelf/iam", policy)
    assert asked(house, robot, method, path, body)[0] in (200, 204)


WEAK = {
    "a reader does not write": ("roles/storage.objectViewer", "POST", UPLOAD, b"x"),
    "a reader does not delete": (
        "roles/storage.objectViewer",
        "DELETE",
        f"{OBJECTS}/one",
        None,
    ),
    "a writer does not read": ("roles/storage.objectCreator", "GET", f"{OBJECTS}/one", None),
    "an objects' owner does not delete buckets": (
        "roles/storage.objectAdmin",
        "DELETE",
        "/storage/v1/b/shelf",
        None,
    ),
    "nobody of another service does": ("roles/compute.admin", "GET", OBJECTS, None),
}


@pytest.mark.parametrize("name", WEAK)
def test_role_allows_no_more_than_it_says(house: House, name: str) -> None:
    role, method, path, body = WEAK[name]
    robot = house.robot()
    house.grant(robot, role)
    status, document = asked(house, robot, method, path, body)
    assert status == 403
    error = document["error"]
    assert "status" not in error
    assert error["errors"][0]["reason"] == "forbidden"
    assert error["message"].startswith(f"{robot} does not have storage.")


def test_refusal_in_xml_is_xml(house: House) -> None:
    token = house.token_of(house.robot())
    response = house.send("GET", HOST, "/shelf/one", token=token)
    assert response.status == 403
    assert isinstance(response.content, bytes)
    assert b"<Code>AccessDenied</Code>" in response.content


def test_default_account_of_machines_reads_and_writes(house: House) -> None:
    account = house.cloud.settings.default_service_account
    assert asked(house, account, "POST", UPLOAD, b"x")[0] == 200
    assert asked(house, account, "GET", f"{OBJECTS}/one?alt=media")[0] == 200


def test_caller_hears_only_of_what_it_may(house: House) -> None:
    path = (
        "/storage/v1/b/shelf/iam/testPermissions?permissions=storage.objects.get"
        "&permissions=storage.objects.delete"
    )
    robot = house.robot()
    assert "permissions" not in asked(house, robot, "GET", path)[1]
    house.grant(robot, "roles/storage.objectViewer")
    assert asked(house, robot, "GET", path)[1]["permissions"] == ["storage.objects.get"]
    owner = house.cloud.settings.account
    assert len(asked(house, owner, "GET", path)[1]["permissions"]) == 2


def test_denied_permission_is_denied_to_the_owner_too(house: House) -> None:
    house.twin.policies.deny("*", "storage.objects.get")
    owner = house.cloud.settings.account
    assert asked(house, owner, "GET", f"{OBJECTS}/one")[0] == 403
    assert asked(house, owner, "GET", OBJECTS)[0] == 200


@pytest.mark.parametrize("path", [OBJECTS, "/shelf/one"])
def test_storage_that_is_off_says_so_in_its_own_form(house: House, path: str) -> None:
    house.twin.apis.set(HOST, enabled=False)
    response = house.send("GET", HOST, path)
    content = bytes(response.content)  # type: ignore[arg-type]  # is bytes
    assert response.status == 403
    if path == OBJECTS:
        error = json.loads(content)["error"]
        assert (error["errors"][0]["reason"], "status" in error) == ("accessNotConfigured", False)
        assert "has not been used in project" in error["message"]
    else:
        assert content.startswith(b"<?xml")


SHAPES = {
    "GET /storage/v1/b": [("", "storage.buckets.list")],
    "POST /storage/v1/b": [("", "storage.buckets.create")],
    "POST /resumable/upload/storage/v1/b/a%2Fb/o": [("a/b", "storage.objects.create")],
    "PUT /upload/storage/v1/b/x/o": [("x", "storage.objects.create")],
    "GET /download/storage/v1/b/x/o/y": [("x", "storage.objects.get")],
    "POST /storage/v1/b/x/o/y/rewriteTo/b/z/o/w": [
        ("x", "storage.objects.get"),
        ("z", "storage.objects.create"),
    ],
    "POST /storage/v1/b/x/o/y/compose": [
        ("x", "storage.objects.get"),
        ("x", "storage.objects.create"),
    ],
    "PUT /storage/v1/b/x/iam": [("x", "storage.buckets.setIamPolicy")],
    "GET /": [("", "storage.buckets.list")],
    "PUT /x": [("", "storage.buckets.create")],
    "DELETE /x": [("x", "storage.buckets.delete")],
    "DELETE /x/y": [("x", "storage.objects.delete")],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_path_needs_what_google_documents(shape: str) -> None:
    method, path = shape.split()
    assert list(needed(Request(method=method, host=HOST, path=path))) == SHAPES[shape]


def test_bucket_may_be_in_the_hosts_name() -> None:
    request = Request(method="GET", host=f"x.{HOST}", path="/y/z")
    assert list(needed(request)) == [("x", "storage.objects.get")]
