"""Faults at the door: what a client sees, and what was done."""

from __future__ import annotations

import json

import pytest

from vms import ZONE, Google
from windlass.twin.door import LOST
from windlass.twin.faults.door_faults import CutBody
from windlass.twin.faults.rules import FaultRule, Kind
from windlass.twin.messages import Bytes, Request


def faulty(**rule: object) -> Google:
    google = Google()
    google.twin.faults.rules.add(FaultRule(**rule))
    return google


def raw(google: Google, method: str, path: str) -> object:
    headers = {"authorization": "Bearer token-of-the-tests"}
    request = Request(method=method, host="compute.googleapis.com", path=path, headers=headers)
    return google.twin.door.answer(request)


def test_an_error_comes_before_anything_is_done():
    google = faulty(method="compute.instances.insert", status=500, count=1)
    refused = google.insert_vm("vm")["error"]
    assert (refused["code"], refused["status"]) == (500, "INTERNAL")
    assert google.ask("GET", f"{ZONE}/instances/vm")[0] == 404


def test_words_of_ones_own():
    google = faulty(status=409, message="somebody else did it")
    assert google.refused("GET", f"{ZONE}/instances/vm") == (409, "somebody else did it")


def test_a_lost_reply_is_lost_after_it_was_done():
    google = faulty(method="compute.instances.delete", kind=Kind.LOST_REPLY)
    google.insert_vm("vm")
    assert raw(google, "DELETE", f"{ZONE}/instances/vm") is LOST
    assert google.ask("GET", f"{ZONE}/instances/vm")[0] == 404


def test_a_lost_request_was_never_there():
    google = faulty(method="compute.instances.delete", kind=Kind.LOST_REQUEST)
    google.insert_vm("vm")
    assert raw(google, "DELETE", f"{ZONE}/instances/vm") is LOST
    assert google.vm("vm")["status"] == "RUNNING"


def test_the_owner_is_never_struck():
    google = faulty(method="*", status=503)
    assert google.ask("GET", "/twin/v1/status")[0] == 200


def test_latency_where_no_time_passes_ends():
    google = faulty(kind=Kind.LATENCY, latency_s=5.0)
    assert google.ask("GET", f"{ZONE}/instances")[0] == 200


def test_only_an_operation_can_fail_late():
    google = faulty(method="compute.instances.*", kind=Kind.LATE_FAILURE, after_s=60.0)
    operation = google.insert_vm("vm")
    assert operation["status"] == "RUNNING"
    assert google.vm("vm")["name"] == "vm"
    google.pass_time(61)
    done = google.ask("GET", f"{ZONE}/operations/{operation['name']}")[1]
    assert (done["status"], done["error"]["errors"][0]["code"]) == ("DONE", "INTERNAL_ERROR")
    assert google.ask("GET", f"{ZONE}/instances/vm")[0] == 404


def test_a_tpu_whose_creation_fails_late_is_gone():
    google = faulty(method="tpu.projects.locations.nodes.create", kind=Kind.LATE_FAILURE)
    zone = "/v2/projects/twin-project/locations/us-west4-a"
    node = {"acceleratorType": "v5litepod-8", "runtimeVersion": "v2-alpha-tpuv5-lite"}
    operation = tpu(google, "POST", f"{zone}/nodes", node, query="nodeId=late")
    assert operation["done"] is False
    google.pass_time(10)
    done = tpu(google, "GET", f"/v2/{operation['name']}")
    assert (done["done"], done["error"]["code"]) == (True, 13)
    assert tpu(google, "GET", f"{zone}/nodes/late")["error"]["code"] == 404


def tpu(google: Google, method: str, path: str, body: object = None, query: str = "") -> dict:
    request = Request(
        method=method,
        host="tpu.googleapis.com",
        path=path,
        query=query,
        headers={"authorization": "Bearer token-of-the-tests"},
        body=Bytes(b"" if body is None else json.dumps(body).encode()),
    )
    return json.loads(google.twin.door.answer(request).content)


def test_a_cut_body_breaks_after_its_bytes():
    body = CutBody(Bytes(b"0123456789"), 4)
    assert (body.read(3), body.read(3)) == (b"012", b"3")
    with pytest.raises(ConnectionResetError):
        body.read(1)


def test_the_owners_acts():
    google = Google()
    status, answer = google.ask("POST", "/twin/v1/faults", {"method": "x.*", "error": 503})
    assert (status, answer["outcome"]) == (200, "x.* is struck from now on")
    _, listed = google.ask("GET", "/twin/v1/faults")
    assert [rule["method"] for rule in listed["rules"]] == ["x.*"]
    google.insert_vm("vm", machineType="zones/us-central1-a/machineTypes/g2-standard-4")
    _, machines = google.ask("GET", "/twin/v1/machines")
    assert [one["name"] for one in machines["machines"]] == ["vm"]
    google.pass_time(3600)
    google.ask("DELETE", f"{ZONE}/instances/vm")
    _, bill = google.ask("GET", "/twin/v1/bill")
    assert bill["usd"] == pytest.approx(bill["lines"][0]["usd"])
    assert bill["usd"] > 0
    _, cleared = google.ask("POST", "/twin/v1/faults/clear", {})
    assert cleared == {"rules": 1, "incidents": 0}


def test_the_owner_is_told_when_machines_of_a_run_were_warned():
    google = Google()
    for name, labels in (("ours", {"windlass-run": "r-1"}), ("other", {})):
        google.insert_vm(
            name,
            machineType="zones/us-central1-a/machineTypes/g2-standard-4",
            scheduling={"provisioningModel": "SPOT"},
            labels=labels,
        )
    google.pass_time(60)
    at = google.twin.cloud.clock.now()
    google.ask("POST", "/twin/v1/faults", {"preempt": "ours"})
    google.ask("POST", "/twin/v1/faults", {"preempt": "other"})
    assert google.ask("GET", "/twin/v1/notices") == (200, {"runs": {"r-1": [at]}})


def test_a_fault_that_makes_no_sense_is_refused_with_what_would_do():
    status, message = Google().refused("POST", "/twin/v1/faults", {"stockout": "H1000", "for": "x"})
    assert status == 400
    assert "nothing is called H1000. Did you mean h100" in message
    assert "x is no duration" in message
