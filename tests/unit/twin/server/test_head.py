"""Heads of requests: taken when everybody reads them the same way, refused otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.twin.server.head import HEADERS_MAX, LINE_MAX, address, parse
from windlass.twin.server.stream import Malformed


def head(text: str):
    return parse(text.strip("\n").replace("\n", "\r\n").encode())


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("no words", "hello", 400),
        ("two spaces", "GET  / HTTP/1.1\nHost: a", 400),
        ("no target", "GET  HTTP/1.1\nHost: a", 400),
        ("a method with a bracket", "G(T / HTTP/1.1\nHost: a", 400),
        ("another protocol", "GET / HTTP/2.0\nHost: a", 505),
        ("no host", "GET / HTTP/1.1\nAccept: x", 400),
        ("two hosts", "GET / HTTP/1.1\nHost: a\nHost: b", 400),
        ("two lengths", "GET / HTTP/1.1\nHost: a\nContent-Length: 1\nContent-Length: 1", 400),
        ("a negative length", "GET / HTTP/1.1\nHost: a\nContent-Length: -1", 400),
        ("a length with a sign", "GET / HTTP/1.1\nHost: a\nContent-Length: +1", 400),
        ("a length of other digits", "GET / HTTP/1.1\nHost: a\nContent-Length: ١", 400),
        ("an absurd length", f"PUT / HTTP/1.1\nHost: a\nContent-Length: {'9' * 30}", 413),
        (
            "a length and chunks",
            "PUT / HTTP/1.1\nHost: a\nContent-Length: 5\nTransfer-Encoding: chunked",
            400,
        ),
        ("an unknown coding", "PUT / HTTP/1.1\nHost: a\nTransfer-Encoding: gzip, chunked", 501),
        ("chunks in HTTP/1.0", "PUT / HTTP/1.0\nTransfer-Encoding: chunked", 400),
        ("a header without a colon", "GET / HTTP/1.1\nHost: a\nnonsense", 400),
        ("a space before the colon", "GET / HTTP/1.1\nHost : a", 400),
        ("a folded header", "GET / HTTP/1.1\nHost: a\nX: 1\n  2", 400),
        ("a header without a name", "GET / HTTP/1.1\nHost: a\n: x", 400),
        ("a zero byte", "GET / HTTP/1.1\nHost: a\nX: \x00", 400),
        ("another expectation", "GET / HTTP/1.1\nHost: a\nExpect: a miracle", 417),
        ("a long URL", f"GET /{'x' * LINE_MAX} HTTP/1.1\nHost: a", 414),
        ("many headers", "GET / HTTP/1.1\nHost: a" + "\nX: 1" * HEADERS_MAX, 431),
        ("a URL that is not ASCII", "GET /é HTTP/1.1\nHost: a", 400),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_what_could_be_read_in_two_ways_is_refused(name, text, status):
    with pytest.raises(Malformed) as refused:
        head(text)
    assert refused.value.status == status, name


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\nHost: a", b"GET / HTTP/1.1\r\nHost: a\rX: b"])
def test_half_a_line_end_is_refused(data):
    with pytest.raises(Malformed):
        parse(data)


def test_names_are_lower_case_and_values_trimmed_and_joined():
    found = head("GET / HTTP/1.1\nHOST:  a \nX-Goog-Meta: 1\nx-goog-meta:\t2")
    assert found.headers == {"host": "a", "x-goog-meta": "1, 2"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("GET / HTTP/1.1\nHost: a", True),
        ("GET / HTTP/1.1\nHost: a\nConnection: close", False),
        ("GET / HTTP/1.1\nHost: a\nConnection: TE, Close", False),
        ("GET / HTTP/1.0", False),
        ("GET / HTTP/1.0\nConnection: keep-alive", True),
    ],
)
def test_who_wants_to_ask_again(line, expected):
    assert head(line).stays_open is expected


@pytest.mark.parametrize(
    ("target", "host", "expected"),
    [
        ("/a/b?c=d", "127.0.0.1:80", ("127.0.0.1", "http://127.0.0.1", "/a/b", "c=d")),
        ("/a", "localhost:4443", ("localhost", "http://localhost:4443", "/a", "")),
        ("/a%2Fb", "Storage.GoogleAPIs.com", ("storage.googleapis.com",) * 1),
        ("http://127.0.0.1:9/a?b", "x", ("127.0.0.1", "http://127.0.0.1:9", "/a", "b")),
        ("https://tpu.googleapis.com", "x", ("tpu.googleapis.com", "https://tpu.googleapis.com")),
        ("http://h?x", "x", ("h", "http://h", "/", "x")),
        ("/a", "[::1]:80", ("::1", "http://[::1]", "/a", "")),
        ("*", "h", ("h", "http://h", "*", "")),
    ],
)
def test_whom_a_request_is_for(target, host, expected):
    found = address(
        head(f"GET {target} HTTP/1.1\nHost: {host}"), scheme="http", fallback="127.0.0.1:1"
    )
    assert (found.host, found.base, found.path, found.query)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("target", "host"), [("ftp://a/b", "a"), ("/a", "a b"), ("/a", "a:99999"), ("/a", "a/b@c")]
)
def test_a_host_that_is_none_is_refused(target, host):
    found = head(f"GET {target} HTTP/1.1\nHost: {host}")
    with pytest.raises(Malformed):
        address(found, scheme="http", fallback="x:1")


WORDS = [
    "GET",
    "/",
    "HTTP/1.1",
    " ",
    "\r\n",
    "Host: a",
    "Content-Length: 5",
    ":",
    "\x00",
    "\t",
    "é",
]


@given(st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(WORDS)).map("".join)))
def test_whatever_comes_is_taken_or_refused_and_nothing_breaks(data):
    try:
        found = parse(data if isinstance(data, bytes) else data.encode())
        address(found, scheme="http", fallback="127.0.0.1:1")
    except Malformed as refused:
        assert 400 <= refused.status < 600
