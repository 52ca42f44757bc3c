"""Calls that are refused, lost, delayed or answered wrongly, over a real port, in Google's words.

Where the words were seen is in docs/concepts/twin-errors.md, a row for each test here and beside.
"""

from __future__ import annotations

import http.client
import re
import time

import pytest

import tree
from faulty_twin import PROJECT, needs_gcloud

ZONE = f"{PROJECT}/zones/us-central1-a"


def test_api_disabled(twin):
    twin.fault(api_off="compute")
    error = twin.ask("GET", f"{ZONE}/instances").error
    console = "https://console.developers.google.com/apis/api/compute.googleapis.com/overview"
    assert (error["code"], error["status"]) == (403, "PERMISSION_DENIED")
    assert error["message"] == (
        "Compute Engine API has not been used in project 415926535897 before or it is disabled. "
        f"Enable it by visiting {console}?project=415926535897 then retry. If you enabled this "
        "API recently, wait a few minutes for the action to propagate to our systems and retry."
    )
    assert error["errors"][0]["reason"] == "accessNotConfigured"
    info = error["details"][0]
    assert (info["reason"], info["domain"]) == ("SERVICE_DISABLED", "googleapis.com")
    assert info["metadata"]["serviceTitle"] == "Compute Engine API"


def test_permission_denied(twin):
    twin.fault(deny="compute.instances.create")
    answer = twin.insert("mine")
    words = (
        "Required 'compute.instances.create' permission for "
        "'projects/twin-project/zones/us-central1-a/instances/mine'"
    )
    entry = {"message": words, "domain": "global", "reason": "forbidden"}
    assert answer.error == {"code": 403, "message": words, "errors": [entry]}


def test_not_found(twin):
    words = "The resource 'projects/twin-project/zones/us-central1-a/instances/nope' was not found"
    entry = {"message": words, "domain": "global", "reason": "notFound"}
    assert twin.get("nope").error == {"code": 404, "message": words, "errors": [entry]}


@needs_gcloud
def test_gcloud_explains_what_is_not_there(twin):
    said = twin.gcloud("compute", "instances", "describe", "nope", "--zone=us-central1-a")
    assert said.returncode == 1
    words = "The resource 'projects/twin-project/zones/us-central1-a/instances/nope' was not found"
    assert words in " ".join(said.stderr.split())


def test_already_exists(twin):
    twin.insert("twice")
    words = (
        "The resource 'projects/twin-project/zones/us-central1-a/instances/twice' already exists"
    )
    entry = {"message": words, "domain": "global", "reason": "alreadyExists"}
    assert twin.insert("twice").error == {"code": 409, "message": words, "errors": [entry]}


def test_invalid_field(twin):
    error = twin.insert("odd", machinType="x").error
    words = 'Invalid JSON payload received. Unknown name "machinType": Cannot find field.'
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    assert words in error["message"]
    violation = error["details"][0]["fieldViolations"][0]
    assert error["details"][0]["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert violation["description"] == words


def test_precondition_failed(twin):
    twin.insert("labelled")
    twin.until("labelled", "RUNNING")
    body = {"labels": {"a": "b"}, "labelFingerprint": "AAAAAAAAAAA="}
    answer = twin.ask("POST", f"{ZONE}/instances/labelled/setLabels", body)
    words = "Labels fingerprint either invalid or resource labels have changed"
    entry = {
        "message": words,
        "domain": "global",
        "reason": "conditionNotMet",
        "location": "If-Match",
        "locationType": "header",
    }
    assert answer.error == {"code": 412, "message": words, "errors": [entry]}


# --- the way there and back


def test_429_with_retry_after(twin):
    twin.fault(method="compute.instances.get", error=429, retry_after="5s", count=2)
    answer = twin.get("whoever")
    assert (answer.status, answer.headers["retry-after"]) == (429, "5")
    assert answer.error["status"] == "RESOURCE_EXHAUSTED"
    assert answer.error["message"] == (
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service "
        "'compute.googleapis.com' for consumer 'project_number:415926535897'."
    )
    assert answer.error["details"][0]["reason"] == "RATE_LIMIT_EXCEEDED"
    assert [twin.get("whoever").status for _ in range(2)] == [429, 404]


def test_503_then_success(twin):
    twin.fault(method="compute.zones.*", error=503, count=1)
    first = twin.ask("GET", ZONE)
    assert (first.status, first.error["status"]) == (503, "UNAVAILABLE")
    assert first.error["message"] == "The service is currently unavailable."
    assert twin.ask("GET", ZONE).status == 200


@needs_gcloud
def test_gcloud_gets_over_a_503(twin):
    twin.ask("POST", "/storage/v1/b?project=twin-project", {"name": "steady-bucket"})
    twin.fault(method="storage.buckets.list", error=503, count=1)
    said = twin.gcloud("storage", "buckets", "list", "--format=value(name)")
    assert (said.returncode, "steady-bucket" in said.stdout) == (0, True), said.stderr
    assert twin.ask("GET", "/twin/v1/faults").document["rules"][0]["struck"] == 1


def test_lost_reply(twin):
    twin.fault(method="compute.instances.insert", kind="lost-reply", count=1)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        twin.insert("unheard")
    assert twin.get("unheard").document["name"] == "unheard"


def test_lost_request(twin):
    twin.fault(method="compute.instances.insert", kind="lost-request", count=1)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        twin.insert("unsaid")
    assert twin.get("unsaid").status == 404


def test_duplicate_insert_with_the_same_request_id(twin):
    query = "?requestId=6f1b1a3e-6a2c-4b0e-9f7e-2f5f5f1d1d11"
    first, second = (twin.insert("once", query=query).document for _ in range(2))
    assert first["name"] == second["name"]
    assert twin.insert("once").status == 409


def test_stale_list(twin):
    twin.insert("old-vm", zone="us-central1-c")
    time.sleep(0.2)  # Twelve seconds there.
    twin.fault(method="compute.instances.*", kind="stale-list", behind="6s", until="2h")
    zone = f"{PROJECT}/zones/us-central1-c/instances"

    def names() -> list[str]:
        return [one["name"] for one in twin.ask("GET", zone).document.get("items", [])]

    twin.insert("new-vm", zone="us-central1-c")
    assert twin.get("new-vm", zone="us-central1-c").status == 200
    assert names() == ["old-vm"]
    assert twin.ask("DELETE", f"{zone}/old-vm").status == 200
    assert names() == ["old-vm"]
    time.sleep(0.2)
    assert names() == ["new-vm"]


def test_operation_that_fails_late(twin):
    twin.fault(method="compute.instances.insert", kind="operation-fails-late", after="60s", count=1)
    operation = twin.insert("hopeful").document
    assert operation["status"] == "RUNNING"
    assert "error" not in operation
    assert twin.get("hopeful").status == 200
    done = twin.ask("POST", f"{ZONE}/operations/{operation['name']}/wait")
    assert (done.document["status"], done.cause["code"]) == ("DONE", "INTERNAL_ERROR")
    assert done.document["httpErrorStatusCode"] == 500
    assert twin.get("hopeful").status == 404


def test_resumable_upload_cut_in_the_middle(twin):
    twin.ask("POST", "/storage/v1/b?project=twin-project", {"name": "cut-bucket"})
    start = twin.ask(
        "POST",
        "/upload/storage/v1/b/cut-bucket/o?uploadType=resumable&name=big",
        {},
        {"X-Upload-Content-Length": str(1 << 20)},
    )
    session = start.headers["location"].partition(":")[2].partition("/upload")[2]
    content = bytes(range(256)) * 4096
    rule = {"method": "storage.objects.insert", "kind": "cut-upload"}
    twin.fault(**rule, after_bytes="600KiB", count=1)
    span = {"Content-Range": f"bytes 0-{len(content) - 1}/{len(content)}"}
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        twin.ask("PUT", f"/upload{session}", content, span)
    status = twin.ask("PUT", f"/upload{session}", b"", {"Content-Range": f"bytes */{len(content)}"})
    assert (status.status, status.headers["range"]) == (308, f"bytes=0-{(512 << 10) - 1}")
    rest = {"Content-Range": f"bytes {512 << 10}-{len(content) - 1}/{len(content)}"}
    done = twin.ask("PUT", f"/upload{session}", content[512 << 10 :], rest)
    assert (done.status, done.document["size"]) == (200, str(len(content)))
    assert twin.ask("GET", "/storage/v1/b/cut-bucket/o/big?alt=media").content == content


# --- the page


def test_every_case_has_its_source():
    page = tree.text("docs/concepts/twin-errors.md")
    rows = [line for line in page.splitlines() if line.startswith("| `test_")]
    files = [f"tests/twin_faults/test_{name}.py" for name in ("faults", "refusals")]
    found = re.findall(r"^def (test_\w+)", "".join(map(tree.text, files)), re.MULTILINE)
    cases = {name for name in found if "gcloud" not in name and not name.endswith("_source")}
    assert {row.split("`")[1] for row in rows} == cases
    assert all("https://" in row for row in rows)


def test_answers_are_json_that_google_sends(twin):
    answer = twin.get("nope")
    assert answer.headers["content-type"] == "application/json; charset=UTF-8"
    assert answer.error["code"] == 404
