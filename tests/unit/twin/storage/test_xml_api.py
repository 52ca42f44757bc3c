"""The XML API, as obstore, transfer_manager and gsutil use it."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

import pytest

from buckets import Client, content, headers, place

PART = b"p" * (5 << 20)


def path(name, bucket="shelf"):
    return f"/{bucket}/{quote(name)}"


def texts(response, tag):
    return re.findall(rf"<{tag}>(.*?)</{tag}>", content(response).decode())


def test_an_object_is_put_shown_and_deleted(client):
    sent = {"content-type": "text/x", "x-goog-meta-k": "v", "cache-control": "no-store"}
    put = client.ask("PUT", path("a b/ü"), body=b"hello", sent=sent)
    assert put.status == 200
    assert headers(put)["etag"] == f'"{hashlib.md5(b"hello").hexdigest()}"'
    got = client.ask("GET", path("a b/ü"))
    assert content(got) == b"hello"
    shown = headers(got)
    assert shown["x-goog-generation"] == headers(put)["x-goog-generation"]
    assert shown["content-type"] == "text/x"
    assert shown["x-goog-meta-k"] == "v"
    assert shown["cache-control"] == "no-store"
    assert shown["last-modified"] == "Fri, 15 Jan 2027 08:00:00 GMT"
    head = client.ask("HEAD", path("a b/ü"))
    assert (head.status, content(head), headers(head)["content-length"]) == (200, b"", "5")
    part = client.ask("GET", path("a b/ü"), sent={"range": "bytes=1-2"})
    assert (part.status, content(part)) == (206, b"el")
    assert client.get("a b/ü")["metadata"] == {"k": "v"}
    assert client.ask("DELETE", path("a b/ü")).status == 204
    assert client.ask("GET", path("a b/ü")).status == 404


def test_headers_do_not_repeat(client):
    client.put("a", b"x", sent={"content-type": "text/x"})
    names = [name.lower() for name, _ in client.ask("GET", path("a")).headers]
    assert len(names) == len(set(names))


def test_a_bucket_may_be_in_the_host(client):
    hosted = Client(client.storage, host="shelf.storage.googleapis.com")
    assert hosted.ask("PUT", "/a/b", body=b"1").status == 200
    assert client.bytes("a/b") == b"1"
    assert texts(hosted.ask("GET", "/"), "Key") == ["a/b"]


@pytest.mark.parametrize(
    ("method", "where", "status", "code"),
    [
        ("GET", "/shelf/missing", 404, "NoSuchKey"),
        ("GET", "/nowhere/x", 404, "NoSuchBucket"),
        ("PUT", "/nowhere/x", 404, "NoSuchBucket"),
        ("DELETE", "/shelf/missing", 404, "NoSuchKey"),
        ("GET", "/nowhere", 404, "NoSuchBucket"),
        ("PATCH", "/shelf/x", 405, "MethodNotAllowed"),
    ],
)
def test_errors_are_xml(client, method, where, status, code):
    response = client.ask(method, where)
    assert response.status == status
    assert texts(response, "Code") == [code]


def test_a_missing_key_is_named(client):
    response = client.ask("GET", "/shelf/x%26y")
    assert texts(response, "Message") == ["The specified key does not exist."]
    assert texts(response, "Details") == ["No such object: shelf/x&amp;y"]


def test_preconditions_are_headers(client):
    once = {"x-goog-if-generation-match": "0"}
    first = client.ask("PUT", path("a"), body=b"1", sent=once)
    assert first.status == 200
    assert client.ask("PUT", path("a"), body=b"2", sent=once).status == 412
    etag = headers(first)["etag"]
    assert client.ask("GET", path("a"), sent={"if-none-match": etag}).status == 304
    assert client.ask("GET", path("a"), sent={"if-match": '"other"'}).status == 412
    wrong = client.ask("PUT", path("b"), body=b"1", sent={"content-md5": "AAAA"})
    assert (wrong.status, texts(wrong, "Code")) == (400, ["BadDigest"])


def test_a_copy_names_its_source(client):
    client.put("a b", b"1", sent={"content-type": "text/x"})
    sent = {"x-goog-copy-source": "shelf/a%20b"}
    response = client.ask("PUT", path("c"), sent=sent)
    assert response.status == 200
    assert texts(response, "ETag")
    assert client.get("c")["contentType"] == "text/x"
    sent["x-goog-if-generation-match"] = "0"
    assert client.ask("PUT", path("c"), sent=sent).status == 412


@pytest.mark.parametrize("dialect", [{}, {"list-type": "2"}], ids=["first", "second"])
@pytest.mark.parametrize("delimiter", ["", "/"])
def test_pages_together_are_the_list(client, dialect, delimiter):
    for name in ("a", "b/1", "b/2", "c<&>", "d/1"):
        client.put(name)
    names: list[str] = []
    query = {**dialect, "max-keys": 1, **({"delimiter": delimiter} if delimiter else {})}
    for _ in range(10):
        page = client.ask("GET", "/shelf", **query)
        names += texts(page, "Key") + [
            prefix
            for group in texts(page, "CommonPrefixes")
            for prefix in re.findall(">(.*)<", group)
        ]
        if texts(page, "IsTruncated") == ["false"]:
            break
        if dialect:
            query["continuation-token"] = texts(page, "NextContinuationToken")[0]
        else:
            query["marker"] = texts(page, "NextMarker")[0].replace("&lt;&amp;&gt;", "<&>")
    shown = "c&lt;&amp;&gt;"
    expected = ["a", "b/", shown, "d/"] if delimiter else ["a", "b/1", "b/2", shown, "d/1"]
    assert names == expected


def test_a_list_begins_behind_a_name(client):
    for name in ("a", "b", "c"):
        client.put(name)
    page = client.ask("GET", "/shelf", **{"list-type": 2, "start-after": "a", "prefix": ""})
    assert texts(page, "Key") == ["b", "c"]


def begin(client, name="big", **sent):
    response = client.ask("POST", path(name), uploads="", sent=sent)
    return texts(response, "UploadId")[0]


def finish(client, upload, parts, name="big"):
    body = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>{e}</ETag></Part>" for n, e in parts)
    text = f"<CompleteMultipartUpload>{body}</CompleteMultipartUpload>".encode()
    return client.ask("POST", path(name), uploadId=upload, body=text)


def put_part(client, upload, number, body, name="big"):
    response = client.ask("PUT", path(name), uploadId=upload, partNumber=number, body=body)
    assert response.status == 200, content(response)
    return number, headers(response)["etag"]


def test_parts_become_an_object(client, tmp_path):
    upload = begin(client, **{"content-type": "text/x"})
    last = put_part(client, upload, 2, b"tail")
    put_part(client, upload, 1, b"replaced")
    first = put_part(client, upload, 1, PART)
    assert client.ask("GET", path("big")).status == 404
    listed = client.ask("GET", path("big"), uploadId=upload)
    assert texts(listed, "PartNumber") == ["1", "2"]
    assert texts(client.ask("GET", "/shelf", uploads=""), "UploadId") == [upload]
    done = finish(client, upload, [first, last])
    assert done.status == 200
    assert client.bytes("big") == PART + b"tail"
    made = client.get("big")
    assert made["contentType"] == "text/x"
    assert "md5Hash" not in made
    assert headers(done)["x-goog-generation"] == made["generation"]
    assert finish(client, upload, [first, last]).status == 404
    assert len(list((tmp_path / "storage" / "blobs").iterdir())) == 1


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([(1, ""), (3, "")], "InvalidPart"),
        ([(1, '"wrong"')], "InvalidPart"),
        ([(2, ""), (1, "")], "InvalidPartOrder"),
        ([(2, ""), (4, "")], "EntityTooSmall"),
        ([], "MalformedXML"),
    ],
)
def test_a_wrong_completion_is_refused(client, parts, code):
    upload = begin(client)
    put_part(client, upload, 1, PART)
    put_part(client, upload, 2, b"2")
    put_part(client, upload, 4, b"4")
    response = finish(client, upload, parts)
    assert (response.status, texts(response, "Code")) == (400, [code])


@pytest.mark.parametrize("body", [b"<a", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"])
def test_xml_that_is_none_or_defines_entities_is_refused(client, body):
    upload = begin(client)
    response = client.ask("POST", path("big"), uploadId=upload, body=body)
    assert (response.status, texts(response, "Code")) == (400, ["MalformedXML"])


def test_an_upload_that_is_given_up_leaves_nothing(client, tmp_path):
    upload = begin(client)
    put_part(client, upload, 1, PART)
    assert client.ask("DELETE", path("big"), uploadId=upload).status == 204
    assert client.ask("DELETE", path("big"), uploadId=upload).status == 404
    assert list((tmp_path / "storage" / "blobs").iterdir()) == []


def test_a_bucket_goes_with_its_unfinished_uploads(client, tmp_path):
    put_part(client, begin(client), 1, PART)
    assert client.ask("DELETE", "/shelf").status == 204
    assert list((tmp_path / "storage" / "blobs").iterdir()) == []


def test_a_session_begins_with_a_header(client):
    response = client.ask("POST", path("a"), sent={"x-goog-resumable": "start"})
    assert response.status == 201
    session = headers(response)["location"].rpartition("upload_id=")[2]
    assert client.ask("PUT", path("a"), upload_id=session, body=b"1").status == 200
    assert client.bytes("a") == b"1"


def test_buckets_are_made_listed_and_shown(client):
    sent = {"x-goog-project-id": "twin"}
    assert client.ask("PUT", "/second", sent=sent).status == 200
    assert client.ask("PUT", "/second", sent=sent).status == 409
    assert client.ask("HEAD", "/second").status == 200
    assert client.ask("HEAD", "/third").status == 404
    assert texts(client.ask("GET", "/", sent=sent), "Name") == ["second", "shelf"]
    assert texts(client.ask("GET", "/second", location=""), "Location") == ["US"]


def test_a_removed_object_can_be_listed_in_json_no_more(client):
    client.put("a")
    client.ask("DELETE", path("a"))
    client.refused("GET", place("a"), 404)
