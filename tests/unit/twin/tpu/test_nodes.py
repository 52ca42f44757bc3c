from __future__ import annotations

from pathlib import Path

import pytest

from buckets import HandClock
from slices import PROJECT, V4, V5E, Bodies, Slices
from windlass.twin.market import Rule
from windlass.twin.settings import Delays

SLOW = Delays(operation=3.0, stop=20.0, tpu=150.0)
NODES = f"/locations/{V4}/nodes"


def test_node_is_ready_at_once_where_nothing_waits() -> None:
    twin = Slices()
    operation = twin.create("one", "v4-8")
    assert operation["done"] is True
    assert operation["metadata"]["verb"] == "create"
    assert operation["response"]["@type"] == "type.googleapis.com/google.cloud.tpu.v2.Node"
    node = twin.node("one")
    assert (node["state"], node["health"]) == ("READY", "HEALTHY")
    assert node["acceleratorConfig"] == {"type": "V4", "topology": "2x2x1"}
    assert node["networkEndpoints"][0]["accessConfig"]["externalIp"]


def test_node_is_creating_until_its_machines_have_booted() -> None:
    twin = Slices(delays=SLOW)
    operation = twin.create("one", "v4-8")
    assert (operation["done"], twin.node("one")["state"]) == (False, "CREATING")
    name = operation["name"].partition(PROJECT)[2]
    assert not name.rpartition("/")[2].isdecimal()
    twin.wait(149)
    assert twin.get(name)["done"] is False
    twin.wait(2)
    assert (twin.get(name)["done"], twin.node("one")["state"]) == (True, "READY")
    assert twin.get(name)["response"]["state"] == "READY"


def test_slice_has_one_machine_and_one_endpoint_for_each_host() -> None:
    twin = Slices()
    twin.create("pod", "v4-32")
    assert len(twin.workers("pod")) == 4
    endpoints = twin.node("pod")["networkEndpoints"]
    assert len({one["ipAddress"] for one in endpoints}) == 4


def test_slice_is_counted_and_billed_once() -> None:
    twin = Slices()
    twin.create("pod", "v4-32")
    metric = "TPUV4sPodPerProjectPerZoneForTPUAPI"
    assert twin.quotas.usage(V4, metric) == 16
    twin.market.add(Rule(what="v4-32", room=2))
    wanted = twin.workers("pod")[0].wanted
    assert twin.market.room(wanted) == 1
    twin.wait(3600)
    twin.done("DELETE", f"{NODES}/pod")
    assert twin.quotas.usage(V4, metric) == 0
    (line,) = twin.billing.lines()
    assert (line["type"], line["hours"]) == ("v4-32", pytest.approx(1.0))
    assert line["usd"] == pytest.approx(twin.billing.usd_per_h(wanted))


SHAPES = {
    "v1": ("serviceAccount", str),
    "v2": ("serviceAccount", dict),
    "v2alpha1": ("serviceAccount", dict),
}


@pytest.mark.parametrize("version", SHAPES)
def test_each_version_shows_nodes_in_its_own_shape(version: str) -> None:
    twin = Slices()
    more = {"bootDiskConfig": {"customerEncryptionKey": {"kmsKeyName": "k"}}, "tags": ["a"]}
    twin.create("one", "v4-8", **more)
    field, kind = SHAPES[version]
    node = twin.node("one", version=version)
    assert isinstance(node[field], kind)
    listed = twin.get(NODES, version=version)["nodes"]
    assert listed == [node]


def test_first_version_shows_software_and_address_by_its_own_names() -> None:
    twin = Slices()
    twin.create("one", "v4-8")
    node = twin.node("one", version="v1")
    assert node["tensorflowVersion"] == "tpu-ubuntu2204-base"
    assert node["ipAddress"] == node["networkEndpoints"][0]["ipAddress"]
    assert node["port"] == "8470"


def test_first_version_denies_new_nodes_as_google_does_today() -> None:
    twin = Slices()
    status, answer = twin.ask("POST", NODES, {"acceleratorType": "v4-8"}, version="v1", nodeId="x")
    assert (status, answer["error"]["status"]) == (400, "FAILED_PRECONDITION")
    assert "has been denied" in answer["error"]["message"]


def test_list_of_all_zones_has_nodes_of_each() -> None:
    twin = Slices()
    twin.create("one", "v4-8")
    twin.create("two", "v5litepod-4", zone=V5E)
    names = [node["name"] for node in twin.get("/locations/-/nodes")["nodes"]]
    assert [name.rpartition("/")[2] for name in names] == ["one", "two"]


def test_list_is_paged() -> None:
    twin = Slices()
    for number in range(3):
        twin.create(f"n{number}", "v4-8")
    first = twin.get(NODES, pageSize="2")
    rest = twin.get(NODES, pageSize="2", pageToken=first["nextPageToken"])
    assert (len(first["nodes"]), len(rest["nodes"])) == (2, 1)
    assert "nextPageToken" not in rest


def test_topology_names_a_slice_too() -> None:
    twin = Slices()
    config = {"type": "V4", "topology": "2x2x2"}
    twin.create("one", "", acceleratorConfig=config)
    assert twin.node("one")["acceleratorType"] == "v4-16"


REFUSED = {
    "name in use": ("taken", {"acceleratorType": "v4-8"}, 409, "ALREADY_EXISTS", "already exists"),
    "slice of another zone": (
        "x",
        {"acceleratorType": "v5p-8"},
        400,
        "INVALID_ARGUMENT",
        "the accelerator v5p-8 was not found in zone us-central2-b",
    ),
    "unknown software": (
        "x",
        {"acceleratorType": "v4-8", "runtimeVersion": "no-such"},
        400,
        "INVALID_ARGUMENT",
        'The field "RuntimeVersion" cannot be "no-such"',
    ),
    "name with capitals": ("Big", {"acceleratorType": "v4-8"}, 400, "INVALID_ARGUMENT", "node_id"),
    "field that there is not": ("x", {"chips": 3}, 400, "INVALID_ARGUMENT", 'Unknown name "chips"'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_ask_is_refused_in_googles_words(case: str) -> None:
    name, body, code, word, text = REFUSED[case]
    twin = Slices()
    twin.create("taken", "v4-8")
    full = {"runtimeVersion": "tpu-vm-base", **body}
    status, answer = twin.ask("POST", NODES, full, nodeId=name)
    assert (status, answer["error"]["status"]) == (code, word)
    assert text in answer["error"]["message"]


def test_missing_node_and_place_are_refused() -> None:
    twin = Slices()
    status, answer = twin.ask("GET", f"{NODES}/nope")
    resource = f"{PROJECT}/locations/{V4}/nodes/nope"
    assert (status, answer["error"]["message"]) == (404, f"Resource '{resource}' was not found")
    assert answer["error"]["details"][0]["resourceName"] == resource
    status, answer = twin.ask("GET", "/locations/mars-west1-a/nodes")
    assert (status, answer["error"]["status"]) == (403, "PERMISSION_DENIED")


def test_stockout_is_an_error_of_the_operation_and_leaves_nothing() -> None:
    twin = Slices(delays=SLOW)
    twin.market.add(Rule(zone=V4, what="v4-8", room=0))
    operation = twin.create("one", "v4-8")
    assert operation["done"] is False
    twin.wait(4)
    operation = twin.get(operation["name"].partition(PROJECT)[2])
    assert operation["error"]["code"] == 8
    start = f'There is no more capacity in the zone "{V4}"; you can try in another zone'
    assert operation["error"]["message"].startswith(start)
    assert twin.ask("GET", f"{NODES}/one")[0] == 404


def test_reserved_capacity_is_short_in_other_words() -> None:
    twin = Slices()
    twin.market.add(Rule(model="RESERVATION_BOUND", room=0))
    operation = twin.create("one", "v4-8", schedulingConfig={"reserved": True})
    assert "Insufficient reserved capacity" in operation["error"]["message"]


def test_quota_is_refused_at_once_in_chips_of_the_zone() -> None:
    twin = Slices()
    twin.quotas.set_limit(V4, "TPUV4sPodPerProjectPerZoneForTPUAPI", 16)
    twin.create("one", "v4-16")
    body = {"acceleratorType": "v4-32", "runtimeVersion": "tpu-vm-base"}
    status, answer = twin.ask("POST", NODES, body, nodeId="two")
    assert (status, answer["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
    assert answer["error"]["message"] == (
        "Quota limit 'TPUV4sPodPerProjectPerZoneForTPUAPI' has been exceeded. "
        f"Limit: 16 in zone {V4}."
    )
    twin.create("spot", "v4-32", schedulingConfig={"spot": True})


def test_preemption_of_one_worker_takes_the_whole_slice() -> None:
    bodies = Bodies()
    twin = Slices(bodies=bodies)
    twin.create("pod", "v4-32", schedulingConfig={"spot": True})
    twin.fleet.preempt(twin.workers("pod")[2])
    assert sorted(bodies.warnings) == sorted(one.id for one in twin.workers("pod"))
    assert twin.node("pod")["state"] == "READY"
    assert twin.tpu.guest.described(twin.workers("pod")[0]).is_preempted
    twin.wait(31)
    assert twin.node("pod")["state"] == "PREEMPTED"
    assert twin.fleet.counts() == (0, 0)
    twin.wait(86_400)
    assert twin.node("pod")["state"] == "PREEMPTED"
    twin.done("DELETE", f"{NODES}/pod")
    assert twin.fleet.all() == []


def test_worker_that_shuts_down_early_leaves_the_others_their_notice() -> None:
    bodies = Bodies()
    twin = Slices(bodies=bodies)
    twin.create("pod", "v4-16", schedulingConfig={"spot": True})
    first, second = twin.workers("pod")
    twin.fleet.preempt(first)
    bodies.exits[first.id] = 0
    twin.fleet.poll()
    assert (first.is_live, second.is_live) == (False, True)
    assert twin.node("pod")["state"] == "READY"
    twin.wait(31)
    assert twin.node("pod")["state"] == "PREEMPTED"


def test_worker_that_turns_itself_off_ends_the_node() -> None:
    bodies = Bodies()
    twin = Slices(bodies=bodies)
    twin.create("pod", "v4-16")
    bodies.exits[twin.workers("pod")[1].id] = 0
    twin.fleet.poll()
    assert twin.node("pod")["state"] == "TERMINATED"
    assert twin.fleet.counts() == (0, 0)


def test_hazard_counts_once_for_a_slice_however_many_hosts_it_has() -> None:
    twin = Slices()
    twin.market.add(Rule(model="SPOT", hazard_per_h=1.0))
    ends = []
    for number in range(60):
        twin.create(f"pod{number}", "v4-64", schedulingConfig={"spot": True})
    for _ in range(40):
        twin.wait(360)
        gone = [node for node in twin.get(NODES)["nodes"] if node["state"] == "PREEMPTED"]
        ends.append(len(gone))
    assert 30 <= ends[9] <= 46, "about 1 - 1/e of 60 within an hour"


def test_market_that_shrinks_takes_slices_back() -> None:
    twin = Slices()
    for number in range(3):
        twin.create(f"pod{number}", "v4-32", schedulingConfig={"spot": True})
    twin.market.add(Rule(what="v4-32", model="SPOT", room=1, since=twin.clock.at + 60))
    twin.wait(100)
    states = [node["state"] for node in twin.get(NODES)["nodes"]]
    assert sorted(states) == ["PREEMPTED", "PREEMPTED", "READY"]


def test_stopped_node_starts_again_when_there_is_room() -> None:
    twin = Slices(delays=SLOW)
    twin.create("one", "v4-8")
    twin.wait(151)
    twin.done("POST", f"{NODES}/one:stop", {})
    assert twin.node("one")["state"] == "STOPPING"
    twin.wait(21)
    assert twin.node("one")["state"] == "STOPPED"
    assert "externalIp" not in twin.node("one")["networkEndpoints"][0]["accessConfig"]
    rule = Rule(what="v4-8", room=0, until=twin.clock.at + 60)
    twin.market.add(rule)
    failed = twin.done("POST", f"{NODES}/one:start", {})
    twin.wait(61)
    assert twin.get(failed["name"].partition(PROJECT)[2])["error"]["code"] == 8
    twin.done("POST", f"{NODES}/one:start", {})
    assert twin.node("one")["state"] == "STARTING"
    twin.wait(151)
    assert twin.node("one")["state"] == "READY"


def test_slice_of_several_hosts_cannot_be_stopped() -> None:
    twin = Slices()
    twin.create("pod", "v4-32")
    status, answer = twin.ask("POST", f"{NODES}/pod:stop", {})
    assert (status, answer["error"]["status"]) == (400, "FAILED_PRECONDITION")


def test_delete_takes_its_time_and_ends_a_creation_that_waits() -> None:
    twin = Slices(delays=SLOW)
    created = twin.create("one", "v4-8")
    deleted = twin.done("DELETE", f"{NODES}/one")
    assert twin.node("one")["state"] == "DELETING"
    twin.wait(21)
    assert twin.ask("GET", f"{NODES}/one")[0] == 404
    assert twin.get(created["name"].partition(PROJECT)[2])["error"]["code"] == 10
    operation = twin.get(deleted["name"].partition(PROJECT)[2])
    assert operation["response"] == {"@type": "type.googleapis.com/google.protobuf.Empty"}


def test_patch_changes_what_the_mask_names() -> None:
    twin = Slices()
    twin.create("one", "v4-8", labels={"a": "b"}, description="old")
    body = {"labels": {"c": "d"}, "description": "new"}
    operation = twin.done("PATCH", f"{NODES}/one", body, updateMask="labels")
    assert operation["response"]["labels"] == {"c": "d"}
    assert twin.node("one")["description"] == "old"
    status, _ = twin.ask("PATCH", f"{NODES}/one", {}, updateMask="acceleratorType")
    assert status == 400


def test_host_that_fails_is_repaired_without_the_slice_being_lost() -> None:
    twin = Slices(delays=SLOW)
    twin.create("pod", "v4-32")
    twin.wait(151)
    twin.fleet.fail(twin.workers("pod")[1])
    node = twin.node("pod")
    assert (node["state"], node["health"]) == ("REPAIRING", "UNHEALTHY_MAINTENANCE")
    twin.wait(151)
    assert twin.node("pod")["state"] == "READY"


def test_simulated_maintenance_takes_a_spot_slice_and_repairs_another() -> None:
    twin = Slices(delays=SLOW)
    twin.create("spot", "v4-16", schedulingConfig={"preemptible": True})
    twin.create("plain", "v4-16")
    twin.wait(151)
    for name in ("spot", "plain"):
        path = f"{NODES}/{name}:simulateMaintenanceEvent"
        twin.done("POST", path, {"workerIds": ["1"]}, version="v2alpha1")
    twin.wait(31)
    assert twin.node("spot")["state"] == "PREEMPTED"
    assert twin.node("plain")["state"] == "REPAIRING"
    path = f"{NODES}/plain:simulateMaintenanceEvent"
    twin.wait(150)
    status, _ = twin.ask("POST", path, {"workerIds": ["9"]}, version="v2alpha1")
    assert status == 400


def test_request_with_the_same_id_makes_one_node() -> None:
    twin = Slices()
    body = {"acceleratorType": "v4-8", "runtimeVersion": "tpu-vm-base"}
    asked = {"version": "v2alpha1", "nodeId": "one", "requestId": "r-1"}
    first = twin.done("POST", NODES, body, **asked)
    assert twin.done("POST", NODES, body, **asked)["name"] == first["name"]
    assert len(twin.fleet.all()) == 1


def test_workers_run_the_startup_script_and_are_shown_at_their_address() -> None:
    bodies = Bodies()
    twin = Slices(bodies=bodies)
    twin.create("pod", "v4-16", metadata={"startup-script": "echo hi"})
    boots = [bodies.boots[one.id] for one in twin.workers("pod")]
    assert [boot.startup_script for boot in boots] == ["echo hi", "echo hi"]
    assert [boot.hostname[-4:] for boot in boots] == ["-w-0", "-w-1"]
    assert boots[0].neighbours == {boots[1].hostname: twin.workers("pod")[1].id}
    shown = [one["accessConfig"]["externalIp"] for one in twin.node("pod")["networkEndpoints"]]
    assert shown == ["127.1.0.1", "127.1.0.2"]


def test_nodes_outlive_the_twins_process(tmp_path: Path) -> None:
    clock = HandClock()
    twin = Slices(delays=SLOW, folder=tmp_path, clock=clock)
    twin.create("pod", "v4-32", schedulingConfig={"spot": True})
    before = twin.node("pod")
    twin.close()
    twin = Slices(delays=SLOW, folder=tmp_path, clock=clock)
    assert twin.node("pod") == before
    assert twin.quotas.usage(V4, "TPUV4sPreemptiblePodPerProjectPerZoneForTPUAPI") == 16
    twin.wait(151)
    assert twin.node("pod")["state"] == "READY"
    twin.close()
