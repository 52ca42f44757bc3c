"""Enums are numbers to some clients and names to others."""

from __future__ import annotations

import pytest

from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.check import check
from windlass.twin.discovery.documents import enum_table
from windlass.twin.discovery.enums import enum_names, enum_numbers, plain_numbers

# An API, a schema, the body by number and by name.
BODIES = [
    (
        ("aiplatform", "v1"),
        "GoogleCloudAiplatformV1CustomJob",
        {"jobSpec": {"workerPoolSpecs": [{"machineSpec": {"acceleratorType": 8}}]}, "state": 4},
        {
            "jobSpec": {
                "workerPoolSpecs": [{"machineSpec": {"acceleratorType": "NVIDIA_TESLA_A100"}}]
            },
            "state": "JOB_STATE_SUCCEEDED",
        },
    ),
    (
        ("tpu", "v2"),
        "Node",
        {"acceleratorConfig": {"type": 11, "topology": "2x2"}, "state": 2},
        {"acceleratorConfig": {"type": "V6E", "topology": "2x2"}, "state": "READY"},
    ),
    (
        ("tpu", "v2alpha1"),
        "AcceleratorConfig",
        {"type": 7},
        {"type": "V4"},
    ),
    (
        ("container", "v1"),
        "Cluster",
        {"status": 2, "nodePools": [{"config": {"gpuDirectConfig": {}}, "status": 2}]},
        {
            "status": "RUNNING",
            "nodePools": [{"config": {"gpuDirectConfig": {}}, "status": "RUNNING"}],
        },
    ),
    (
        ("billingbudgets", "v1"),
        "GoogleCloudBillingBudgetsV1Budget",
        {"thresholdRules": [{"spendBasis": 1, "thresholdPercent": 0.5}]},
        {"thresholdRules": [{"spendBasis": "CURRENT_SPEND", "thresholdPercent": 0.5}]},
    ),
]


@pytest.mark.parametrize(("key", "schema", "numbers", "names"), BODIES)
def test_numbers_become_names_and_names_numbers(key, schema, numbers, names):
    api = load_api(*key)
    assert enum_names(api, schema, numbers) == names
    assert enum_numbers(api, schema, names) == numbers
    assert enum_names(api, schema, names) == names


def test_the_value_that_was_given_stays_as_it_was():
    given = {"acceleratorConfig": {"type": 11}}
    enum_names(load_api("tpu", "v2"), "Node", given)
    assert given == {"acceleratorConfig": {"type": 11}}


def test_a_number_that_nobody_knows_stays_and_is_found():
    api = load_api("tpu", "v2")
    body = enum_names(api, "Node", {"state": 999})
    assert body == {"state": 999}
    assert len(check(api, "Node", body)) == 1


def test_a_name_without_a_number_stays():
    api = load_api("compute", "v1")
    assert enum_numbers(api, "Instance", {"status": "RUNNING"}) == {"status": "RUNNING"}


def test_what_the_schema_does_not_know_stays():
    body = {"nonsense": {"a": [1]}, "labels": {"a": "b"}, "state": True, "tags": "not a list"}
    assert enum_names(load_api("tpu", "v2"), "Node", body) == body


def test_numbers_get_the_form_that_google_answers():
    api = load_api("compute", "v1")
    given = {"disks": [{"diskSizeGb": 200}], "guestAccelerators": [{"acceleratorCount": "2"}]}
    plain = plain_numbers(api, "Instance", given)
    assert plain == {
        "disks": [{"diskSizeGb": "200"}],
        "guestAccelerators": [{"acceleratorCount": 2}],
    }
    assert check(api, "Instance", plain, answer=True) == []
    wrong = {"disks": [{"diskSizeGb": 1.5}], "guestAccelerators": [{"acceleratorCount": "x"}]}
    assert plain_numbers(api, "Instance", wrong) == wrong


def enum_fields(api):
    """Every field of a message that is an enum: its message, its name, its choices."""
    for schema, source in api.schemas.items():
        for name, field in source.get("properties", {}).items():
            if "enum" in field:
                yield schema, name, field["enum"]


@pytest.mark.parametrize("key", [tuple(key.split(".")) for key in enum_table()], ids=".".join)
def test_every_enum_survives_the_way_to_its_numbers_and_back(key):
    api, numbered = load_api(*key), 0
    for schema, name, choices in enum_fields(api):
        for choice in choices:
            number = enum_numbers(api, schema, {name: choice})
            numbered += isinstance(number[name], int)
            assert enum_names(api, schema, number) == {name: choice}
    assert numbered > 2
