"""What a watcher is shown of bodies that stream through."""

from __future__ import annotations

import pytest

from windlass.twin.messages import Bytes
from windlass.twin.watching import KEPT, Overheard

RELATED = (
    b'--b\r\nContent-Type: application/json\r\n\r\n{"name": "a"}\r\n'
    b"--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b--\r\n"
)


@pytest.mark.parametrize(
    ("content", "kind", "shown"),
    [
        (b'{"name": "a"}', "application/json; charset=utf-8", {"name": "a"}),
        (b'{"name": ', "application/json", None),
        (b"hello", "text/plain", None),
        (b"", "application/json", None),
        (RELATED, "multipart/related; boundary='b'", {"name": "a"}),
        (RELATED, "multipart/related", None),
        (b"", "multipart/related; boundary=b", None),
    ],
    ids=["json", "broken", "other", "empty", "upload", "upload-no-boundary", "upload-empty"],
)
def test_the_json_of_a_request_is_shown(content, kind, shown):
    body = Overheard(Bytes(content))
    assert body.read(4) + body.read() == content
    assert body.document(kind) == shown


def test_only_the_beginning_is_kept():
    body = Overheard(Bytes(RELATED + b"x" * (2 * KEPT)))
    assert len(body.read()) == len(RELATED) + 2 * KEPT
    assert body.document("multipart/related; boundary=b") == {"name": "a"}


def test_nothing_is_read_that_nobody_else_reads():
    body = Overheard(Bytes(b'{"a": 1}'))
    assert body.document("application/json") is None
    assert body.read() == b'{"a": 1}'
