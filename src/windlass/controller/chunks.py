"""Follows what grows in a run's folder: numbered chunks, and the lines in them.

Must not know what the bytes mean, nor lose or repeat one.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from windlass.agent import layout
from windlass.agent.folder import Folder

FRESH_BYTES = 8 << 20
"""How much of one stream is handed over at once."""


@runtime_checkable
class ReadsParts(Protocol):
    """A folder that can hand over the end of an object without its beginning."""

    def read_from(self, name: str, offset: int) -> bytes | None:
        """The object from this byte on, or None when there is none."""


class Chunks:
    """Follows one stream of numbered chunks; every byte is handed over once."""

    def __init__(self, folder: Folder, stem: str, suffix: str) -> None:
        self._folder = folder
        self._parts = folder if isinstance(folder, ReadsParts) else None
        self._stem = stem
        self._suffix = suffix
        self._index = 1
        self._offset = 0
        self.has_more = False
        """Whether the last call left something for the next one."""

    def fresh(self) -> bytes:
        """What was added since the last call; of a long log, as much as memory is meant for."""
        parts: list[bytes] = []
        size = 0
        while True:
            # The next chunk is looked for before this one is read: a chunk that has a successor
            # grows no more, so nothing written in between can be missed.
            has_next = self._read(self._index + 1, 0) is not None
            more = self._read(self._index, self._offset) or b""
            parts.append(more)
            size += len(more)
            self._offset += len(more)
            self.has_more = has_next and size >= FRESH_BYTES
            if self.has_more or not has_next:
                return b"".join(parts)
            self._index += 1
            self._offset = 0

    def _read(self, index: int, offset: int) -> bytes | None:
        name = layout.chunk(self._stem, index, self._suffix)
        if self._parts is not None:
            return self._parts.read_from(name, offset)
        data = self._folder.read(name)
        return None if data is None else data[offset:]


class Lines:
    """Whole lines of a stream of chunks; an unfinished one is kept until it is finished."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._rest = b""

    @property
    def has_more(self) -> bool:
        """See Chunks."""
        return self._chunks.has_more

    def fresh(self, *, is_last: bool = False) -> list[bytes]:
        """Lines that were finished since the last call; with `is_last` also the unfinished one."""
        data = self._rest + self._chunks.fresh()
        if not data:
            return []
        lines = data.split(b"\n")
        self._rest = lines.pop()
        if is_last and self._rest and not self.has_more:
            lines.append(self._rest)
            self._rest = b""
        return lines
