"""The API of Cloud Logging."""

from __future__ import annotations

import pytest

from trainings import LOGGING, Stand

LOG = "projects/twin-project/logs/app"
RESOURCE = {"type": "global", "labels": {"project_id": "twin-project"}}


@pytest.fixture
def stand():
    return Stand()


def write(stand, *entries, **shared):
    body = {"logName": LOG, "resource": RESOURCE, "entries": list(entries), **shared}
    return stand.ask("POST", "/v2/entries:write", body, host=LOGGING)


def texts(entries):
    return [entry["textPayload"] for entry in entries]


def test_what_is_written_is_read(stand):
    given = {"textPayload": "hello", "severity": "ERROR", "labels": {"a": "1"}}
    assert write(stand, given, labels={"b": "2"}) == (200, {})
    (entry,) = stand.read_logs("severity>=ERROR")
    assert entry["textPayload"] == "hello"
    assert entry["logName"] == LOG
    assert entry["labels"] == {"a": "1", "b": "2"}
    assert entry["resource"] == RESOURCE


def test_entries_come_by_time_in_either_direction(stand):
    write(
        stand,
        {"textPayload": "late", "timestamp": "2027-01-15T07:00:02Z"},
        {"textPayload": "early", "timestamp": "2027-01-15T07:00:01Z"},
    )
    assert texts(stand.read_logs()) == ["early", "late"]
    assert texts(stand.read_logs(orderBy="timestamp desc")) == ["late", "early"]


def test_entries_come_in_pages(stand):
    write(stand, *({"textPayload": str(number)} for number in range(7)))
    body = {"resourceNames": ["projects/twin-project"], "pageSize": 3}
    seen = []
    while True:
        _, answer = stand.ask("POST", "/v2/entries:list", body, host=LOGGING)
        seen += texts(answer["entries"])
        if "nextPageToken" not in answer:
            break
        body["pageToken"] = answer["nextPageToken"]
    assert seen == [str(number) for number in range(7)]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"entries": []}, 400),
        ({"entries": [{"textPayload": "a"}]}, 400),
        ({"entries": [{"textPayload": "a"}], "logName": LOG}, 400),
        ({"entries": [{"textPayload": "a"}], "logName": "app", "resource": RESOURCE}, 400),
        ({"entries": [{"textPayloud": "a"}], "logName": LOG, "resource": RESOURCE}, 400),
    ],
)
def test_entries_that_lack_something_are_refused(stand, body, status):
    assert stand.ask("POST", "/v2/entries:write", body, host=LOGGING)[0] == status
    assert stand.read_logs() == []


def test_a_dry_run_writes_nothing(stand):
    assert write(stand, {"textPayload": "a"}, dryRun=True)[0] == 200
    assert stand.read_logs() == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"resourceNames": ["projects/twin-project"], "orderBy": "size"},
        {"resourceNames": ["projects/twin-project"], "filter": "severity="},
        {"resourceNames": ["projects/twin-project"], "pageToken": "nonsense"},
    ],
)
def test_a_list_that_cannot_be_made_is_refused(stand, body):
    assert stand.ask("POST", "/v2/entries:list", body, host=LOGGING)[0] == 400


def test_another_project_may_not_be_read(stand):
    body = {"resourceNames": ["projects/somebody-elses"]}
    assert stand.ask("POST", "/v2/entries:list", body, host=LOGGING)[0] == 403


def test_logs_are_listed_and_deleted(stand):
    write(stand, {"textPayload": "a"})
    write(stand, {"textPayload": "b"}, logName="projects/415926535897/logs/a%2Fb")
    _, answer = stand.ask("GET", "/v2/projects/twin-project/logs", host=LOGGING)
    assert answer == {"logNames": ["projects/twin-project/logs/a%2Fb", LOG]}
    path = "/v2/projects/twin-project/logs/a%2Fb"
    assert stand.ask("DELETE", path, host=LOGGING) == (200, {})
    assert stand.ask("DELETE", path, host=LOGGING)[0] == 404
    assert texts(stand.read_logs()) == ["a"]


def test_what_every_project_has_is_listed(stand):
    _, sinks = stand.ask("GET", "/v2/projects/twin-project/sinks", host=LOGGING)
    assert [sink["name"] for sink in sinks["sinks"]] == ["_Required", "_Default"]
    _, answer = stand.ask("GET", "/v2/monitoredResourceDescriptors", host=LOGGING)
    assert "ml_job" in [one["type"] for one in answer["resourceDescriptors"]]


def test_following_entries_is_not_modelled(stand):
    body = {"resourceNames": ["projects/twin-project"]}
    assert stand.ask("POST", "/v2/entries:tail", body, host=LOGGING)[0] == 501
