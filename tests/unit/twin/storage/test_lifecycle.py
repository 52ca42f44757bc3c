"""Objects grow old as their bucket's rules say."""

from __future__ import annotations

import pytest

DAY = 86400
DELETE = {"type": "Delete"}


def rules(client, *pairs, **more):
    body = {"lifecycle": {"rule": [{"action": a, "condition": c} for a, c in pairs]}, **more}
    client.json("PATCH", "/storage/v1/b/shelf", body=body)


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ({"age": 3}, ["logs/new", "new"]),
        ({"age": 3, "matchesPrefix": ["logs/"]}, ["logs/new", "new", "old"]),
        ({"age": 3, "matchesSuffix": ["ld"]}, ["logs/new", "new"]),
        ({"age": 0}, []),
        ({"createdBefore": "2027-01-17"}, ["logs/new", "new"]),
        ({"age": 0, "matchesStorageClass": ["NEARLINE"]}, ["logs/new", "logs/old", "new", "old"]),
        ({"numNewerVersions": 1}, ["logs/new", "logs/old", "new", "old"]),
        ({"age": 3, "isLive": False}, ["logs/new", "logs/old", "new", "old"]),
        ({}, ["logs/new", "logs/old", "new", "old"]),
    ],
    ids=str,
)
def test_what_is_due_is_deleted(client, storage, clock, condition, left):
    rules(client, (DELETE, condition))
    for name in ("old", "logs/old"):
        client.put(name)
    clock.at += 4 * DAY
    for name in ("new", "logs/new"):
        client.put(name)
    storage.sweep(clock.at)
    assert client.names() == left


def test_old_versions_go_before_new_ones(client, storage, clock):
    rules(client, (DELETE, {"numNewerVersions": 2}), versioning={"enabled": True})
    made = [client.put("a", bytes([i]))["generation"] for i in range(5)]
    assert storage.sweep(clock.at) == 3
    page = client.json("GET", "/storage/v1/b/shelf/o", versions=True)
    assert [item["generation"] for item in page["items"]] == made[-2:]


def test_a_live_object_becomes_noncurrent_first(client, storage, clock):
    rules(
        client,
        (DELETE, {"age": 1, "isLive": True}),
        (DELETE, {"daysSinceNoncurrentTime": 2}),
        versioning={"enabled": True},
    )
    client.put("a")
    clock.at += DAY
    storage.sweep(clock.at)
    assert client.names() == []
    assert client.names(versions=True) == ["a"]
    clock.at += 2 * DAY
    storage.sweep(clock.at)
    assert client.names(versions=True) == []


def test_a_class_changes_with_age(client, storage, clock):
    rules(client, ({"type": "SetStorageClass", "storageClass": "NEARLINE"}, {"age": 1}))
    client.put("a")
    clock.at += DAY
    assert storage.sweep(clock.at) == 1
    assert client.get("a")["storageClass"] == "NEARLINE"
    assert storage.sweep(clock.at) == 0


def test_a_hold_is_stronger(client, storage, clock):
    rules(client, (DELETE, {"age": 0}))
    client.put("a")
    client.json("PATCH", "/storage/v1/b/shelf/o/a", body={"eventBasedHold": True})
    assert storage.sweep(clock.at) == 0
    assert client.names() == ["a"]
