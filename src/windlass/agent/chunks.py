"""A stream of bytes in the run folder, as numbered chunks.

Must not look into the bytes.
"""

from __future__ import annotations

from windlass.agent import layout
from windlass.agent.folder import Folder
from windlass.agent.pace import pace_of

CHUNK_BYTES = 4 << 20
WHOLE_BYTES = 256 << 10
"""Where objects cannot grow, a chunk is written anew with all that it holds: not too much."""


class Chunks:
    """Writes `<stem>-00001.<suffix>`, and the next one when that is full.

    To a reader a chunk only ever grows, in a bucket too: what was read before stays as it was.
    """

    def __init__(self, folder: Folder, stem: str, suffix: str) -> None:
        self._folder = folder
        self._stem = stem
        self._suffix = suffix
        self._index = 1
        self._bytes = 0
        self._held = b""
        self._chunk_bytes = CHUNK_BYTES if folder.can_append else WHOLE_BYTES
        self.pause_s = pace_of(folder).flush_s
        """How long to leave between two additions."""

    def add(self, data: bytes) -> None:
        """Add to the stream. OSError: nothing was added, and it may be tried again."""
        name = layout.chunk(self._stem, self._index, self._suffix)
        if self._folder.can_append:
            self._folder.append(name, data)
        else:
            self._folder.write(name, self._held + data)
            self._held += data
        self._bytes += len(data)
        if self._bytes >= self._chunk_bytes:
            self._index += 1
            self._bytes = 0
            self._held = b""
