from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from buckets import HandClock
from slices import PROJECT, V4, V5E, Bodies, Slices
from windlass.twin.market import Rule
from windlass.twin.settings import Delays

SLOW = Delays(operation=3.0, stop=20.0, tpu=150.0, queue=60.0)
QUEUE = f"/locations/{V4}/queuedResources"
TWO = {"multisliceParams": {"nodeCount": 2, "nodeIdPrefix": "part"}}
FLEX: dict[str, Any] = {
    "provisioningModel": "FLEX_START",
    "runDuration": {"maxRunDuration": "3600s"},
}


def no_room(twin: Slices, *, seconds: float, what: str = "v4-*") -> None:
    twin.market.add(Rule(what=what, room=0, until=twin.clock.at + seconds))


def test_request_is_granted_at_once_where_nothing_waits() -> None:
    twin = Slices()
    operation = twin.enqueue("q", "v4-8", spot={})
    assert operation["done"] is True
    assert operation["response"]["@type"].endswith("tpu.v2.QueuedResource")
    assert twin.queued("q")["state"] == {"state": "ACTIVE", "activeData": {}}
    node = twin.node("q-node")
    assert (node["state"], node["schedulingConfig"]) == ("READY", {"spot": True})
    assert node["queuedResource"] == f"{PROJECT}{QUEUE}/q"


def test_request_goes_from_provisioning_to_active() -> None:
    twin = Slices(delays=SLOW)
    twin.enqueue("q", "v4-8")
    assert twin.state("q") == "PROVISIONING"
    assert twin.node("q-node")["state"] == "CREATING"
    twin.wait(211)
    assert (twin.state("q"), twin.node("q-node")["state"]) == ("ACTIVE", "READY")


def test_request_waits_until_there_is_room() -> None:
    twin = Slices()
    no_room(twin, seconds=1000)
    twin.enqueue("q", "v4-8")
    assert twin.queued("q")["state"] == {"state": "WAITING_FOR_RESOURCES"}
    assert twin.ask("GET", f"/locations/{V4}/nodes/q-node")[0] == 404
    twin.wait(990)
    assert twin.state("q") == "WAITING_FOR_RESOURCES"
    twin.wait(60)
    assert twin.state("q") == "ACTIVE"


def test_room_that_somebody_leaves_goes_to_the_oldest_request() -> None:
    twin = Slices()
    twin.market.add(Rule(what="v4-8", room=1))
    for name in ("first", "second", "third"):
        twin.enqueue(name, "v4-8")
    assert [twin.state(name) for name in ("first", "second", "third")] == [
        "ACTIVE",
        "WAITING_FOR_RESOURCES",
        "WAITING_FOR_RESOURCES",
    ]
    twin.done("DELETE", f"{QUEUE}/first", force="true")
    twin.wait(0)
    assert (twin.state("second"), twin.state("third")) == ("ACTIVE", "WAITING_FOR_RESOURCES")


@pytest.mark.parametrize(
    ("version", "field"), [("v2", "multisliceParams"), ("v2alpha1", "multiNodeParams")]
)
def test_slices_that_work_together_are_nodes_of_one_request(version: str, field: str) -> None:
    twin = Slices()
    spec = {field: TWO["multisliceParams"]}
    twin.enqueue("q", "v4-16", spec=spec, version=version)
    shown = twin.queued("q", version=version)["tpu"]["nodeSpec"]
    assert [one["nodeId"] for one in shown] == ["part-0", "part-1"]
    nodes = twin.get(f"/locations/{V4}/nodes")["nodes"]
    assert [node["name"].rpartition("/")[2] for node in nodes] == ["part-0", "part-1"]
    assert all(node["multisliceNode"] for node in nodes)
    assert twin.quotas.usage(V4, "TPUV4sPodPerProjectPerZoneForTPUAPI") == 16


def test_slices_are_had_together_or_not_at_all() -> None:
    twin = Slices()
    twin.market.add(Rule(what="v4-16", room=1))
    twin.enqueue("q", "v4-16", spec=TWO)
    assert twin.state("q") == "WAITING_FOR_RESOURCES"
    assert twin.get(f"/locations/{V4}/nodes") == {}
    twin.enqueue("small", "v4-16")
    assert twin.state("small") == "ACTIVE"


@pytest.mark.parametrize("count", [0, 257])
def test_number_of_slices_has_bounds(count: int) -> None:
    twin = Slices()
    node = {"acceleratorType": "v4-8", "runtimeVersion": "tpu-vm-base"}
    body = {"tpu": {"nodeSpec": [{"node": node, "multisliceParams": {"nodeCount": count}}]}}
    status, answer = twin.ask("POST", QUEUE, body, queuedResourceId="q")
    assert (status, "node_spec" in answer["error"]["message"]) == (400, True)


def test_old_chips_cannot_be_used_in_several_slices() -> None:
    twin = Slices()
    node = {"acceleratorType": "v2-8", "runtimeVersion": "tpu-vm-base"}
    body = {"tpu": {"nodeSpec": [{"node": node, **TWO}]}}
    path = "/locations/us-central1-b/queuedResources"
    status, answer = twin.ask("POST", path, body, queuedResourceId="q")
    assert status == 400
    assert "Cloud TPU was unable to complete the operation" in answer["error"]["message"]


DEADLINES: dict[str, dict[str, Any]] = {
    "duration": {"validUntilDuration": "600s"},
    "moment": {"validUntilTime": "2027-01-15T08:10:00Z"},
    "interval": {"validInterval": {"endTime": "2027-01-15T08:10:00Z"}},
}


@pytest.mark.parametrize("case", DEADLINES)
def test_request_that_is_not_granted_in_time_fails(case: str) -> None:
    twin = Slices()
    no_room(twin, seconds=86_400)
    twin.enqueue("q", "v4-8", queueingPolicy=DEADLINES[case])
    twin.wait(599)
    assert twin.state("q") == "WAITING_FOR_RESOURCES"
    twin.wait(2)
    state = twin.queued("q")["state"]
    assert (state["state"], state["stateInitiator"]) == ("FAILED", "SERVICE")
    assert "expired" in state["failedData"]["error"]["message"]
    twin.wait(86_400)
    assert twin.state("q") == "FAILED"


def test_request_whose_time_has_passed_fails_at_once() -> None:
    twin = Slices()
    twin.enqueue("q", "v4-8", queueingPolicy={"validUntilTime": "2027-01-15T07:00:00Z"})
    assert twin.state("q") == "FAILED"
    assert twin.fleet.all() == []


def test_deadline_of_a_request_that_was_deleted_does_not_strike_its_namesake() -> None:
    twin = Slices()
    no_room(twin, seconds=1000)
    twin.enqueue("q", "v4-8", queueingPolicy={"validUntilDuration": "60s"})
    twin.done("DELETE", f"{QUEUE}/q")
    twin.enqueue("q", "v4-8", queueingPolicy={"validUntilDuration": "6000s"})
    twin.wait(90)
    assert twin.state("q") == "WAITING_FOR_RESOURCES"


def test_small_request_behind_a_large_one_is_granted_what_is_there() -> None:
    twin = Slices()
    twin.market.add(Rule(what="v4-16", room=1))
    twin.enqueue("large", "v4-16", spec=TWO)
    twin.enqueue("larger", "v4-16", spec={"multisliceParams": {"nodeCount": 3}})
    twin.enqueue("small", "v4-16")
    assert [twin.state(name) for name in ("large", "larger", "small")] == [
        "WAITING_FOR_RESOURCES",
        "WAITING_FOR_RESOURCES",
        "ACTIVE",
    ]


def test_request_over_quota_fails_though_there_is_no_room() -> None:
    twin = Slices()
    no_room(twin, seconds=1000)
    twin.quotas.set_limit(V4, "TPUV4sPodPerProjectPerZoneForTPUAPI", 2)
    twin.enqueue("q", "v4-8")
    assert twin.state("q") == "FAILED"


def test_request_is_not_granted_before_its_time() -> None:
    twin = Slices()
    twin.enqueue("q", "v4-8", queueingPolicy={"validAfterDuration": "600s"})
    twin.wait(599)
    assert twin.state("q") == "WAITING_FOR_RESOURCES"
    twin.wait(1)
    assert twin.state("q") == "ACTIVE"


def test_request_over_quota_fails_with_the_limit() -> None:
    twin = Slices()
    twin.quotas.set_limit(V4, "TPUV4sPodPerProjectPerZoneForTPUAPI", 8)
    twin.enqueue("q", "v4-16", spec=TWO)
    state = twin.queued("q")["state"]
    assert state["state"] == "FAILED"
    assert state["failedData"]["error"] == {
        "code": 8,
        "message": f"Quota 'TPUV4sPodPerProjectPerZoneForTPUAPI' exhausted. Limit 8 in zone {V4}",
    }


@pytest.mark.parametrize("tier", ["spot", "bestEffort"])
def test_preemption_of_one_worker_suspends_the_request(tier: str) -> None:
    twin = Slices()
    spec = {"multiNodeParams": TWO["multisliceParams"]}
    twin.enqueue("q", "v4-16", spec=spec, version="v2alpha1", **{tier: {}})
    twin.fleet.preempt(twin.workers("part-1")[1])
    state = twin.queued("q")["state"]
    assert state == {
        "state": "SUSPENDING",
        "suspendingData": {},
        "stateInitiator": "SERVICE",
    }
    twin.wait(31)
    assert twin.queued("q")["state"]["stateInitiator"] == "SERVICE"
    assert twin.state("q") == "SUSPENDED"
    states = [node["state"] for node in twin.get(f"/locations/{V4}/nodes")["nodes"]]
    assert states == ["PREEMPTED", "PREEMPTED"]
    twin.wait(86_400)
    assert twin.state("q") == "SUSPENDED"
    twin.done("DELETE", f"{QUEUE}/q")
    assert twin.get(f"/locations/{V4}/nodes") == {}
    assert twin.fleet.all() == []


def test_flex_start_ends_by_itself_and_nothing_is_left_of_it() -> None:
    twin = Slices(delays=SLOW)
    twin.enqueue("q", "v4-8", version="v2alpha1", **FLEX)
    twin.wait(211)
    node = twin.node("q-node", version="v2alpha1")
    assert node["schedulingConfig"]["terminationTimestamp"].startswith("2027-01-15T09:03:30")
    twin.wait(3590)
    assert twin.state("q") == "ACTIVE"
    twin.wait(20)
    assert twin.ask("GET", f"/locations/{V4}/nodes/q-node")[0] == 404
    state = twin.queued("q")["state"]
    assert (state["state"], state["stateInitiator"]) == ("SUSPENDED", "SERVICE")
    (line,) = twin.billing.lines()
    assert (line["model"], line["hours"]) == ("FLEX_START", pytest.approx(1.0))


@pytest.mark.parametrize("model", ["STANDARD", "SPOT", "RESERVATION_BOUND"])
def test_other_tiers_have_no_run_limit(model: str) -> None:
    twin = Slices()
    run = {"runDuration": {"maxRunDuration": "3600s"}}
    twin.enqueue("q", "v4-8", version="v2alpha1", provisioningModel=model, **run)
    twin.wait(30 * 86_400)
    assert twin.state("q") == "ACTIVE"
    assert twin.node("q-node")["state"] == "READY"


@pytest.mark.parametrize("duration", [{}, {"maxRunDuration": "604801s"}])
def test_flex_start_needs_a_run_time_of_at_most_a_week(duration: dict[str, str]) -> None:
    twin = Slices()
    node = {"acceleratorType": "v4-8", "runtimeVersion": "tpu-vm-base"}
    body = {**FLEX, "runDuration": duration, "tpu": {"nodeSpec": [{"nodeId": "n", "node": node}]}}
    status, answer = twin.ask("POST", QUEUE, body, version="v2alpha1", queuedResourceId="q")
    assert status == 400
    assert "max_run_duration" in answer["error"]["message"]


def test_active_request_is_deleted_only_with_force_or_without_nodes() -> None:
    twin = Slices(delays=SLOW)
    twin.enqueue("q", "v4-8")
    twin.wait(211)
    status, answer = twin.ask("DELETE", f"{QUEUE}/q")
    assert (status, answer["error"]["status"]) == (400, "FAILED_PRECONDITION")
    twin.done("DELETE", f"{QUEUE}/q", force="true")
    assert twin.state("q") == "DELETING"
    assert twin.node("q-node")["state"] == "DELETING"
    twin.wait(21)
    assert twin.ask("GET", f"{QUEUE}/q")[0] == 404
    assert twin.ask("GET", f"/locations/{V4}/nodes/q-node")[0] == 404


def test_request_is_being_deleted_until_what_runs_in_its_workers_has_ended() -> None:
    bodies = Bodies()
    twin = Slices(bodies=bodies)
    twin.enqueue("q", "v4-8")
    twin.done("DELETE", f"{QUEUE}/q", force="true")
    assert bodies.warnings
    assert twin.state("q") == "DELETING"
    twin.wait(91)
    assert twin.ask("GET", f"{QUEUE}/q")[0] == 404


def test_request_whose_node_the_user_deletes_is_suspended_by_the_user() -> None:
    twin = Slices()
    twin.enqueue("q", "v4-8")
    twin.done("DELETE", f"/locations/{V4}/nodes/q-node")
    state = twin.queued("q")["state"]
    assert (state["state"], state["stateInitiator"]) == ("SUSPENDED", "USER")
    twin.done("DELETE", f"{QUEUE}/q")
    assert twin.get(QUEUE) == {}


def test_waiting_request_is_deleted_without_force() -> None:
    twin = Slices()
    no_room(twin, seconds=1000)
    twin.enqueue("q", "v4-8")
    twin.done("DELETE", f"{QUEUE}/q")
    twin.wait(2000)
    assert twin.fleet.all() == []


def test_reset_gives_a_suspended_request_another_chance() -> None:
    twin = Slices()
    twin.enqueue("q", "v4-16", spot={})
    twin.fleet.preempt(twin.workers("q-node")[0])
    twin.wait(31)
    no_room(twin, seconds=100)
    twin.done("POST", f"{QUEUE}/q:reset", {})
    assert twin.state("q") == "WAITING_FOR_RESOURCES"
    twin.wait(131)
    assert (twin.state("q"), twin.node("q-node")["state"]) == ("ACTIVE", "READY")


def test_name_that_somebody_takes_while_a_request_waits_fails_it() -> None:
    twin = Slices()
    no_room(twin, seconds=100, what="v4-16")
    twin.enqueue("q", "v4-16")
    twin.create("q-node", "v4-8")
    twin.wait(200)
    error = twin.queued("q")["state"]["failedData"]["error"]
    assert error["code"] == 6
    assert twin.node("q-node")["acceleratorType"] == "v4-8"


def test_name_in_use_is_refused() -> None:
    twin = Slices()
    twin.enqueue("q", "v4-8")
    node = {"acceleratorType": "v4-8", "runtimeVersion": "tpu-vm-base"}
    for name, node_id in (("q", "other"), ("other", "q-node")):
        body = {"tpu": {"nodeSpec": [{"nodeId": node_id, "node": node}]}}
        status, answer = twin.ask("POST", QUEUE, body, queuedResourceId=name)
        assert (status, answer["error"]["status"]) == (409, "ALREADY_EXISTS")


def test_node_of_a_request_cannot_be_stopped() -> None:
    twin = Slices()
    twin.enqueue("q", "v4-8")
    assert twin.ask("POST", f"/locations/{V4}/nodes/q-node:stop", {})[0] == 400


def test_maintenance_of_a_request_repairs_its_nodes() -> None:
    twin = Slices(delays=SLOW)
    twin.enqueue("q", "v4-8")
    twin.wait(211)
    assert twin.get(f"{QUEUE}/q:getMaintenanceInfo", version="v2alpha1") == {}
    path = f"{QUEUE}/q:performMaintenanceQueuedResource"
    twin.done("POST", path, {}, version="v2alpha1")
    assert twin.node("q-node")["state"] == "REPAIRING"
    twin.wait(151)
    assert (twin.node("q-node")["state"], twin.state("q")) == ("READY", "ACTIVE")


def test_requests_of_all_zones_are_listed() -> None:
    twin = Slices()
    twin.enqueue("one", "v4-8")
    twin.enqueue("two", "v5litepod-16", zone=V5E)
    found = twin.get("/locations/-/queuedResources")["queuedResources"]
    assert [one["name"].rpartition("/")[2] for one in found] == ["one", "two"]
    assert len(twin.get(QUEUE, version="v2alpha1")["queuedResources"]) == 1


def test_request_with_the_same_id_gets_in_line_once() -> None:
    twin = Slices()
    node = {"acceleratorType": "v4-8", "runtimeVersion": "tpu-vm-base"}
    body = {"tpu": {"nodeSpec": [{"nodeId": "n", "node": node}]}}
    asked = {"queuedResourceId": "q", "requestId": "r-1"}
    first = twin.done("POST", QUEUE, body, **asked)
    assert twin.done("POST", QUEUE, body, **asked) == first


def test_those_who_wait_outlive_the_twins_process(tmp_path: Path) -> None:
    clock = HandClock()
    twin = Slices(folder=tmp_path, clock=clock)
    no_room(twin, seconds=100)
    twin.enqueue("q", "v4-16", spec=TWO, spot={})
    before = twin.queued("q")
    twin.close()
    twin = Slices(folder=tmp_path, clock=clock)
    assert twin.queued("q") == before
    twin.wait(131)
    assert twin.state("q") == "ACTIVE"
    twin.close()


def test_same_seed_gives_the_same_story() -> None:
    def story() -> list[str]:
        twin = Slices(delays=SLOW)
        twin.market.add(Rule(model="SPOT", hazard_per_h=3.0))
        for number in range(5):
            twin.enqueue(f"q{number}", "v4-32", spot={})
        seen = []
        for _ in range(20):
            twin.wait(120)
            seen.append(str([twin.queued(f"q{number}") for number in range(5)]))
        return seen

    assert story() == story()
