"""Follows what grows in a run's folder: numbered chunks, and the lines in them.

Must not know what the bytes mean, nor lose or repeat one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from windlass.agent import layout
from windlass.agent.folder import Folder

if TYPE_CHECKING:
    from windlass.agent.bucket import Seen

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

    def fresh(self, listed: Mapping[str, Seen] | None = None) -> bytes:
        """What was added since the last call; of a long log, as much as memory is meant for.
        `listed`: the chunks as they are now, where somebody has looked already."""
        parts: list[bytes] = []
        size = 0
        while True:
            # The next chunk is looked for before this one is read: a chunk that has a successor
            # grows no more, so nothing written in between can be missed.
            has_next = self._exists(self._index + 1, listed)
            more = self._more(listed)
            parts.append(more)
            size += len(more)
            self._offset += len(more)
            self.has_more = has_next and size >= FRESH_BYTES
            if self.has_more or not has_next:
                return b"".join(parts)
            self._index += 1
            self._offset = 0

    def _exists(self, index: int, listed: Mapping[str, Seen] | None) -> bool:
        if listed is not None:
            return self._name(index) in listed
        return self._read(index, 0) is not None

    def _more(self, listed: Mapping[str, Seen] | None) -> bytes:
        if listed is not None:
            seen = listed.get(self._name(self._index))
            if seen is None or seen.size <= self._offset:
                return b""
        return self._read(self._index, self._offset) or b""

    def _name(self, index: int) -> str:
        return layout.chunk(self._stem, index, self._suffix)

    def _read(self, index: int, offset: int) -> bytes | None:
        name = self._name(index)
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

    def fresh(
        self, *, is_last: bool = False, listed: Mapping[str, Seen] | None = None
    ) -> list[bytes]:
        """Lines that were finished since the last call; with `is_last` also the unfinished one.
        `listed`: see Chunks."""
        data = self._rest + self._chunks.fresh(listed)
        if not data:
            return []
        lines = data.split(b"\n")
        self._rest = lines.pop()
        if is_last and self._rest and not self.has_more:
            lines.append(self._rest)
            self._rest = b""
        return lines
