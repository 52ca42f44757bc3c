from __future__ import annotations

from typing import Any

import pytest

from vms import IMAGE, ZONE, Google, vm
from windlass.twin.compute.fingerprints import fingerprint

INSTANCES = f"{ZONE}/instances"
BAD: dict[str, tuple[dict[str, Any], int, str]] = {
    "no name": (vm(), 400, "resource.name"),
    "a name with capitals": ({"name": "One", **vm()}, 400, "resource.name"),
    "no machine type": ({"name": "one"}, 400, "resource.machineType"),
    "a type that is not": ({"name": "one", **vm("a9-megagpu-8g")}, 400, "machineType"),
    "a type of another zone": (
        {"name": "one", **vm("zones/us-east1-b/machineTypes/e2-small")},
        400,
        "us-east1-b",
    ),
    "an image that is not": (
        {
            "name": "one",
            **vm(disks=[{"boot": True, "initializeParams": {"sourceImage": IMAGE + "9"}}]),
        },
        404,
        "debian-129",
    ),
    "a bad label": ({"name": "one", **vm(labels={"Team": "x"})}, 400, "labels"),
    "a network that is not": (
        {"name": "one", **vm(networkInterfaces=[{"network": "global/networks/none"}])},
        400,
        "network",
    ),
    "a subnetwork that is not": (
        {
            "name": "one",
            **vm(networkInterfaces=[{"subnetwork": "regions/us-central1/subnetworks/x"}]),
        },
        400,
        "subnetwork",
    ),
    "a policy that is not": (
        {"name": "one", **vm(resourcePolicies=["regions/us-central1/resourcePolicies/x"])},
        404,
        "resourcePolicies/x",
    ),
    "a GPU that cannot migrate": (
        {"name": "one", **vm("g2-standard-4", scheduling={"onHostMaintenance": "MIGRATE"})},
        400,
        "onHostMaintenance",
    ),
    "GPUs on a type that takes none": (
        {"name": "one", **vm(guestAccelerators=[{"acceleratorType": "nvidia-l4"}])},
        400,
        "guestAccelerators",
    ),
    "a field that is not": ({"name": "one", "machineTipe": "e2-small"}, 400, "machineTipe"),
}


@pytest.mark.parametrize(("body", "status", "word"), BAD.values(), ids=BAD)
def test_bad_ask_is_refused_and_names_the_field(
    body: dict[str, Any], status: int, word: str
) -> None:
    code, message = Google().refused("POST", INSTANCES, body)
    assert code == status
    assert word in message


def test_name_is_taken_once() -> None:
    google = Google()
    google.insert_vm("one")
    code, message = google.refused("POST", INSTANCES, {"name": "one", **vm()})
    assert code == 409
    path = "projects/twin-project/zones/us-central1-a/instances/one"
    assert message == f"The resource '{path}' already exists"


def test_unknown_place_and_unknown_instance_are_told_apart() -> None:
    google = Google()
    elsewhere = INSTANCES.replace("us-central1-a", "us-central1-z")
    assert google.refused("GET", elsewhere)[0] == 400
    assert google.refused("GET", f"{INSTANCES}/none")[0] == 404


def test_quota_is_refused_in_the_operation() -> None:
    google = Google()
    google.twin.quotas.set_limit("us-central1", "NVIDIA_L4_GPUS", 1)
    google.insert_vm("one", machine_type="g2-standard-4")
    error = google.failed("POST", INSTANCES, {"name": "two", **vm("g2-standard-4")})
    assert error["code"] == "QUOTA_EXCEEDED"
    assert error["message"] == "Quota 'NVIDIA_L4_GPUS' exceeded.  Limit: 1.0 in region us-central1."
    info = error["errorDetails"][0]["quotaInfo"]
    assert (info["limit"], info["dimensions"]) == (1.0, {"region": "us-central1"})
    assert google.refused("GET", f"{INSTANCES}/two")[0] == 404


def test_stockout_is_refused_in_the_operation_with_its_details() -> None:
    google = Google()
    google.limit_room(0, zone="us-central1-a", what="nvidia-l4")
    status, operation = google.ask("POST", INSTANCES, {"name": "one", **vm("g2-standard-4")})
    assert (status, operation["httpErrorStatusCode"]) == (200, 503)
    error = operation["error"]["errors"][0]
    assert error["code"] == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
    (reason,) = [one["errorInfo"] for one in error["errorDetails"] if "errorInfo" in one]
    assert reason["metadatas"]["attachment"] == "nvidia-l4:1"
    other = INSTANCES.replace("us-central1-a", "us-central1-b")
    google.good("POST", other, {"name": "one", **vm("g2-standard-4")})


def test_start_may_find_no_room_again() -> None:
    google = Google()
    google.insert_vm("one")
    google.good("POST", f"{INSTANCES}/one/stop")
    google.limit_room(0)
    error = google.failed("POST", f"{INSTANCES}/one/start")
    assert error["code"].startswith("ZONE_RESOURCE_POOL_EXHAUSTED")
    assert google.vm("one")["status"] == "TERMINATED"


def test_labels_change_only_with_the_present_fingerprint() -> None:
    google = Google()
    google.insert_vm("one", labels={"a": "1"})
    old = google.vm("one")["labelFingerprint"]
    body = {"labels": {"a": "2"}, "labelFingerprint": old}
    google.good("POST", f"{INSTANCES}/one/setLabels", body)
    assert google.vm("one")["labels"] == {"a": "2"}
    code, message = google.refused("POST", f"{INSTANCES}/one/setLabels", body)
    assert (code, "fingerprint" in message) == (412, True)
    assert google.vm("one")["labels"] == {"a": "2"}


def test_fingerprint_may_come_back_in_the_other_alphabet() -> None:
    google = Google()
    # Labels whose fingerprint has one of the two letters that differ.
    labels = next(
        {"n": str(number)}
        for number in range(1000)
        if set("+/") & set(fingerprint([("n", str(number))]))
    )
    google.insert_vm("one", labels=labels)
    mark = google.vm("one")["labelFingerprint"].replace("+", "-").replace("/", "_")
    google.good("POST", f"{INSTANCES}/one/setLabels", {"labels": {}, "labelFingerprint": mark})


def test_protected_instance_is_not_deleted() -> None:
    google = Google()
    google.insert_vm("one", deletionProtection=True)
    assert google.refused("DELETE", f"{INSTANCES}/one")[0] == 400
    google.good("POST", f"{INSTANCES}/one/setDeletionProtection?deletionProtection=false")
    google.good("DELETE", f"{INSTANCES}/one")


def test_machine_type_changes_only_while_off() -> None:
    google = Google()
    google.insert_vm("one")
    body = {"machineType": "zones/us-central1-a/machineTypes/e2-medium"}
    assert google.refused("POST", f"{INSTANCES}/one/setMachineType", body)[0] == 400
    google.good("POST", f"{INSTANCES}/one/stop")
    google.good("POST", f"{INSTANCES}/one/setMachineType", body)
    assert google.vm("one")["machineType"].endswith("/e2-medium")


def test_machine_is_what_it_was_changed_to_when_it_starts_again() -> None:
    google = Google()
    google.insert_vm("one")
    google.good("POST", f"{INSTANCES}/one/stop")
    body = {"machineType": "zones/us-central1-a/machineTypes/n1-standard-4"}
    google.good("POST", f"{INSTANCES}/one/setMachineType", body)
    google.good("POST", f"{INSTANCES}/one/start")
    assert google.twin.fleet.all()[0].wanted.type == "n1-standard-4"


def test_instance_is_found_by_its_number_too() -> None:
    google = Google()
    number = google.insert_vm("one")["targetId"]
    assert google.vm(number)["name"] == "one"


def test_template_is_filled_in_and_the_ask_wins() -> None:
    google = Google()
    google.template("t", labels={"from": "template"})
    body = {"name": "one", "labels": {"from": "ask"}}
    path = f"{INSTANCES}?sourceInstanceTemplate=global/instanceTemplates/t"
    google.good("POST", path, body)
    shown = google.vm("one")
    assert shown["machineType"].endswith("/zones/us-central1-a/machineTypes/e2-small")
    assert shown["labels"] == {"from": "ask"}
