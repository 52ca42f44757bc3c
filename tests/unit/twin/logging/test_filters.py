"""Logging's query language finds what Google's would."""

from __future__ import annotations

import pytest

from windlass.twin.logging.filters import parsed
from windlass.twin.refusals import Refusal

ENTRY = {
    "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity",
    "timestamp": "2027-01-15T08:00:05.500Z",
    "severity": "WARNING",
    "textPayload": 'Out of "memory" on node 3',
    "resource": {"type": "gce_instance", "labels": {"instance_id": "42", "zone": "us-central1-a"}},
    "labels": {"compute.googleapis.com/resource_name": "vm-1"},
    "jsonPayload": {"step": 17, "is_last": False, "loss": 0.25},
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        'resource.type="gce_instance"',
        "resource.type=gce_instance resource.labels.instance_id=42",
        'resource.type = "GCE_INSTANCE"',
        'timestamp>="2027-01-15T08:00:05Z" AND timestamp<"2027-01-15T08:00:06Z"',
        'timestamp>="2027-01-15T09:00:00+01:00"',
        'timestamp>="2027-01-15"',
        "severity>=WARNING",
        "severity>=info severity<ERROR",
        'textPayload:"MEMORY"',
        'textPayload:"\\"memory\\""',
        'labels."compute.googleapis.com/resource_name"="vm-1"',
        'labels."compute.googleapis.com/resource_name"=("vm-0" OR "vm-1")',
        "jsonPayload.step>9",
        "jsonPayload.loss<=0.25",
        "jsonPayload.is_last=false",
        "json_payload.step=17",
        'resource.labels.zone=~"^us-central1-[a-c]$"',
        'resource.labels.zone!~"^europe"',
        "NOT severity=ERROR",
        "-severity=ERROR",
        'severity=ERROR OR resource.type="gce_instance"',
        "(severity=ERROR OR severity=WARNING) AND jsonPayload.step=17",
        # OR binds more tightly than AND.
        "severity=WARNING OR severity=ERROR AND jsonPayload.step=17",
        '"out of"',
        "memory node",
        'log_id("cloudaudit.googleapis.com/activity")',
        'SEARCH("memory")',
        'logName="projects/p/logs/cloudaudit.googleapis.com%2Factivity"',
        "jsonPayload.step:*",
        "-- a remark\nseverity=WARNING",
        "severity=WARNING\nresource.type=gce_instance",
    ],
)
def test_the_entry_is_found(text):
    assert parsed(text)(ENTRY)


@pytest.mark.parametrize(
    "text",
    [
        'resource.type="ml_job"',
        "severity>WARNING",
        'timestamp<"2027-01-15T08:00:05Z"',
        "jsonPayload.step<9",
        "jsonPayload.nothing:*",
        "resource.labels.nothing=42",
        'textPayload:"disk"',
        "NOT severity=WARNING",
        '-"memory"',
        "severity=ERROR AND resource.type=gce_instance",
        'labels."compute.googleapis.com/resource_name"=("vm-0" OR "vm-2")',
        'log_id("syslog")',
    ],
)
def test_the_entry_is_not_found(text):
    assert not parsed(text)(ENTRY)


@pytest.mark.parametrize(
    "text",
    ["severity=", "(severity=INFO", "severity=INFO)", '"open', 'a=~"("', "= 3", "x" * 20_001],
)
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(Refusal) as refused:
        parsed(text)
    assert refused.value.code == 400
