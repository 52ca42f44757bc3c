from __future__ import annotations

from vms import REGION, ZONE, Google, vm

ONE = f"{ZONE}/instances/one"
KEY = "twin-project/zones/us-central1-a/one"


def test_external_address_comes_and_goes() -> None:
    google = Google()
    google.insert_vm("one")
    assert "accessConfigs" not in google.vm("one")["networkInterfaces"][0]
    google.good("POST", f"{ONE}/addAccessConfig?networkInterface=nic0", {"name": "External NAT"})
    (config,) = google.vm("one")["networkInterfaces"][0]["accessConfigs"]
    assert config["natIP"]
    google.good("POST", f"{ONE}/deleteAccessConfig?networkInterface=nic0&accessConfig=x")
    assert "accessConfigs" not in google.vm("one")["networkInterfaces"][0]
    assert google.refused("POST", f"{ONE}/addAccessConfig?networkInterface=nic7", {})[0] == 400


def test_placement_policy_holds_so_many_and_stays_while_it_is_used() -> None:
    google = Google()
    placement = {"collocation": "COLLOCATED", "vmCount": 1}
    google.good(
        "POST", f"{REGION}/resourcePolicies", {"name": "p", "groupPlacementPolicy": placement}
    )
    policies = {"resourcePolicies": ["regions/us-central1/resourcePolicies/p"]}
    google.insert_vm("one")
    google.good("POST", f"{ONE}/addResourcePolicies", policies)
    full = {"name": "two", **vm(**policies)}
    assert google.refused("POST", f"{ZONE}/instances", full)[0] == 400
    assert google.refused("DELETE", f"{REGION}/resourcePolicies/p")[0] == 400
    google.good("POST", f"{ONE}/removeResourcePolicies", policies)
    google.good("DELETE", f"{REGION}/resourcePolicies/p")
    assert google.refused("POST", f"{REGION}/resourcePolicies", {"name": "q"})[0] == 400


def test_guest_attributes_are_read_by_path_and_go_with_the_instance() -> None:
    google = Google()
    google.insert_vm("one")
    instances = google.twin.compute.instances
    instance = instances.find(KEY)
    assert instance is not None
    assert google.refused("GET", f"{ONE}/getGuestAttributes")[0] == 404
    for name, value in (("hostkeys/rsa", "A"), ("hostkeys/ed25519", "B"), ("my/state", "up")):
        instances.guest_attributes.put(instance, name, value)
    found = google.get(f"{ONE}/getGuestAttributes?queryPath=hostkeys/")["queryValue"]["items"]
    assert [one["key"] for one in found] == ["ed25519", "rsa"]
    assert google.get(f"{ONE}/getGuestAttributes?variableKey=my/state")["variableValue"] == "up"
    instances.guest_attributes.drop(instance, "my/state")
    assert google.refused("GET", f"{ONE}/getGuestAttributes?variableKey=my/state")[0] == 404
    google.good("DELETE", ONE)
    google.insert_vm("one")
    assert google.refused("GET", f"{ONE}/getGuestAttributes")[0] == 404


def test_device_name_is_taken_once() -> None:
    google = Google()
    google.insert_vm("one")
    google.good("POST", f"{ZONE}/disks", {"name": "data"})
    body = {"source": "zones/us-central1-a/disks/data", "deviceName": "persistent-disk-0"}
    assert google.refused("POST", f"{ONE}/attachDisk", body)[0] == 400
    assert google.refused("POST", f"{ONE}/attachDisk", {})[0] == 400


def test_what_exists_at_google_and_not_here_is_told_apart() -> None:
    google = Google()
    google.insert_vm("one")
    code, message = google.refused("POST", f"{ONE}/setName", {"name": "two"})
    assert (code, "compute.instances.setName" in message) == (501, True)
