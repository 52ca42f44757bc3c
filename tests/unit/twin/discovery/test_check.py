"""Bodies and queries are checked as Google checks them: every mistake is named with its place."""

from __future__ import annotations

import pytest

from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.check import Finding, check, check_params, check_query

VM = {
    "name": "vm-1",
    "machineType": "zones/us-central1-a/machineTypes/g2-standard-4",
    "disks": [{"boot": True, "initializeParams": {"diskSizeGb": "200"}}],
    "labels": {"any": "label"},
    "metadata": {"items": [{"key": "startup-script", "value": "true"}], "fingerprint": "q83vEg=="},
    "scheduling": {"provisioningModel": "SPOT", "maxRunDuration": {"seconds": "60", "nanos": 0}},
    "serviceAccounts": None,
}
# A body of Instance with one mistake, its place, and what is wrong.
WRONG = {
    "unknown field": ({"machineTyp": "x"}, "$.machineTyp", "unknown field"),
    "unknown field below": ({"disks": [{}, {"x": 1}]}, "$.disks[1].x", "unknown field"),
    "text for yes or no": (
        {"disks": [{"boot": "yes"}]},
        "$.disks[0].boot",
        "boolean expected, got 'yes'",
    ),
    "not in the enum": (
        {"scheduling": {"provisioningModel": "CHEAP"}},
        "$.scheduling.provisioningModel",
        "'CHEAP' not in enum (4 values)",
    ),
    "number for an enum": (
        {"scheduling": {"provisioningModel": 3}},
        "$.scheduling.provisioningModel",
        "string expected, got 3",
    ),
    "object for a list": ({"disks": {}}, "$.disks", "array expected, got {}"),
    "text for an object": ({"scheduling": "now"}, "$.scheduling", "object expected, got 'now'"),
    "text for a number": (
        {"guestAccelerators": [{"acceleratorCount": "many"}]},
        "$.guestAccelerators[0].acceleratorCount",
        "integer expected, got 'many'",
    ),
    "number out of range": (
        {"guestAccelerators": [{"acceleratorCount": 2**31}]},
        "$.guestAccelerators[0].acceleratorCount",
        "integer expected, got 2147483648",
    ),
    "yes or no for a number": (
        {"guestAccelerators": [{"acceleratorCount": True}]},
        "$.guestAccelerators[0].acceleratorCount",
        "integer expected, got True",
    ),
    "text that is no number": (
        {"disks": [{"diskSizeGb": "200GB"}]},
        "$.disks[0].diskSizeGb",
        "decimal string expected, got '200GB'",
    ),
    "not base64": ({"fingerprint": "a%b"}, "$.fingerprint", "base64 expected, got 'a%b'"),
    "label that is no text": ({"labels": {"a": 1}}, "$.labels.a", "string expected, got 1"),
    "name with capitals": (
        {"name": "VM"},
        "$.name",
        "'VM' does not match [a-z](?:[-a-z0-9]{0,61}[a-z0-9])?",
    ),
    "list for the body": ([], "$", "object expected, got []"),
}


def test_a_right_body_has_no_findings():
    assert check(load_api("compute", "v1"), "Instance", VM) == []


@pytest.mark.parametrize(("body", "path", "message"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_found_where_it_is(body, path, message):
    findings = check(load_api("compute", "v1"), "Instance", body)
    assert [(finding.path, finding.message) for finding in findings] == [(path, message)]


def test_every_mistake_is_found_at_once():
    body = {"machineTyp": "x", "disks": [{"boot": "yes"}], "scheduling": {"preemptible": 1}}
    findings = check(load_api("compute", "v1"), "Instance", body)
    assert [finding.description for finding in findings] == [
        'Invalid JSON payload received. Unknown name "machineTyp": Cannot find field.',
        "Invalid value at 'disks[0].boot' (TYPE_BOOL), \"yes\"",
        "Invalid value at 'scheduling.preemptible' (TYPE_BOOL), 1",
    ]


def test_an_unknown_field_below_is_described_with_its_place_as_protocol_buffers_name_it():
    body = {"guestAccelerators": [{"anX": 1}]}
    findings = check(load_api("compute", "v1"), "Instance", body)
    assert findings[0].description == (
        'Invalid JSON payload received. Unknown name "anX" at '
        "'guest_accelerators[0]': Cannot find field."
    )


def test_a_name_that_breaks_the_rule_is_described_with_the_rule():
    findings = check(load_api("compute", "v1"), "Instance", {"name": "VM"})
    assert findings[0].description == (
        "Invalid value for field 'resource.name': 'VM'. "
        "Must be a match of regex '[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?'"
    )


def test_bytes_may_lack_their_padding_in_a_request_only():
    api = load_api("compute", "v1")
    assert check(api, "Instance", {"fingerprint": "q83vEg"}) == []
    assert len(check(api, "Instance", {"fingerprint": "q83vEg"}, answer=True)) == 1


@pytest.mark.parametrize(
    "body",
    [{"disks": [{"diskSizeGb": 200}]}, {"guestAccelerators": [{"acceleratorCount": "2"}]}],
    ids=["number for int64", "text for int32"],
)
def test_numbers_have_either_form_in_a_request_and_one_in_an_answer(body):
    api = load_api("compute", "v1")
    assert check(api, "Instance", body) == []
    assert len(check(api, "Instance", body, answer=True)) == 1


def test_anything_may_stand_where_the_schema_says_so():
    answer = {"name": "operations/x", "done": True, "response": {"@type": "t", "a": [1, {}]}}
    assert check(load_api("serviceusage", "v1"), "Operation", answer, answer=True) == []


def test_an_empty_message_takes_no_field():
    findings = check(load_api("tpu", "v2"), "Empty", {"a": 1})
    assert [finding.path for finding in findings] == ["$.a"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"maxResults": "500", "filter": "name=x", "pageToken": "t", "orderBy": "name"}, []),
        ({"alt": "json", "fields": "items", "prettyPrint": "false", "$alt": "json"}, []),
        ({"returnPartialSuccess": "True"}, []),
        ({"maxResult": "5"}, [("maxResult", "unknown parameter")]),
        ({"zone": "z"}, [("zone", "unknown parameter")]),
        ({"maxResults": "few"}, [("maxResults", "integer expected, got 'few'")]),
        ({"maxResults": "-1"}, [("maxResults", "integer expected, got '-1'")]),
    ],
)
def test_a_query_is_checked(query, expected):
    method = load_api("compute", "v1").method("compute.instances.list")
    found = [(finding.path, finding.message) for finding in check_query(method, query)]
    assert found == expected


def test_yes_or_no_in_a_query_is_taken_as_clients_write_it():
    method = load_api("storage", "v1").method("storage.objects.list")
    for text in ("true", "True", "FALSE", "1"):
        assert check_query(method, {"versions": text}) == []
    findings = check_query(method, {"versions": "perhaps"})
    assert [finding.message for finding in findings] == ["boolean expected, got 'perhaps'"]


def test_an_unknown_parameter_is_described_in_googles_words():
    method = load_api("tpu", "v2").method("tpu.projects.locations.nodes.list")
    assert check_query(method, {"nonsense": "1"})[0].description == (
        'Invalid JSON payload received. Unknown name "nonsense": Cannot bind query parameter. '
        "Field 'nonsense' could not be found in request message."
    )


def test_an_enum_in_a_query_is_a_name_or_a_number():
    method = load_api("storage", "v1").method("storage.buckets.get")
    assert check_query(method, {"projection": "full"}) == []
    assert check_query(method, {"projection": "1"}) == []
    assert check_query(method, {"projection": "half"}) == [
        Finding(
            "projection",
            "'half' not in enum (2 values)",
            "Invalid value for field 'projection': 'half'.",
        )
    ]


def test_a_required_parameter_that_lacks_is_found():
    method = load_api("storage", "v1").method("storage.buckets.insert")
    assert [finding.path for finding in check_query(method, {})] == ["project"]
    assert check_query(method, {"project": "p"}) == []


def test_a_name_in_the_path_must_have_its_shape():
    api = load_api("compute", "v1")
    path = "/compute/v1/projects/p/zones/us-central1-a/instances/"
    assert check_params(api.match("GET", f"{path}vm")) == []
    findings = check_params(api.match("GET", f"{path}..%2F..%2Fetc"))
    assert [finding.path for finding in findings] == ["instance"]
    assert findings[0].description == (
        "Invalid value for field 'instance': '../../etc'. Must be a match of regex "
        "'[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?|[1-9][0-9]{0,19}'"
    )
