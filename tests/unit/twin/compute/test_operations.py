from __future__ import annotations

from vms import ZONE, Google, vm
from windlass.twin.settings import Delays

UUID = "6f1ed002-ab5b-4f3f-8a8e-0c0a5d1f0a11"
DAY = 86_400


def test_operation_is_done_at_once_where_nothing_waits() -> None:
    operation = Google().insert_vm("one")
    assert (operation["status"], operation["operationType"]) == ("DONE", "insert")
    assert operation["targetLink"].endswith("/zones/us-central1-a/instances/one")


def test_operation_runs_as_long_as_it_takes() -> None:
    google = Google(delays=Delays(operation=3.0, boot=25.0))
    operation = google.insert_vm("one")
    path = f"{ZONE}/operations/{operation['name']}"
    assert google.get(path)["status"] == "RUNNING"
    assert google.good("POST", f"{path}/wait")["status"] == "RUNNING"
    assert google.vm("one")["status"] == "PROVISIONING"
    google.pass_time(25)
    assert google.get(path)["progress"] == 100
    assert google.vm("one")["status"] == "RUNNING"


def test_nobody_is_told_that_it_fails_before_it_has() -> None:
    google = Google(delays=Delays(operation=3.0))
    google.limit_room(0, zone="us-central1-a", what="nvidia-l4")
    body = {"name": "one", **vm("g2-standard-4")}
    operation = google.good("POST", f"{ZONE}/instances?requestId={UUID}", body)
    assert operation["status"] == "RUNNING" and "error" not in operation
    google.pass_time(3)
    _, ended = google.ask("GET", f"{ZONE}/operations/{operation['name']}")
    assert (ended["status"], ended["httpErrorStatusCode"]) == ("DONE", 503)
    assert ended["error"]["errors"][0]["code"].startswith("ZONE_RESOURCE_POOL_EXHAUSTED")


def test_same_request_id_starts_nothing_twice() -> None:
    google = Google()
    body = {"name": "one", **vm()}
    first = google.good("POST", f"{ZONE}/instances?requestId={UUID}", body)
    again = google.good("POST", f"{ZONE}/instances?requestId={UUID}", body)
    assert again["id"] == first["id"]
    assert len(google.get(f"{ZONE}/instances")["items"]) == 1
    gone = google.good("DELETE", f"{ZONE}/instances/one?requestId={UUID[:-1]}2")
    assert google.good("DELETE", f"{ZONE}/instances/one?requestId={UUID[:-1]}2") == gone


def test_operations_are_forgotten_after_two_weeks() -> None:
    google = Google()
    google.insert_vm("one")
    google.pass_time(13 * DAY)
    assert google.get(f"{ZONE}/operations")["items"]
    google.pass_time(2 * DAY)
    assert "items" not in google.get(f"{ZONE}/operations")


def test_operations_of_one_bulk_insert_are_found_by_their_group() -> None:
    google = Google()
    google.insert_vm("other")
    body = {"count": 2, "namePattern": "b-#", "instanceProperties": vm()}
    group = google.good("POST", f"{ZONE}/instances/bulkInsert", body)["operationGroupId"]
    query = f"filter=operationGroupId%20eq%20%22.*{group}.*%22"
    found = google.get(f"{ZONE}/operations?{query}")["items"]
    kinds = sorted(one["operationType"] for one in found)
    assert len(kinds) == 3
    assert all(one["operationGroupId"] == group for one in found)
