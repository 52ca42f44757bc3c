"""Objects are shown, listed, described and deleted as at Google."""

from __future__ import annotations

import base64
import gzip
import hashlib

import pytest

from buckets import BASE, START, content, headers, place, uploads
from windlass.twin.storage.names import bucket_etag, object_etag

LARGE = bytes(range(256)) * 1000


@pytest.mark.parametrize("body", [b"", b"hello", LARGE], ids=["empty", "inline", "blob"])
def test_what_was_uploaded_comes_back(client, body):
    made = client.put("a/b.txt", body, sent={"content-type": "text/plain"})
    assert client.get("a/b.txt") == made
    assert client.bytes("a/b.txt") == body
    assert made["size"] == str(len(body))
    assert made["contentType"] == "text/plain"
    assert made["generation"] == str(int(START * 1e6))
    assert made["metageneration"] == "1"
    assert made["id"] == f"shelf/a/b.txt/{made['generation']}"
    assert made["selfLink"] == f"{BASE}/storage/v1/b/shelf/o/a%2Fb.txt"
    assert made["mediaLink"].startswith(f"{BASE}/download/storage/v1/b/shelf/o/a%2Fb.txt?")


def test_hashes_are_googles(client):
    made = client.put("a", b"123456789")
    assert made["crc32c"] == "4waSgw=="
    assert made["md5Hash"] == "JfnnlDI7RTiF9RgfG2JNCw=="


def test_an_etag_packs_generation_and_metageneration_as_googles_do():
    assert object_etag(1418688703353000, 1) == "CKih16GjycICEAE="
    assert bucket_etag(1) == "CAE="


def test_a_download_says_what_it_is(client):
    made = client.put("a", LARGE)
    response = client.ask("GET", place("a"), alt="media")
    shown = headers(response)
    assert shown["x-goog-hash"] == f"crc32c={made['crc32c']},md5={made['md5Hash']}"
    assert shown["x-goog-generation"] == made["generation"]
    assert shown["x-goog-stored-content-length"] == str(len(LARGE))
    assert shown["etag"] == f'"{made["etag"]}"'
    assert shown["last-modified"] == "Fri, 15 Jan 2027 08:00:00 GMT"


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=10-", 10, None),
        ("bytes=-7", -7, None),
        ("bytes=5-99999999", 5, None),
    ],
)
@pytest.mark.parametrize("body", [b"0123456789abcdefghijklmnop", LARGE], ids=["inline", "blob"])
def test_a_range_is_part_of_it(client, body, asked, start, end):
    client.put("a", body)
    response = client.ask("GET", place("a"), alt="media", sent={"range": asked})
    assert response.status == 206
    assert content(response) == body[start:end]
    first = start if start >= 0 else len(body) + start
    last = len(body) - 1 if end is None else end - 1
    assert headers(response)["content-range"] == f"bytes {first}-{last}/{len(body)}"


@pytest.mark.parametrize("asked", ["bytes=5-", "bytes=5-9", "bytes=-0"])
def test_a_range_beyond_the_end_is_refused(client, asked):
    client.put("a", b"12345")
    client.refused("GET", place("a"), 416, alt="media", sent={"range": asked})


@pytest.mark.parametrize("asked", ["bytes=a-b", "lines=1-2", "bytes=3-1", "bytes=-"])
def test_a_range_that_makes_no_sense_is_everything(client, asked):
    client.put("a", b"12345")
    response = client.ask("GET", place("a"), alt="media", sent={"range": asked})
    assert (response.status, content(response)) == (200, b"12345")


def test_what_is_not_there_is_not_found(client):
    assert client.refused("GET", place("x/y"), 404) == "No such object: shelf/x/y"
    message = "The specified bucket does not exist."
    assert client.refused("GET", place("x", "nowhere"), 404) == message
    assert client.refused("GET", "/storage/v1/b/nowhere/o", 404) == message
    assert client.refused("DELETE", place("x"), 404) == "No such object: shelf/x"
    client.put("x")
    assert client.refused("GET", place("x"), 404, generation=7) == "No such object: shelf/x#7"


@pytest.mark.parametrize(
    ("query", "read", "write"),
    [
        ({"ifGenerationMatch": "G"}, 200, 200),
        ({"ifGenerationMatch": "7"}, 412, 412),
        ({"ifGenerationMatch": "0"}, 412, 412),
        ({"ifGenerationNotMatch": "G"}, 304, 412),
        ({"ifGenerationNotMatch": "7"}, 200, 200),
        ({"ifGenerationNotMatch": "0"}, 200, 200),
        ({"ifMetagenerationMatch": "1"}, 200, 200),
        ({"ifMetagenerationMatch": "2"}, 412, 412),
        ({"ifMetagenerationNotMatch": "1"}, 304, 412),
        ({"ifMetagenerationNotMatch": "2"}, 200, 200),
        ({"ifGenerationMatch": "x"}, 400, 400),
    ],
    ids=str,
)
def test_preconditions_hold_or_refuse(client, query, read, write):
    generation = client.put("a", b"1")["generation"]
    asked = {key: value.replace("G", generation) for key, value in query.items()}
    assert client.ask("GET", place("a"), **asked).status == read
    assert client.ask("GET", place("a"), alt="media", **asked).status == read
    assert client.ask("PATCH", place("a"), body={"metadata": {}}, **asked).status == write


def test_a_failed_precondition_has_googles_body(client):
    client.put("a")
    response = client.ask("POST", uploads(), uploadType="media", name="a", ifGenerationMatch="0")
    assert response.status == 412
    assert client.json(
        "POST", uploads(), status=412, uploadType="media", name="a", ifGenerationMatch="0"
    ) == {
        "error": {
            "code": 412,
            "message": "At least one of the pre-conditions you specified did not hold.",
            "errors": [
                {
                    "message": "At least one of the pre-conditions you specified did not hold.",
                    "domain": "global",
                    "reason": "conditionNotMet",
                    "locationType": "header",
                    "location": "If-Match",
                }
            ],
        }
    }


def test_an_object_that_must_not_exist_is_made_once(client):
    client.put("a", b"first", ifGenerationMatch=0)
    client.refused("POST", uploads(), 412, uploadType="media", name="a", ifGenerationMatch=0)
    assert client.bytes("a") == b"first"


def test_etags_in_headers_are_preconditions_too(client):
    etag = client.put("a")["etag"]
    assert client.ask("GET", place("a"), sent={"if-none-match": f'"{etag}"'}).status == 304
    assert client.ask("GET", place("a"), sent={"if-none-match": '"other"'}).status == 200
    assert client.ask("GET", place("a"), sent={"if-match": '"other"'}).status == 412


def test_metadata_is_patched_and_replaced(client, clock):
    client.put("a", b"1", sent={"content-type": "text/plain"})
    clock.at += 5
    made = client.json("PATCH", place("a"), body={"metadata": {"x": "1", "y": "2"}})
    assert made["metadata"] == {"x": "1", "y": "2"}
    assert made["metageneration"] == "2"
    assert made["updated"] > made["timeCreated"]
    made = client.json("PATCH", place("a"), body={"metadata": {"x": None}, "cacheControl": "no"})
    assert made["metadata"] == {"y": "2"}
    assert made["contentType"] == "text/plain"
    made = client.json("PUT", place("a"), body={"contentLanguage": "de"})
    assert "metadata" not in made
    assert "cacheControl" not in made
    assert made["contentLanguage"] == "de"
    assert client.bytes("a") == b"1"


def test_a_custom_time_only_moves_on(client):
    client.put("a")
    client.json("PATCH", place("a"), body={"customTime": "2026-01-02T00:00:00Z"})
    client.refused("PATCH", place("a"), 400, body={"customTime": "2026-01-01T00:00:00Z"})
    client.refused("PATCH", place("a"), 400, body={"customTime": None})


def test_only_the_fields_that_were_asked_for_are_sent(client):
    client.put("a", b"1")
    assert client.get("a", fields="name,size") == {"name": "a", "size": "1"}
    page = client.json("GET", "/storage/v1/b/shelf/o", fields="items(name)")
    assert page == {"items": [{"name": "a"}]}


def test_a_held_object_stays(client):
    client.put("a")
    client.json("PATCH", place("a"), body={"temporaryHold": True})
    assert "Temporary hold" in client.refused("DELETE", place("a"), 403)
    client.refused("POST", uploads(), 403, uploadType="media", name="a")
    client.json("PATCH", place("a"), body={"temporaryHold": False})
    client.delete("a")


def test_a_retention_policy_keeps_objects(client, clock):
    client.json("PATCH", "/storage/v1/b/shelf", body={"retentionPolicy": {"retentionPeriod": "60"}})
    client.put("a")
    client.refused("DELETE", place("a"), 403)
    clock.at += 61
    client.delete("a")


def test_a_zipped_object_is_unpacked_for_who_cannot(client):
    packed = gzip.compress(LARGE)
    client.put("a", packed, contentEncoding="gzip")
    assert client.bytes("a") == LARGE
    assert client.bytes("a", sent={"accept-encoding": "gzip"}) == packed


def test_generations_only_grow_even_when_time_stands(client, storage):
    first = int(client.put("a")["generation"])
    client.delete("a")
    assert int(client.put("a")["generation"]) == first + 1


def test_versions_are_kept_where_the_bucket_keeps_them(client):
    client.json("PATCH", "/storage/v1/b/shelf", body={"versioning": {"enabled": True}})
    one = client.put("a", b"one")["generation"]
    two = client.put("a", LARGE)["generation"]
    assert client.bytes("a") == LARGE
    assert client.bytes("a", generation=one) == b"one"
    assert "timeDeleted" in client.get("a", generation=one)
    client.delete("a")
    client.refused("GET", place("a"), 404)
    page = client.json("GET", "/storage/v1/b/shelf/o", versions=True)
    assert [item["generation"] for item in page["items"]] == [one, two]
    assert client.names() == []
    client.delete("a", generation=one)
    client.delete("a", generation=two)
    assert client.names(versions=True) == []


def test_a_blob_is_removed_with_its_last_object(client, tmp_path):
    blobs = tmp_path / "storage" / "blobs"
    client.put("a", LARGE)
    client.json("POST", f"{place('a')}/copyTo/b/shelf/o/b")
    assert len(list(blobs.iterdir())) == 1
    client.delete("a")
    assert client.bytes("b") == LARGE
    client.put("b", b"small")
    assert list(blobs.iterdir()) == []


def test_a_download_goes_on_when_its_object_is_replaced(client, tmp_path):
    client.put("a", LARGE)
    response = client.ask("GET", place("a"), alt="media")
    client.put("a", LARGE[::-1])
    assert content(response) == LARGE
    del response
    assert len(list((tmp_path / "storage" / "blobs").iterdir())) == 1


def test_sent_hashes_are_checked(client):
    right = hashlib.md5(b"1", usedforsecurity=False).digest()
    good = base64.b64encode(right).decode()
    client.put("a", b"1", sent={"x-goog-hash": f"md5={good}"})
    message = client.refused(
        "POST", uploads(), 400, uploadType="media", name="b", body=b"2",
        sent={"x-goog-hash": f"crc32c=AAAAAA==,md5={good}"},
    )  # fmt: skip
    assert message.startswith('Provided CRC32C "AAAAAA==" doesn\'t match calculated CRC32C "')
    client.refused("GET", place("b"), 404)
