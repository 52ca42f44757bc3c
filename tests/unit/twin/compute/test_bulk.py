from __future__ import annotations

from typing import Any

from vms import REGION, ZONE, Google, vm


def _bulk(**more: Any) -> dict[str, Any]:
    return {"count": 4, "namePattern": "w-##", "instanceProperties": vm(), **more}


def _counts(operation: dict[str, Any]) -> dict[str, Any]:
    metadata = operation["instancesBulkInsertOperationMetadata"]["perLocationStatus"]
    (status,) = metadata.values()
    assert isinstance(status, dict)
    return status


def test_names_follow_the_pattern() -> None:
    google = Google()
    google.good("POST", f"{ZONE}/instances/bulkInsert", _bulk())
    names = [one["name"] for one in google.get(f"{ZONE}/instances")["items"]]
    assert names == ["w-01", "w-02", "w-03", "w-04"]


def test_all_or_none_are_made_where_no_fewer_are_said_to_do() -> None:
    google = Google()
    google.limit_room(3)
    _, operation = google.ask("POST", f"{ZONE}/instances/bulkInsert", _bulk())
    codes = [error["code"] for error in operation["error"]["errors"]]
    assert codes == ["VM_MIN_COUNT_NOT_REACHED", "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]
    assert "items" not in google.get(f"{ZONE}/instances")


def test_as_many_are_made_as_fit_where_fewer_do() -> None:
    google = Google()
    google.limit_room(3)
    operation = google.good("POST", f"{ZONE}/instances/bulkInsert", _bulk(minCount=2))
    counts = _counts(operation)
    assert (counts["createdVmCount"], counts["failedToCreateVmCount"]) == (3, 1)
    assert len(google.get(f"{ZONE}/instances")["items"]) == 3


def test_fewer_than_must_be_are_none() -> None:
    google = Google()
    google.limit_room(3)
    google.failed("POST", f"{ZONE}/instances/bulkInsert", _bulk(minCount=4))
    assert google.twin.fleet.counts() == (0, 0)


def test_quota_counts_for_all_together() -> None:
    google = Google()
    google.twin.quotas.set_limit("us-central1", "INSTANCES", 3)
    error = google.failed("POST", f"{ZONE}/instances/bulkInsert", _bulk())
    assert error["code"] == "QUOTA_EXCEEDED"


def test_region_takes_the_first_zone_with_room() -> None:
    google = Google()
    google.limit_room(0, zone="us-central1-a")
    google.good("POST", f"{REGION}/instances/bulkInsert", _bulk())
    assert "items" not in google.get(f"{ZONE}/instances")
    elsewhere = ZONE.replace("us-central1-a", "us-central1-b")
    assert len(google.get(f"{elsewhere}/instances")["items"]) == 4


def test_region_leaves_out_zones_that_are_denied() -> None:
    google = Google()
    denied = {"locations": {"zones/us-central1-a": {"preference": "DENY"}}}
    google.good("POST", f"{REGION}/instances/bulkInsert", _bulk(locationPolicy=denied))
    assert "items" not in google.get(f"{ZONE}/instances")


def test_one_name_that_is_taken_refuses_all() -> None:
    google = Google()
    google.insert_vm("w-03")
    assert google.refused("POST", f"{ZONE}/instances/bulkInsert", _bulk())[0] == 409
    assert google.twin.fleet.counts() == (0, 1)


def test_names_may_be_given_one_by_one() -> None:
    google = Google()
    body = {
        "count": 2,
        "perInstanceProperties": {"left": {}, "right": {}},
        "instanceProperties": vm(),
    }
    google.good("POST", f"{ZONE}/instances/bulkInsert", body)
    assert [one["name"] for one in google.get(f"{ZONE}/instances")["items"]] == ["left", "right"]
