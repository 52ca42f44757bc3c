"""Multipart uploads, with the line ends of every client."""

from __future__ import annotations

import pytest

from windlass.twin.messages import Bytes
from windlass.twin.storage.related import Related

CONTENTS = [b"", b"hello", b"ends with a carriage return\r", b"\n", b"\r\n--other\r\n"]


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"], ids=["whole", "bare"])
def test_line_ends_of_both_kinds_are_read_and_content_is_left_alone(content, line_end):
    lines = [
        b"--==0==",
        b"Content-Type: application/json; charset=UTF-8",
        b"",
        b'{"name": "x"}',
        b"--==0==",
        b"Content-Type: text/plain",
        b"",
        content,
        b"--==0==--",
    ]
    body = Bytes(line_end.join(lines))
    related = Related(body, content_type='multipart/related; boundary="==0=="')
    assert related.document() == {"name": "x"}
    assert related.media_type == "text/plain"
    assert b"".join(related.pieces()) == content
