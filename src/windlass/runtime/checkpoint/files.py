"""The data files of one checkpoint: filled up to a size, and read back verified.

Must not know what the bytes mean, nor where they are kept (places.py).
"""

from __future__ import annotations

from typing import List, Optional, Tuple

from windlass.runtime.checkpoint.checksums import Checksum, checksum
from windlass.runtime.checkpoint.errors import Damage
from windlass.runtime.checkpoint.manifest import DataFile
from windlass.runtime.checkpoint.places import Place, Sink


class DataWriter:
    """Fills numbered data files up to a size, each durable before the next is begun."""

    def __init__(self, place: Place, stem: str, *, algorithm: str, bytes_max: int) -> None:
        self.place = place
        self.stem = stem
        self.algorithm = algorithm
        self.bytes_max = bytes_max
        self.files: List[DataFile] = []
        self._sink: Optional[Sink] = None
        self._begun = 0
        self._size = 0
        self._checksum: Checksum = checksum(algorithm)

    def add(self, block: memoryview) -> Tuple[str, int]:
        """Store a block; returns the file's name and the offset in it."""
        if self._sink is not None and self._size + block.nbytes > self.bytes_max:
            self.finish()
        if self._sink is None:
            self._begin()
        assert self._sink is not None
        offset = self._size
        self._sink.write(block)
        self._checksum.update(block)
        self._size += block.nbytes
        return self._name(), offset

    def finish(self) -> None:
        """Make the file durable that is being written, if there is one."""
        if self._sink is None:
            return
        self._sink.finish()
        self._sink = None
        self.files.append(DataFile(self._name(), self._size, self._checksum.hexdigest()))

    def discard(self) -> None:
        """Remove everything that was written."""
        if self._sink is not None:
            self._sink.abandon()
            self._sink = None
        for index in range(1, self._begun + 1):
            self.place.remove(self._name(index))

    def _begin(self) -> None:
        self._begun += 1
        self._size = 0
        self._checksum = checksum(self.algorithm)
        self._sink = self.place.open_data(self._name())

    def _name(self, index: Optional[int] = None) -> str:
        return f"{self.stem}-{self._begun if index is None else index:04d}.bin"


def read_verified(place: Place, entry: DataFile, algorithm: str) -> memoryview:
    """The content of a data file.

    Raises:
        Damage: it is missing, has another size, or other bytes than were written.
    """
    content = place.load(entry.name, entry.size)
    seen = checksum(algorithm)
    seen.update(content)
    if seen.hexdigest() != entry.checksum:
        raise Damage(f"{entry.name} has other bytes than were written")
    return content
