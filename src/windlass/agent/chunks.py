"""A stream of bytes in the run folder, as numbered chunks.

Must not look into the bytes.
"""

from __future__ import annotations

from windlass.agent import layout
from windlass.agent.folder import Folder

CHUNK_BYTES = 4 << 20


class Chunks:
    """Writes `<stem>-00001.<suffix>`, and the next one when that is full."""

    def __init__(self, folder: Folder, stem: str, suffix: str) -> None:
        self._folder = folder
        self._stem = stem
        self._suffix = suffix
        self._index = 1
        self._bytes = 0

    def add(self, data: bytes) -> None:
        """Add to the stream. OSError: nothing was added, and it may be tried again."""
        name = layout.chunk(self._stem, self._index, self._suffix)
        if self._folder.can_append:
            self._folder.append(name, data)
        else:
            self._folder.write(name, data)
        self._bytes += len(data)
        if self._bytes >= CHUNK_BYTES or not self._folder.can_append:
            self._index += 1
            self._bytes = 0
