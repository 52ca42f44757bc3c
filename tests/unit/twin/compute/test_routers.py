from __future__ import annotations

from vms import PROJECT, REGION, Google


def test_router_has_nats() -> None:
    google = Google()
    body = {"name": "r", "network": "global/networks/default", "nats": [{"name": "nat"}]}
    google.good("POST", f"{REGION}/routers", body)
    (nat,) = google.get(f"{REGION}/routers/r")["nats"]
    assert nat["natIpAllocateOption"] == "AUTO_ONLY"
    status = google.get(f"{REGION}/routers/r/getRouterStatus")["result"]
    assert status["natStatus"][0]["name"] == "nat"
    google.good("PATCH", f"{REGION}/routers/r", {"nats": []})
    assert google.get(f"{REGION}/routers/r")["nats"] == []


def test_addresses_differ_and_are_taken_once() -> None:
    google = Google()
    for name in ("a", "b"):
        google.good("POST", f"{REGION}/addresses", {"name": name})
    google.good("POST", f"{PROJECT}/global/addresses", {"name": "a"})
    paths = (f"{REGION}/addresses/a", f"{REGION}/addresses/b", f"{PROJECT}/global/addresses/a")
    found = [google.get(path)["address"] for path in paths]
    assert len(set(found)) == 3
    taken = {"name": "c", "address": found[0]}
    assert google.refused("POST", f"{REGION}/addresses", taken)[0] == 400
    inside = {"name": "d", "addressType": "INTERNAL"}
    google.good("POST", f"{REGION}/addresses", inside)
    assert google.get(f"{REGION}/addresses/d")["address"].startswith("10.")
    items = google.get(f"{PROJECT}/aggregated/addresses")["items"]
    assert sorted(items) == ["global", "regions/us-central1"]
