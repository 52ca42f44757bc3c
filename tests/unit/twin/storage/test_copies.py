"""Objects that are made of others."""

from __future__ import annotations

import pytest

from buckets import place

LARGE = bytes(range(256)) * 2000


def compose(client, name, sources, *, status=200, **more):
    body = {"sourceObjects": sources, **more}
    return client.json("POST", f"{place(name)}/compose", status=status, body=body)


def test_parts_are_put_end_to_end(client):
    client.put("a", LARGE, sent={"content-type": "text/x"})
    client.put("b", b"tail")
    made = compose(client, "c", [{"name": "a"}, {"name": "b"}, {"name": "a"}])
    assert client.bytes("c") == LARGE + b"tail" + LARGE
    assert made["componentCount"] == 3
    assert "md5Hash" not in made
    assert made["contentType"] == "text/x"
    assert made["crc32c"] == client.put("d", LARGE + b"tail" + LARGE)["crc32c"]
    assert compose(client, "e", [{"name": "c"}, {"name": "b"}])["componentCount"] == 4


def test_an_object_may_be_part_of_itself(client):
    client.put("a", b"1")
    compose(client, "a", [{"name": "a"}, {"name": "a"}])
    assert client.bytes("a") == b"11"


def test_the_hashes_that_gcloud_sends_are_those_of_a_part(client):
    client.put("a", b"1")
    compose(client, "b", [{"name": "a"}, {"name": "a"}], destination={"md5Hash": "wrong"})
    assert client.bytes("b") == b"11"


@pytest.mark.parametrize("count", [0, 33])
def test_there_are_one_to_32_parts(client, count):
    client.put("a")
    compose(client, "b", [{"name": "a"}] * count, status=400)


def test_a_part_may_have_to_be_a_generation(client):
    generation = client.put("a", b"1")["generation"]
    wrong = [{"name": "a", "objectPreconditions": {"ifGenerationMatch": "7"}}]
    compose(client, "b", wrong, status=412)
    compose(client, "b", [{"name": "a", "generation": generation}])
    compose(client, "b", [{"name": "missing"}], status=404)


def test_a_copy_says_what_its_source_says_or_what_it_is_told(client):
    client.put("a", LARGE, sent={"content-type": "text/x"})
    client.json("PATCH", place("a"), body={"metadata": {"k": "v"}})
    made = client.json("POST", f"{place('a')}/copyTo/b/shelf/o/b")
    assert made["metadata"] == {"k": "v"}
    assert made["metageneration"] == "1"
    told = {"contentType": "text/y"}
    made = client.json("POST", f"{place('a')}/copyTo/b/shelf/o/c", body=told)
    assert made["contentType"] == "text/y"
    assert "metadata" not in made
    assert client.bytes("c") == LARGE


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"ifGenerationMatch": 0}, 412),
        ({"ifSourceGenerationMatch": 7}, 412),
        ({"ifSourceGenerationNotMatch": 7}, 200),
        ({"sourceGeneration": 7}, 404),
    ],
    ids=str,
)
def test_both_ends_have_preconditions(client, query, status):
    client.put("a")
    client.put("b")
    client.json("POST", f"{place('a')}/copyTo/b/shelf/o/b", status=status, **query)


def rewrite(client, **query):
    return client.json("POST", f"{place('a')}/rewriteTo/b/far/o/b", **query)


def test_a_rewrite_to_another_place_takes_several_calls(client):
    body = LARGE * 6
    client.make_bucket("far", location="europe-west4")
    client.put("a", body)
    first = rewrite(client, maxBytesRewrittenPerCall=1 << 20)
    assert (first["done"], first["totalBytesRewritten"]) == (False, str(1 << 20))
    client.refused("GET", place("b", "far"), 404)
    token = first["rewriteToken"]
    second = rewrite(client, maxBytesRewrittenPerCall=1 << 20, rewriteToken=token)
    assert second["done"] is False
    third = rewrite(client, maxBytesRewrittenPerCall=1 << 20, rewriteToken=second["rewriteToken"])
    assert third["done"] is True
    assert third["resource"]["bucket"] == "far"
    assert client.bytes("b", bucket="far") == body
    client.put("a", body)
    path = f"{place('a')}/rewriteTo/b/far/o/b"
    client.refused("POST", path, 400, rewriteToken=token)
    client.refused("POST", path, 400, rewriteToken="rubbish")
    client.refused("POST", path, 400, maxBytesRewrittenPerCall=5)


def test_a_rewrite_beside_it_takes_one(client):
    client.make_bucket("far")
    client.put("a", LARGE * 6)
    made = rewrite(client, maxBytesRewrittenPerCall=1 << 20)
    assert made["done"] is True
    assert made["objectSize"] == str(len(LARGE) * 6)


def test_a_move_is_one_step(client):
    client.put("a", LARGE)
    client.json("POST", f"{place('a')}/moveTo/o/b")
    assert client.names() == ["b"]
    assert client.bytes("b") == LARGE


def test_a_new_class_keeps_the_rest(client):
    client.put("a", b"1", sent={"content-type": "text/x"})
    body = {"storageClass": "NEARLINE"}
    made = client.json("POST", f"{place('a')}/rewriteTo/b/shelf/o/a", body=body)["resource"]
    assert (made["storageClass"], made["contentType"]) == ("NEARLINE", "text/x")
