from __future__ import annotations

from slices import PROJECT, V4, Slices

OPERATIONS = f"/locations/{V4}/operations"


def test_operation_is_listed_read_cancelled_in_vain_and_deleted() -> None:
    twin = Slices()
    operation = twin.create("one", "v4-8")
    path = operation["name"].partition(PROJECT)[2]
    assert twin.get(path) == operation
    assert twin.get(OPERATIONS)["operations"] == [operation]
    assert twin.done("POST", f"{path}:cancel", {}) == {}
    assert twin.done("DELETE", path) == {}
    assert twin.ask("GET", path)[0] == 404
    assert twin.get(OPERATIONS) == {}


def test_operation_speaks_the_version_that_started_it() -> None:
    twin = Slices()
    twin.create("one", "v4-8")
    operation = twin.done("DELETE", f"/locations/{V4}/nodes/one", version="v1")
    kind = operation["metadata"]["@type"]
    assert kind == "type.googleapis.com/google.cloud.tpu.v1.OperationMetadata"
    assert operation["metadata"]["apiVersion"] == "v1"


def test_operation_is_forgotten_after_two_weeks() -> None:
    twin = Slices()
    operation = twin.create("one", "v4-8")
    twin.wait(14 * 86_400)
    assert twin.ask("GET", operation["name"].partition(PROJECT)[2])[0] == 404


def test_strange_project_is_denied_and_a_number_is_as_good_as_a_name() -> None:
    twin = Slices()
    twin.create("one", "v4-8")
    path = f"/locations/{V4}/nodes"
    status, answer = twin.ask("GET", path, project="projects/other")
    assert (status, answer["error"]["status"]) == (403, "PERMISSION_DENIED")
    number = f"projects/{twin.cloud.settings.project_number}"
    assert twin.ask("GET", path, project=number)[1] == twin.get(path)
