"""However the network cuts what a client sends, the same requests come out of it."""

from __future__ import annotations

import contextlib
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from windlass.twin.server.bodies import body_of
from windlass.twin.server.head import parse
from windlass.twin.server.stream import Gone, Limits, Stream

REQUESTS = (
    b"GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
    b"PUT /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n\r\n\r\nabc"
    b"PUT /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3\r\nabc\r\n4;x=y\r\n\r\n\r\n\r\n0\r\nTrailer: t\r\n\r\n"
    b"\r\nPUT /4 HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"
    b"GET /5 HTTP/1.1\r\nHost: h\r\n\r\n"
)
EXPECTED = [
    ("/1", b""),
    ("/2", b"\r\n\r\nabc"),
    ("/3", b"abc\r\n\r\n"),
    ("/4", b""),
    ("/5", b""),
]


class Cut:
    """A socket that hands out exactly these pieces, one a receive, and never more than asked."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def recv(self, size: int, flags: int = 0) -> bytes:
        if not self._pieces:
            return b""
        piece = self._pieces.pop(0)
        if len(piece) > size:
            self._pieces.insert(0, piece[size:])
        return piece[:size]


@given(
    cuts=st.sets(st.integers(1, len(REQUESTS) - 1), max_size=40),
    size=st.sampled_from([-1, 1, 2, 3, 1000]),
)
def test_requests_do_not_depend_on_how_they_were_cut(cuts, size):
    pieces = [REQUESTS[a:b] for a, b in pairwise([0, *sorted(cuts), len(REQUESTS)])]
    stream = Stream(Cut(pieces), Limits())
    assert [_read(stream, size) for _ in EXPECTED] == EXPECTED
    assert stream.head() is None


@given(cut=st.integers(0, len(REQUESTS)))
def test_a_client_that_stops_in_the_middle_leaves_whole_requests_or_nothing(cut):
    stream = Stream(Cut([REQUESTS[:cut]] if cut else []), Limits())
    found = []
    with contextlib.suppress(Gone):
        while (data := stream.head()) is not None:
            head = parse(data)
            found.append((head.target, body_of(head, stream, go_on=lambda: None).read()))
    assert found == EXPECTED[: len(found)]


def _read(stream: Stream, size: int) -> tuple[str, bytes]:
    head = parse(stream.head())
    body = body_of(head, stream, go_on=lambda: None)
    content = b""
    while piece := body.read(size):
        content += piece
    assert body.is_over
    return head.target, content
