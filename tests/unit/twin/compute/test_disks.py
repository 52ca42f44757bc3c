from __future__ import annotations

from typing import Any

from vms import IMAGE, PROJECT, ZONE, Google, vm

DISKS = f"{ZONE}/disks"


def _names(google: Google) -> list[str]:
    return [one["name"] for one in google.get(DISKS).get("items", [])]


def _boot(**more: Any) -> dict[str, Any]:
    return {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}, **more}


def test_instance_brings_its_disks_along_and_takes_them_away() -> None:
    google = Google()
    google.insert_vm("one", disks=[_boot(), {"autoDelete": True}])
    assert _names(google) == ["one", "one-1"]
    disk = google.get(f"{DISKS}/one")
    assert disk["users"] == [google.vm("one")["selfLink"]]
    assert google.vm("one")["disks"][0]["source"] == disk["selfLink"]
    google.good("DELETE", f"{ZONE}/instances/one")
    assert _names(google) == []


def test_disk_outlives_its_instance_where_it_was_not_to_go_along() -> None:
    google = Google()
    google.insert_vm("one", disks=[_boot(autoDelete=False)])
    number = google.get(f"{DISKS}/one")["id"]
    google.good("DELETE", f"{ZONE}/instances/one")
    disk = google.get(f"{DISKS}/one")
    assert (disk["id"], "users" in disk) == (number, False)
    google.good("DELETE", f"{DISKS}/one")


def test_disk_in_use_is_not_deleted() -> None:
    google = Google()
    google.insert_vm("one")
    status, answer = google.ask("DELETE", f"{DISKS}/one")
    error = answer["error"]
    assert (status, error["errors"][0]["reason"]) == (400, "resourceInUseByAnotherResource")
    assert error["message"] == (
        "The disk resource 'projects/twin-project/zones/us-central1-a/disks/one' is already being "
        "used by 'projects/twin-project/zones/us-central1-a/instances/one'"
    )


def test_disk_moves_from_one_instance_to_another() -> None:
    google = Google()
    google.good("POST", DISKS, {"name": "data", "sizeGb": "20"})
    for name in ("one", "two"):
        google.insert_vm(name)
    body = {"source": "zones/us-central1-a/disks/data", "deviceName": "data"}
    google.good("POST", f"{ZONE}/instances/one/attachDisk", body)
    code, message = google.refused("POST", f"{ZONE}/instances/two/attachDisk", body)
    assert (code, "already being used" in message) == (400, True)
    google.good("POST", f"{ZONE}/instances/one/detachDisk?deviceName=data")
    google.good("POST", f"{ZONE}/instances/two/attachDisk", body)
    assert google.get(f"{DISKS}/data")["users"] == [google.vm("two")["selfLink"]]
    google.good("DELETE", f"{ZONE}/instances/two")
    assert "users" not in google.get(f"{DISKS}/data")


def test_disk_may_be_read_by_several_instances() -> None:
    google = Google()
    google.good("POST", DISKS, {"name": "data"})
    disk = {"source": "zones/us-central1-a/disks/data", "mode": "READ_ONLY"}
    for name in ("one", "two"):
        google.insert_vm(name, disks=[_boot(), disk])
    assert len(google.get(f"{DISKS}/data")["users"]) == 2


def test_disk_taken_out_of_its_instance_has_a_life_of_its_own() -> None:
    google = Google()
    google.insert_vm("one", disks=[_boot(), {"autoDelete": True}, {"autoDelete": True}])
    google.good("POST", f"{ZONE}/instances/one/detachDisk?deviceName=persistent-disk-1")
    assert [disk["source"].rpartition("/")[2] for disk in google.vm("one")["disks"]] == [
        "one",
        "one-2",
    ]
    assert "users" not in google.get(f"{DISKS}/one-1")
    google.good("DELETE", f"{ZONE}/instances/one")
    assert _names(google) == ["one-1"]


def test_boot_disk_of_a_running_instance_stays_in() -> None:
    google = Google()
    google.insert_vm("one")
    path = f"{ZONE}/instances/one/detachDisk?deviceName=persistent-disk-0"
    assert google.refused("POST", path)[0] == 400
    google.good("POST", f"{ZONE}/instances/one/stop")
    google.good("POST", path)
    assert google.refused("POST", f"{ZONE}/instances/one/detachDisk?deviceName=none")[0] == 400


def test_disk_grows_and_does_not_shrink() -> None:
    google = Google()
    google.insert_vm("one")
    google.good("POST", f"{DISKS}/one/resize", {"sizeGb": "50"})
    assert google.get(f"{DISKS}/one")["sizeGb"] == "50"
    assert google.vm("one")["disks"][0]["diskSizeGb"] == "50"
    assert google.refused("POST", f"{DISKS}/one/resize", {"sizeGb": "20"})[0] == 400


def test_name_of_a_disk_is_taken_once() -> None:
    google = Google()
    google.insert_vm("one")
    assert google.refused("POST", DISKS, {"name": "one"})[0] == 409
    google.good("POST", DISKS, {"name": "two"})
    assert google.refused("POST", DISKS, {"name": "two"})[0] == 409


def test_disk_that_is_not_there_is_told_of() -> None:
    google = Google()
    assert google.refused("GET", f"{DISKS}/none")[0] == 404
    disk = {"source": "zones/us-central1-a/disks/none"}
    body = {"name": "one", **vm(disks=[_boot(), disk])}
    code, message = google.refused("POST", f"{ZONE}/instances", body)
    assert (code, "resource.disks[1].source" in message) == (400, True)


def test_disk_is_as_large_as_the_snapshot_that_it_is_made_from() -> None:
    google = Google()
    google.good("POST", DISKS, {"name": "data", "sizeGb": "30"})
    google.good("POST", f"{DISKS}/data/createSnapshot", {"name": "then"})
    google.good("POST", DISKS, {"name": "copy", "sourceSnapshot": "global/snapshots/then"})
    assert google.get(f"{DISKS}/copy")["sizeGb"] == "30"
    gone = {"name": "none", "sourceSnapshot": "global/snapshots/none"}
    assert google.refused("POST", DISKS, gone)[0] == 404
    assert google.get(f"{PROJECT}/global/snapshots/then")["sourceDisk"].endswith("/disks/data")


def test_scratch_disks_are_no_disks() -> None:
    google = Google()
    google.insert_vm("one", disks=[_boot(), {"type": "SCRATCH", "autoDelete": True}])
    assert _names(google) == ["one"]
    google.good("DELETE", f"{ZONE}/instances/one")
    assert _names(google) == []
