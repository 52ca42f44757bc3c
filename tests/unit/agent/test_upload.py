"""Large objects arrive whole, whatever breaks on the way."""

from __future__ import annotations

import os

import pytest

from bucket_server import BUCKET, BucketServer, cut_after, lost_reply, refusal, storage
from windlass.agent import upload
from windlass.agent.bucket import BucketFolder
from windlass.agent.storage import BucketError
from windlass.agent.upload import Place, store
from windlass.twin.messages import json_response

SIZE = 20 << 20


@pytest.fixture(scope="module")
def data() -> bytes:
    return os.urandom(SIZE)


def sent_bytes(server: BucketServer) -> int:
    return sum(int(headers.get("content-length", 0)) for headers in server.headers)


def test_a_large_object_is_sent_in_pieces(bucket: BucketFolder, server, data: bytes) -> None:
    bucket.write("big", data)
    assert bucket.read("big") == data
    assert sum(line.startswith("PUT") for line in server.asked) == 3


@pytest.mark.parametrize("after", [0, 1, 3 << 20, (8 << 20) - 1])
def test_an_upload_that_is_cut_goes_on_where_it_was(
    bucket: BucketFolder, server: BucketServer, data: bytes, after: int
) -> None:
    server.next(cut_after(after), cut_after(after), method="PUT")
    bucket.write("big", data)
    assert bucket.read("big") == data
    assert sent_bytes(server) < SIZE + (18 << 20), "no piece was sent more often than it broke"


def test_a_last_answer_that_is_lost_does_no_harm(bucket: BucketFolder, server, data) -> None:
    small = data[: 5 << 20]
    server.next(lost_reply, method="PUT")
    assert bucket.create("big", small)
    assert bucket.read("big") == small


@pytest.mark.parametrize("status", [404, 410])
def test_an_upload_that_was_forgotten_is_begun_again(
    bucket: BucketFolder, server: BucketServer, data: bytes, status: int
) -> None:
    server.next(refusal(status), method="PUT")
    bucket.write("big", data)
    assert bucket.read("big") == data


def test_an_upload_that_is_always_forgotten_fails(bucket: BucketFolder, server, data) -> None:
    server.next(*[refusal(410)] * upload.STARTS, method="PUT")
    with pytest.raises(BucketError, match="410"):
        bucket.write("big", data)
    assert bucket.read("big") is None


def test_an_upload_that_does_not_move_fails_in_time(server: BucketServer, data: bytes) -> None:
    server.next(*[refusal(503)] * 50, method="PUT")
    with pytest.raises(BucketError, match="503"):
        store(storage(patience_s=1.0), Place(BUCKET, "big", {}), data)


def test_a_large_object_is_created_once(bucket: BucketFolder, data: bytes) -> None:
    assert bucket.create("big", data)
    assert not bucket.create("big", data[::-1])
    assert bucket.read("big") == data


def test_what_arrives_altered_is_refused(bucket: BucketFolder, server: BucketServer) -> None:
    def alter(request, answer):
        return json_response({"md5Hash": "1B2M2Y8AsgTpgAmY7PhCfg=="})

    server.next(alter)
    with pytest.raises(BucketError, match="other bytes"):
        bucket.write("small", b"hello")
