"""What a watcher is shown of a request whose body streams through: the JSON in its beginning.

Must not hold bytes back nor read any that nobody else reads.
"""

from __future__ import annotations

import json
from typing import Any

from windlass.twin.batch import boundary_of, split_parts
from windlass.twin.messages import Body
from windlass.twin.refusals import Refusal

KEPT = 1 << 20


class Overheard:
    """A body, of whose beginning a copy is kept while somebody reads it."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._kept = bytearray()

    def read(self, size: int = -1) -> bytes:
        """See Body."""
        piece = self._body.read(size)
        room = KEPT - len(self._kept)
        if room > 0:
            self._kept += piece[:room]
        return piece

    def document(self, content_type: str) -> Any:
        """The JSON that was sent, in an upload the part that describes the object; else None."""
        text = bytes(self._kept)
        if content_type.startswith("multipart/related"):
            text = _first_part(text, content_type)
        elif "json" not in content_type:
            return None
        try:
            return json.loads(text)
        except ValueError:
            return None


def _first_part(text: bytes, content_type: str) -> bytes:
    try:
        parts = split_parts(text, boundary_of(content_type))
    except Refusal:
        return b""
    return parts[0][1] if parts else b""
