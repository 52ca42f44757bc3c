from __future__ import annotations

from typing import Any

from vms import PROJECT, REGION, ZONE, Google

NETWORKS = f"{PROJECT}/global/networks"
SUBNETWORKS = f"{REGION}/subnetworks"


def _own(google: Google, name: str = "own") -> None:
    google.good("POST", NETWORKS, {"name": name, "autoCreateSubnetworks": False})


def _subnetwork(**more: Any) -> dict[str, Any]:
    body = {"name": "sub", "network": "global/networks/own", "ipCidrRange": "10.0.0.0/24"}
    return {**body, **more}


def test_default_network_has_a_subnetwork_in_every_region_and_rules() -> None:
    google = Google()
    regions = google.get(f"{PROJECT}/regions")["items"]
    network = google.get(f"{NETWORKS}/default")
    assert len(network["subnetworks"]) == len(regions)
    first = google.get(f"{SUBNETWORKS}/default")
    assert (first["ipCidrRange"], first["gatewayAddress"]) == ("10.128.0.0/20", "10.128.0.1")
    rules = [one["name"] for one in google.get(f"{PROJECT}/global/firewalls")["items"]]
    assert rules == [
        "default-allow-icmp",
        "default-allow-internal",
        "default-allow-rdp",
        "default-allow-ssh",
    ]
    routes = google.get(f"{PROJECT}/global/routes")["items"]
    assert len(routes) == len(regions) + 1


def test_network_with_users_stays() -> None:
    google = Google()
    _own(google)
    google.good("POST", SUBNETWORKS, _subnetwork())
    code, message = google.refused("DELETE", f"{NETWORKS}/own")
    assert (code, "subnetworks/sub" in message) == (400, True)
    face = {"network": "global/networks/own", "subnetwork": "regions/us-central1/subnetworks/sub"}
    google.insert_vm("one", networkInterfaces=[face])
    assert google.refused("DELETE", f"{SUBNETWORKS}/sub")[0] == 400
    google.good("DELETE", f"{ZONE}/instances/one")
    google.good("DELETE", f"{SUBNETWORKS}/sub")
    google.good("DELETE", f"{NETWORKS}/own")


def test_network_goes_with_what_google_made_for_it() -> None:
    google = Google()
    google.good("POST", NETWORKS, {"name": "auto"})
    google.get(f"{SUBNETWORKS}/auto")
    google.good("DELETE", f"{NETWORKS}/auto")
    assert google.refused("GET", f"{SUBNETWORKS}/auto")[0] == 404


def test_default_network_stays_while_it_has_rules() -> None:
    google = Google()
    assert "firewall" in google.refused("DELETE", f"{NETWORKS}/default")[1]


def test_ranges_must_be_ranges_and_apart() -> None:
    google = Google()
    _own(google)
    google.good("POST", SUBNETWORKS, _subnetwork())
    for change in (
        {"name": "two", "ipCidrRange": "10.0.0.128/25"},
        {"name": "two", "ipCidrRange": "ten"},
        {"name": "two", "ipCidrRange": "10.1.0.0/24", "network": "global/networks/none"},
    ):
        assert google.refused("POST", SUBNETWORKS, _subnetwork(**change))[0] == 400


def test_subnetwork_grows_and_opens_google_to_machines_without_address() -> None:
    google = Google()
    _own(google)
    google.good("POST", SUBNETWORKS, _subnetwork())
    path = f"{SUBNETWORKS}/sub"
    assert google.refused("POST", f"{path}/expandIpCidrRange", {"ipCidrRange": "10.0.0.0/28"})
    google.good("POST", f"{path}/expandIpCidrRange", {"ipCidrRange": "10.0.0.0/20"})
    google.good("POST", f"{path}/setPrivateIpGoogleAccess", {"privateIpGoogleAccess": True})
    shown = google.get(path)
    assert (shown["ipCidrRange"], shown["privateIpGoogleAccess"]) == ("10.0.0.0/20", True)


def test_rule_says_what_it_allows_and_is_for_everybody_by_default() -> None:
    google = Google()
    rules = f"{PROJECT}/global/firewalls"
    google.good("POST", rules, {"name": "web", "allowed": [{"IPProtocol": "tcp"}]})
    rule = google.get(f"{rules}/web")
    assert (rule["sourceRanges"], rule["priority"]) == (["0.0.0.0/0"], 1000)
    assert google.refused("POST", rules, {"name": "none"})[0] == 400
    google.insert_vm("one")
    path = f"{ZONE}/instances/one/getEffectiveFirewalls?networkInterface=nic0"
    assert google.get(path)["firewalls"][0]["name"] == "web"


def test_instance_in_the_default_network_says_so() -> None:
    google = Google()
    google.insert_vm("one", networkInterfaces=[{"accessConfigs": [{"name": "External NAT"}]}])
    (face,) = google.vm("one")["networkInterfaces"]
    assert face["network"].endswith("/global/networks/default")
    assert face["subnetwork"].endswith("/regions/us-central1/subnetworks/default")
    assert face["accessConfigs"][0]["natIP"]
