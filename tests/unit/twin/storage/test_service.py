"""The whole service: what it answers, what it keeps, and many callers at once."""

from __future__ import annotations

import threading

import pytest

from buckets import Client, content, open_storage, place, uploads
from windlass.twin.messages import Request

LARGE = b"x" * 100_000


@pytest.mark.parametrize(
    ("host", "path", "is_ours"),
    [
        ("storage.googleapis.com", "/anything/at/all", True),
        ("shelf.storage.googleapis.com", "/a", True),
        ("www.googleapis.com", "/storage/v1/b", True),
        ("127.0.0.1", "/storage/v1/b", True),
        ("127.0.0.1", "/upload/storage/v1/b/x/o", True),
        ("127.0.0.1", "/shelf/a/b", True),
        ("127.0.0.1", "/shelf", True),
        ("127.0.0.1", "/shelf/v1/projects", False),
        ("127.0.0.1", "/compute/v1/projects", False),
        ("127.0.0.1", "/", False),
        ("compute.googleapis.com", "/shelf/a", False),
        ("evilstorage.googleapis.com", "/shelf/a", False),
    ],
)
def test_it_knows_what_is_for_it(client, host, path, is_ours):
    assert client.storage.handles(Request(method="GET", host=host, path=path)) is is_ours


def test_everything_is_there_after_a_restart(tmp_path):
    first = open_storage(tmp_path)
    client = Client(first)
    client.make_bucket()
    small, large = client.put("a", b"1"), client.put("b", LARGE)
    first.close()
    second = open_storage(tmp_path)
    client = Client(second)
    assert client.get("a") == small
    assert client.get("b") == large
    assert client.bytes("b") == LARGE
    assert int(client.put("c")["generation"]) > int(large["generation"])
    second.close()


def test_what_a_crash_left_is_removed_at_the_start(tmp_path):
    first = open_storage(tmp_path)
    client = Client(first)
    client.make_bucket()
    client.put("a", LARGE)
    first.close()
    (tmp_path / "blobs" / "orphan").write_bytes(b"x")
    second = open_storage(tmp_path)
    assert len(list((tmp_path / "blobs").iterdir())) == 1
    assert Client(second).bytes("a") == LARGE
    second.close()


def test_one_of_many_wins_what_must_not_exist(client):
    statuses: list[int] = []

    def create() -> None:
        for number in range(20):
            response = client.ask(
                "POST", uploads(), uploadType="media", name=f"o{number}", ifGenerationMatch=0
            )
            statuses.append(response.status)

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses.count(200) == 20
    assert statuses.count(412) == 140


def test_readers_see_one_whole_object_while_writers_replace_it(client, tmp_path):
    bodies = [bytes([number]) * size for number, size in ((1, 70_000), (2, 200_000), (3, 9))]
    client.put("a", bodies[0])
    problems: list[object] = []

    def write() -> None:
        for round_ in range(30):
            client.put("a", bodies[round_ % 3])

    def read() -> None:
        for _ in range(60):
            response = client.ask("GET", place("a"), alt="media")
            if response.status != 200 or content(response) not in bodies:
                problems.append(response)

    threads = [threading.Thread(target=what) for what in (write, write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(list((tmp_path / "storage" / "blobs").iterdir())) <= 1


def test_a_refusal_in_a_crowd_reaches_its_own_caller(client):
    client.put("taken")
    found: dict[str, int] = {}

    def put(name: str) -> None:
        response = client.ask("POST", uploads(), uploadType="media", name=name, ifGenerationMatch=0)
        found[name] = response.status

    names = [f"free-{number}" for number in range(10)] + ["taken"]
    threads = [threading.Thread(target=put, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found.pop("taken") == 412
    assert set(found.values()) == {200}
