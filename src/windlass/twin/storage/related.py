"""Bodies of two parts, `multipart/related`: a JSON object and the bytes that it describes.

Must not hold the bytes: they are handed on as they arrive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from windlass.twin.messages import Body
from windlass.twin.storage import faults
from windlass.twin.storage.vault import parse_document

# gcloud puts the boundary into single quotes, others into double ones or none.
_BOUNDARY = re.compile(r"""boundary=(?:"([^"]+)"|'([^']+)'|([^;\s]+))""", re.IGNORECASE)
_TYPE = re.compile(rb"^content-type:[ \t]*(.*?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
HEAD_MOST = 1 << 20
PIECE = 256 << 10


def boundary_of(content_type: str) -> bytes:
    """The line between the parts."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise faults.invalid("Malformed multipart body: no boundary.")
    return b"--" + next(group for group in found.groups() if group).encode()


class Related:
    """Reads such a body front to back: first the document, then the pieces."""

    def __init__(self, body: Body, *, content_type: str) -> None:
        self._body = body
        self._boundary = boundary_of(content_type)
        self._ahead = b""
        self._line_end = b"\r\n"
        self.media_type = ""
        """What the second part says that it is; known once the document was read."""

    def document(self) -> dict[str, Any]:
        """The first part."""
        self._until(self._boundary)
        self._head()
        text = self._until(b"\r\n" + self._boundary, b"\n" + self._boundary)
        document = parse_document(text, "Object")
        found = _TYPE.search(self._head())
        self.media_type = found[1].decode("latin-1") if found else ""
        return document

    def pieces(self) -> Iterator[bytes]:
        """The second part, up to the last boundary."""
        end = self._line_end + self._boundary
        while True:
            at = self._ahead.find(end)
            if at >= 0:
                yield self._ahead[:at]
                return
            more = self._body.read(PIECE)
            if not more:
                raise faults.invalid("Malformed multipart body: the last boundary is missing.")
            # The boundary may be cut in two between pieces.
            keep = len(end) - 1
            if len(self._ahead) > keep:
                yield self._ahead[:-keep]
                self._ahead = self._ahead[-keep:]
            self._ahead += more

    def _head(self) -> bytes:
        """A part's headers, which may be none: then a blank line follows at once."""
        # Some clients (gcsfs, gsutil) end lines with a bare line feed, before the last boundary
        # too; the bytes of the part may end with a carriage return that is theirs.
        self._line_end = b"\r\n" if self._until(b"\n").endswith(b"\r") else b"\n"
        self._fill(1)
        if self._ahead.startswith((b"\r\n", b"\n")):
            self._until(b"\n")
            return b""
        return self._until(b"\r\n\r\n", b"\n\n")

    def _fill(self, size: int) -> None:
        while len(self._ahead) < size:
            more = self._body.read(PIECE)
            if not more:
                raise faults.invalid("Malformed multipart body.")
            self._ahead += more

    def _until(self, *ends: bytes) -> bytes:
        """What comes before the first of these ends, which are left behind."""
        while True:
            found = [(at, end) for end in ends if (at := self._ahead.find(end)) >= 0]
            if found:
                at, end = min(found)
                text, self._ahead = self._ahead[:at], self._ahead[at + len(end) :]
                return text
            more = self._body.read(PIECE)
            if not more or len(self._ahead) > HEAD_MOST:
                raise faults.invalid("Malformed multipart body.")
            self._ahead += more
