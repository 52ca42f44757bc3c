"""No name walks out of the folder, and only those that Google refuses are refused."""

from __future__ import annotations

import pytest

from buckets import Client, content, place, uploads

WALKS = [
    "../../etc/passwd",
    "../" * 20 + "tmp/pwned",
    "/etc/passwd",
    "..\\..\\windows\\system32",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "%00",
    "storage.db",
    "blobs/../storage.db",
    "a/../../b",
    "./.",
    "~root/.ssh/authorized_keys",
    "$(touch pwned)",
    "'; DROP TABLE objects; --",
    "con",
    "\u202egnp.exe",
    "ü" * 512,
    "a\tb\x01c",
]


@pytest.mark.parametrize("name", WALKS, ids=range(len(WALKS)))
@pytest.mark.parametrize("body", [b"small", b"x" * 100_000], ids=["inline", "blob"])
def test_a_name_is_only_a_name(client, tmp_path, name, body):
    client.put(name, body)
    assert client.get(name)["name"] == name
    assert client.bytes(name) == body
    assert client.names() == [name]
    top = sorted(path.name for path in tmp_path.iterdir())
    assert top == ["storage"]
    inside = {path.name for path in (tmp_path / "storage").iterdir()}
    assert inside <= {"storage.db", "storage.db-wal", "storage.db-shm", "blobs"}
    blobs = [path.name for path in (tmp_path / "storage" / "blobs").iterdir()]
    assert all(blob.isalnum() and len(blob) == 24 for blob in blobs)
    client.delete(name)
    assert client.names() == []


@pytest.mark.parametrize(
    "name",
    [".", "..", "a\nb", "a\rb", "a\0b", ".well-known/acme-challenge/x", "ü" * 513, "x" * 1025],
    ids=range(8),
)
def test_a_name_that_no_object_can_have_is_refused(client, name):
    client.refused("POST", uploads(), 400, uploadType="media", name=name)
    client.refused("POST", uploads(), 400, uploadType="resumable", name=name)
    client.put("a")
    client.refused("POST", f"{place('a')}/copyTo/b/shelf/o/{place(name).rpartition('/')[2]}", 400)


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/shelf/../../etc/passwd", "/shelf/%2e%2e/%2e%2e/etc/passwd"]
)
def test_a_plain_path_finds_no_file(client, path):
    response = Client(client.storage).ask("GET", path)
    assert response.status == 404
    assert b"root:" not in content(response)


def test_a_lone_surrogate_is_refused(client):
    body = b'{"name": "\\ud800"}'
    client.refused("POST", uploads(), 400, uploadType="resumable", body=body)
