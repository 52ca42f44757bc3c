"""Uploads in one request: plain, and behind a JSON object."""

from __future__ import annotations

import json
import random

import pytest

from buckets import CutBody, place, uploads
from windlass.twin.messages import Bytes
from windlass.twin.storage.related import boundary_of

LARGE = random.Random(1).randbytes(3 << 20)


class SlowBody:
    """A body that arrives in small pieces of any size."""

    def __init__(self, content: bytes, *, most: int) -> None:
        self._bytes = Bytes(content)
        self._most = most

    def read(self, size: int = -1) -> bytes:
        return self._bytes.read(self._most if size < 0 else min(size, self._most))


def related(document, media, *, boundary="==x==", kind="text/plain"):
    return b"".join(
        [
            f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".encode(),
            json.dumps(document).encode(),
            f"\r\n--{boundary}\r\nContent-Type: {kind}\r\n\r\n".encode(),
            media,
            f"\r\n--{boundary}--".encode(),
        ]
    )


@pytest.mark.parametrize(
    "quoted", ["'==x=='", '"==x=="', "==x=="], ids=["gcloud", "double", "none"]
)
@pytest.mark.parametrize(
    "media",
    [b"", b"hello", b"\r\n--==x", LARGE],
    ids=["empty", "small", "like a boundary", "large"],
)
def test_both_parts_are_taken(client, quoted, media):
    body = related({"name": "a", "metadata": {"k": "v"}}, media)
    made = client.json(
        "POST", uploads(), uploadType="multipart", body=body,
        sent={"content-type": f"multipart/related; boundary={quoted}"},
    )  # fmt: skip
    assert made["metadata"] == {"k": "v"}
    assert made["contentType"] == "text/plain"
    assert client.bytes("a") == media


@pytest.mark.parametrize("most", [1, 7, 4096])
def test_a_boundary_may_be_cut_anywhere(client, most):
    media = LARGE[:5000] + b"\r\n--==x=" + LARGE[:100]
    body = SlowBody(related({"name": "a"}, media), most=most)
    client.json(
        "POST", uploads(), uploadType="multipart", body=body,
        sent={"content-type": "multipart/related; boundary===x=="},
    )  # fmt: skip
    assert client.bytes("a") == media


@pytest.mark.parametrize(
    "body",
    [b"", b"--==x==\r\n\r\n{}", related({"name": "a"}, b"x")[:-9], related({}, b""), b"rubbish"],
    ids=["empty", "one part", "no end", "no name", "rubbish"],
)
def test_a_broken_body_leaves_nothing(client, body, tmp_path):
    sent = {"content-type": "multipart/related; boundary===x=="}
    client.refused("POST", uploads(), 400, uploadType="multipart", body=body, sent=sent)
    assert client.names() == []
    assert list((tmp_path / "storage" / "blobs").iterdir()) == []


def test_a_boundary_is_required(client):
    client.refused("POST", uploads(), 400, uploadType="multipart", body=b"x")
    assert boundary_of("multipart/related; boundary='a b'; x=y") == b"--a b"


def test_a_type_of_upload_is_required(client):
    client.refused("POST", uploads(), 400, uploadType="other", name="a")


def test_an_upload_to_nowhere_is_refused_before_its_bytes_are_read(client):
    body = Bytes(b"x" * 10)
    client.refused("POST", uploads("nowhere"), 404, uploadType="media", name="a", body=body)
    assert body.read() == b"x" * 10


def test_an_upload_that_is_cut_leaves_nothing(client, tmp_path):
    with pytest.raises(ConnectionError):
        client.put("a", CutBody(LARGE))
    client.refused("GET", place("a"), 404)
    assert list((tmp_path / "storage" / "blobs").iterdir()) == []


def test_a_wrong_hash_leaves_what_was_there(client, tmp_path):
    client.put("a", b"before")
    client.refused(
        "POST", uploads(), 400, uploadType="media", name="a", body=LARGE,
        sent={"x-goog-hash": "crc32c=AAAAAA=="},
    )  # fmt: skip
    assert client.bytes("a") == b"before"
    assert list((tmp_path / "storage" / "blobs").iterdir()) == []


def test_hashes_in_the_document_are_checked(client):
    body = related({"name": "a", "md5Hash": "AAAAAAAAAAAAAAAAAAAAAA=="}, b"x")
    sent = {"content-type": "multipart/related; boundary===x=="}
    message = client.refused("POST", uploads(), 400, uploadType="multipart", body=body, sent=sent)
    assert message.startswith('Provided MD5 hash "AAAAAAAAAAAAAAAAAAAAAA==" doesn\'t match')
