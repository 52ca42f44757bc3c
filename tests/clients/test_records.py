"""The check of records finds what is wrong in them: each case has one mistake."""

from __future__ import annotations

import json
from typing import Any

import pytest

import records
from clients.mismatches import unexplained

ZONE = "/compute/v1/projects/p/zones/us-central1-a"
GET = {
    "id": "compute.instances.get",
    "method": "GET",
    "host": "compute.googleapis.com",
    "path": f"{ZONE}/instances/vm",
    "query": "",
    "body": None,
    "status": 200,
    "response": {"name": "vm", "id": "1", "status": "RUNNING", "scheduling": {}},
}
INSERT = {
    **GET,
    "id": "compute.instances.insert",
    "method": "POST",
    "path": f"{ZONE}/instances",
    "body": {"name": "vm"},
    "response": {"name": "operation-1", "status": "DONE"},
}
UPLOAD = {
    **GET,
    "id": "storage.objects.insert",
    "method": "POST",
    "host": "storage.googleapis.com",
    "path": "/upload/storage/v1/b/bucket/o",
    "query": "uploadType=multipart&name=a",
    "body": {"contentType": "text/plain"},
    "response": {"name": "a", "size": "5"},
}
SESSION = {**UPLOAD, "method": "PUT", "query": "uploadType=resumable&upload_id=1", "body": None}
XML = {**GET, "id": "", "host": "storage.googleapis.com", "path": "/bucket/object"}


@pytest.mark.parametrize("call", [GET, INSERT, UPLOAD, SESSION, XML])
def test_what_is_right_passes(call: dict[str, Any]):
    assert list(records.check(call)) == []


@pytest.mark.parametrize(
    ("call", "wrong", "found"),
    [
        (GET, {"response": {"nam": "vm"}}, "answer $: Additional properties"),
        (GET, {"response": {"id": 1}}, "answer $.id: 1 is not of type 'string'"),
        (GET, {"response": {"id": "x"}}, "answer $.id: 'x' does not match"),
        (GET, {"response": {"status": "FINE"}}, "answer $.status: 'FINE' is not one of"),
        (GET, {"response": {"fingerprint": "abc"}}, "answer $.fingerprint: 'abc' does not match"),
        (GET, {"response": {"disks": {}}}, "answer $.disks: {} is not of type 'array'"),
        (GET, {"method": "PUT"}, "PUT, but the document says GET"),
        (GET, {"path": f"{ZONE}/machines/vm"}, "the path is not"),
        (GET, {"query": "colour=red"}, "unknown parameter colour"),
        (GET, {"body": {"name": "vm"}}, "a body, but the document has none"),
        (GET, {"status": 404, "response": {"error": {"code": 403}}}, "answer 404 has no error"),
        (INSERT, {"body": {"disks": [{"boot": "yes"}]}}, "request $.disks[].boot: 'yes' is not"),
        (INSERT, {"query": "requestId=1&maxResults=2"}, "unknown parameter maxResults"),
        (
            UPLOAD,
            {"query": "ifGenerationMatch=x&name=a"},
            "parameter ifGenerationMatch has a wrong",
        ),
        (GET, {"id": "compute.instances.paint"}, "Google's document has no such method"),
        (XML, {"path": "/storage/v1/nothing"}, "no method of Google's"),
    ],
)
def test_what_is_wrong_is_found(call: dict[str, Any], wrong: dict[str, Any], found: str):
    (finding,) = records.check({**call, **wrong})
    assert finding.startswith(found)


def test_enums_may_be_numbers_where_a_client_says_so():
    numbers = {**GET, "response": {"status": 5}}
    assert list(records.check(numbers)) != []
    assert list(records.check({**numbers, "query": "$alt=json%3Benum-encoding%3Dint"})) == []


def test_findings_are_counted_and_the_known_ones_left_out(tmp_path):
    record = tmp_path / "record.jsonl"
    calls = [{**GET, "query": "colour=red"}] * 2
    calls += [{**INSERT, "query": "returnPartialSuccess=true"}]
    record.write_text("".join(f"{json.dumps(call)}\n" for call in calls))
    found = records.findings(record)
    assert len(found) == 2
    assert dict(unexplained(found)) == {"compute.instances.get: unknown parameter colour": 2}
    assert records.findings(record, only="answer") == {}
