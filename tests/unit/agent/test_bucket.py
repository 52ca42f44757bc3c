"""The run folder in a bucket: the promises of a folder, kept over a bad network."""

from __future__ import annotations

import os

import pytest

from bucket_server import BUCKET, URL, BucketServer, lost_reply, lost_request, refusal, storage
from windlass.agent import bucket as buckets
from windlass.agent.bucket import BucketFolder, split_url
from windlass.agent.open_folder import open_folder


def test_objects_are_written_read_listed_and_deleted(bucket: BucketFolder) -> None:
    assert bucket.read("a/b.json") is None
    bucket.write("a/b.json", b"one")
    bucket.write("a/b.json", b"two")
    bucket.write("ab/c", b"")
    assert bucket.read("a/b.json") == b"two"
    assert bucket.read("ab/c") == b""
    assert bucket.list("a") == ["a/b.json"]
    assert bucket.list("nowhere") == []
    bucket.delete("a/b.json")
    bucket.delete("a/b.json")
    assert bucket.read("a/b.json") is None


def test_names_keep_their_letters(bucket: BucketFolder, server: BucketServer) -> None:
    name = "rank 0/a?b#c%2F+é.txt"
    bucket.write(name, b"x")
    assert bucket.read(name) == b"x"
    assert bucket.list("rank 0") == [name]
    assert server.names() == [f"home/{name}"]


@pytest.mark.parametrize("offset, rest", [(0, b"hello"), (2, b"llo"), (5, b""), (9, b"")])
def test_the_end_of_an_object_is_read_without_its_beginning(
    bucket: BucketFolder, offset: int, rest: bytes
) -> None:
    bucket.write("x", b"hello")
    assert bucket.read_from("x", offset) == rest
    assert bucket.read_from("y", offset) is None


def test_an_object_is_created_once(bucket: BucketFolder) -> None:
    assert bucket.create("winner", b"me")
    assert not bucket.create("winner", b"you")
    assert not bucket.create("winner", b"me"), "there was one before"
    assert bucket.read("winner") == b"me"


@pytest.mark.parametrize("size", [10, 5 << 20])
@pytest.mark.parametrize("trouble", [lost_reply, lost_request, refusal(503)])
def test_what_was_created_is_ours_though_the_answer_was_lost(
    bucket: BucketFolder, server: BucketServer, trouble, size: int
) -> None:
    data = os.urandom(size)
    bucket.read("warm")  # The connection is open: the loss is met on one that was kept.
    server.next(trouble, method="PUT" if size > 100 else "POST")
    assert bucket.create("winner", data)
    assert bucket.read("winner") == data


@pytest.mark.parametrize("size", [10, 5 << 20])
def test_what_another_created_is_not_ours_when_an_answer_is_lost(
    bucket: BucketFolder, server: BucketServer, size: int
) -> None:
    bucket.write("winner", b"you")
    server.next(lost_request, lost_reply)
    assert not bucket.create("winner", os.urandom(size))
    assert bucket.read("winner") == b"you"


def test_lists_of_many_pages_are_whole(
    bucket: BucketFolder, server: BucketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "PAGE", "3")
    names = [f"log-{number}" for number in range(10)]
    for name in names:
        bucket.write(f"x/{name}", b"1")
    asked = len(server.asked)
    assert bucket.list("x") == [f"x/{name}" for name in names]
    assert len(server.asked) - asked == 4


def test_a_look_tells_what_has_changed(bucket: BucketFolder) -> None:
    for name in ("a.json", "nodes/0/beat.json", "nodes/0/rank-0/log-1.txt"):
        bucket.write(f"x[1]/{name}", b"1")
    before = bucket.look("x[1]", glob="{*.json,nodes/*/*.json}")
    assert sorted(before) == ["x[1]/a.json", "x[1]/nodes/0/beat.json"]
    bucket.write("x[1]/a.json", b"22")
    after = bucket.look("x[1]", glob="{*.json,nodes/*/*.json}")
    assert after["x[1]/nodes/0/beat.json"] == before["x[1]/nodes/0/beat.json"]
    assert after["x[1]/a.json"].size == 2
    assert after["x[1]/a.json"].generation != before["x[1]/a.json"].generation


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../x", "a//b", "", "a/.", "a/"])
def test_a_name_never_leaves_the_folder(bucket: BucketFolder, name: str) -> None:
    for act in (bucket.read, bucket.delete, lambda name: bucket.write(name, b"")):
        with pytest.raises(ValueError, match="not a name inside"):
            act(name)


@pytest.mark.parametrize("url", ["gs://", "gs:///x", "file:///x", "runs/x"])
def test_only_a_bucket_is_a_bucket(url: str) -> None:
    with pytest.raises(ValueError, match="not the URL"):
        split_url(url)


def test_a_folder_may_be_the_whole_bucket(bucket: BucketFolder, server: BucketServer) -> None:
    BucketFolder(f"gs://{BUCKET}", storage=storage()).write("top", b"1")
    assert server.names() == ["top"]


def test_an_agent_opens_it_by_its_url(server: BucketServer, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("WINDLASS_TOKEN_COMMAND", f"cat '{tmp_path}/token'")
    (tmp_path / "token").write_text('{"access_token": "good", "expires_in": 300}')
    folder = open_folder(URL)
    folder.write("x", b"1")
    assert folder.read("x") == b"1"
