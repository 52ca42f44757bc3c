"""Resumable uploads go on after cuts and restarts, and lose nothing that was acknowledged."""

from __future__ import annotations

import base64
import hashlib
import json
import random

import pytest

from buckets import Client, CutBody, HandClock, content, headers, open_storage, place, uploads

QUANTUM = 256 << 10
WHOLE = random.Random(2).randbytes(5 * QUANTUM + 123)
SIZE = len(WHOLE)


def span(start, end, total="*"):
    return f"bytes {start}-{end - 1}/{total}"


def kept(response):
    """How many bytes the service says that it has."""
    assert response.status == 308, content(response)
    known = headers(response).get("range")
    return 0 if known is None else int(known.removeprefix("bytes=0-")) + 1


def is_done(response):
    assert response.status == 200, content(response)
    return json.loads(content(response))


@pytest.mark.parametrize("body", [b"", b"small", WHOLE], ids=["empty", "inline", "blob"])
def test_all_at_once(client, body):
    session = client.start_session("a")
    made = is_done(client.send(session, body))
    assert made["md5Hash"] == base64.b64encode(hashlib.md5(body).digest()).decode()
    assert client.bytes("a") == body


@pytest.mark.parametrize("is_known", [True, False], ids=["size known", "size unknown"])
def test_in_chunks(client, is_known):
    session = client.start_session("a")
    total = SIZE if is_known else "*"
    for start in range(0, 4 * QUANTUM, 2 * QUANTUM):
        end = start + 2 * QUANTUM
        assert kept(client.send(session, WHOLE[start:end], span=span(start, end, total))) == end
        client.refused("GET", place("a"), 404)
    done = client.send(session, WHOLE[4 * QUANTUM :], span=span(4 * QUANTUM, SIZE, SIZE))
    assert is_done(done)["size"] == str(SIZE)
    assert client.bytes("a") == WHOLE


def test_a_chunk_that_is_no_quantum_is_kept_in_part(client):
    session = client.start_session("a")
    assert kept(client.send(session, WHOLE[:300_000], span=span(0, 300_000))) == QUANTUM
    is_done(client.send(session, WHOLE[QUANTUM:], span=span(QUANTUM, SIZE, SIZE)))
    assert client.bytes("a") == WHOLE


def test_bytes_that_are_there_already_are_skipped(client):
    session = client.start_session("a")
    client.send(session, WHOLE[: 2 * QUANTUM], span=span(0, 2 * QUANTUM))
    again = client.send(session, WHOLE[1000 : 3 * QUANTUM], span=span(1000, 3 * QUANTUM))
    assert kept(again) == 3 * QUANTUM
    is_done(client.send(session, WHOLE[1000:], span=span(1000, SIZE, SIZE)))
    assert client.bytes("a") == WHOLE


@pytest.mark.parametrize("total", ["*", SIZE])
def test_a_chunk_must_be_a_quantum_unless_it_is_the_last(client, total):
    session = client.start_session("a")
    response = client.send(session, WHOLE[:1000], span=span(0, 1000, total))
    assert response.status == 400
    assert b"The received request contained 1000 bytes" in content(response)
    assert kept(client.send(session, span="bytes */*")) == 0
    is_done(client.send(session, WHOLE, span=span(0, SIZE, SIZE)))


def test_a_gap_is_refused(client):
    session = client.start_session("a")
    message = client.send(session, b"x" * QUANTUM, span=span(QUANTUM, 2 * QUANTUM))
    assert message.status == 503
    assert kept(client.send(session, span="bytes */*")) == 0


@pytest.mark.parametrize("asked", ["bytes */*", f"bytes */{SIZE}"])
def test_how_far_it_is(client, asked):
    session = client.start_session("a")
    assert kept(client.send(session, span=asked)) == 0
    client.send(session, WHOLE[:QUANTUM], span=span(0, QUANTUM))
    assert kept(client.send(session, span=asked)) == QUANTUM


def test_its_end_may_be_said_afterwards(client):
    session = client.start_session("a")
    client.send(session, WHOLE[: 2 * QUANTUM], span=span(0, 2 * QUANTUM))
    is_done(client.send(session, span=f"bytes */{2 * QUANTUM}"))
    assert client.bytes("a") == WHOLE[: 2 * QUANTUM]


def test_a_finished_session_says_so_again(client):
    session = client.start_session("a")
    made = is_done(client.send(session, b"1"))
    assert is_done(client.send(session, span="bytes */1")) == made
    assert is_done(client.send(session, b"2")) == made
    assert client.bytes("a") == b"1"


@pytest.mark.parametrize("header", [span(0, SIZE, SIZE), ""], ids=["ranged", "plain"])
def test_a_cut_keeps_what_arrived(client, header):
    session = client.start_session("a")
    with pytest.raises(ConnectionError):
        client.send(session, CutBody(WHOLE[: 3 * QUANTUM + 5]), span=header)
    client.refused("GET", place("a"), 404)
    there = kept(client.send(session, span=f"bytes */{SIZE}"))
    assert there == 3 * QUANTUM
    is_done(client.send(session, WHOLE[there:], span=span(there, SIZE, SIZE)))
    assert client.bytes("a") == WHOLE


def test_a_session_survives_a_restart(tmp_path):
    first = open_storage(tmp_path)
    client = Client(first)
    client.make_bucket()
    session = client.start_session("a")
    client.send(session, WHOLE[: 2 * QUANTUM], span=span(0, 2 * QUANTUM))
    first.close()
    # The machine died while more was being written, which was never acknowledged.
    (blob,) = (tmp_path / "blobs").iterdir()
    with blob.open("ab") as file:
        file.write(b"torn")
    second = open_storage(tmp_path)
    client = Client(second)
    there = kept(client.send(session, span=f"bytes */{SIZE}"))
    assert there == 2 * QUANTUM
    made = is_done(client.send(session, WHOLE[there:], span=span(there, SIZE, SIZE)))
    assert made["md5Hash"] == base64.b64encode(hashlib.md5(WHOLE).digest()).decode()
    assert client.bytes("a") == WHOLE
    second.close()


def test_a_cancelled_session_is_over(client, tmp_path):
    session = client.start_session("a")
    client.send(session, WHOLE[:QUANTUM], span=span(0, QUANTUM))
    assert client.ask("DELETE", uploads(), upload_id=session).status == 499
    assert client.send(session, span="bytes */*").status == 499
    assert list((tmp_path / "storage" / "blobs").iterdir()) == []


def test_an_unknown_session_is_not_found(client):
    assert client.send("nothing", b"x").status == 404


def test_a_session_is_forgotten_after_a_week(client, clock, storage, tmp_path):
    session = client.start_session("a")
    client.send(session, WHOLE[:QUANTUM], span=span(0, QUANTUM))
    clock.at += 8 * 86400
    assert client.send(session, span="bytes */*").status == 404
    storage.sweep(clock.at)
    assert list((tmp_path / "storage" / "blobs").iterdir()) == []


def test_preconditions_are_checked_at_the_beginning_and_at_the_end(client):
    session = client.start_session("a", ifGenerationMatch=0)
    client.put("a", b"another was faster")
    assert client.send(session, WHOLE).status == 412
    client.refused("POST", uploads(), 412, uploadType="resumable", name="a", ifGenerationMatch=0)
    assert client.bytes("a") == b"another was faster"


def test_a_wrong_hash_at_the_end_leaves_nothing(client, tmp_path):
    session = client.start_session("a")
    assert client.send(session, WHOLE, sent={"x-goog-hash": "crc32c=AAAAAA=="}).status == 400
    client.refused("GET", place("a"), 404)
    assert list((tmp_path / "storage" / "blobs").iterdir()) == []


@pytest.mark.parametrize("header", ["bytes x", "bytes 1-2", "lines 1-2/3"])
def test_a_broken_range_is_refused(client, header):
    session = client.start_session("a")
    assert client.send(session, b"x", span=header).status == 400


def test_the_same_seed_never_gives_a_name_twice(tmp_path):
    found = set()
    for _ in range(3):
        storage = open_storage(tmp_path, clock=HandClock(), seed=5)
        client = Client(storage)
        if not found:
            client.make_bucket()
        client.put(f"o{len(found)}", WHOLE)
        found.add(client.start_session("a"))
        storage.close()
    assert len(found) == 3
    assert len(list((tmp_path / "blobs").iterdir())) == 3
