"""Mirroring what a rank says of its progress into the run folder.

Must not read the lines: only whole ones are copied.
"""

from __future__ import annotations

import os

from windlass.agent.chunks import Chunks

PASS_BYTES = 1 << 20


class Mirror:
    """Copies the growth of one file. The file keeps what could not be copied yet."""

    def __init__(self, path: str, chunks: Chunks) -> None:
        self._path = path
        self._chunks = chunks
        self._offset = 0

    def copy(self) -> bool:
        """Copy what is new; whether there was anything."""
        try:
            size = os.stat(self._path).st_size
            if size < self._offset:
                self._offset = 0  # Somebody began the file anew.
            if size == self._offset:
                return False
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                data = file.read(PASS_BYTES)
            whole = data[: data.rfind(b"\n") + 1]
            if whole:
                self._chunks.add(whole)
                self._offset += len(whole)
            elif len(data) == PASS_BYTES:
                self._offset += len(data)  # No line is that long: what it is cannot be used.
            return bool(whole)
        except OSError:
            return False  # Not there yet, or the folder cannot be written: the next pass will.

    def copy_all(self) -> None:
        """Copy until nothing is left."""
        while self.copy():
            pass
