"""A machine's serial port: all that it said, in files that hold the last megabyte.

Must not grow without bound, whatever a machine prints.
"""

from __future__ import annotations

import os
from pathlib import Path

SEGMENT_BYTES = 512 * 1024
SEGMENTS = 3


def _segments(folder: Path) -> list[tuple[int, Path]]:
    found = []
    for path in folder.glob("console-*"):
        number = path.name.partition("-")[2]
        if number.isdecimal():
            found.append((int(number), path))
    return sorted(found)


def read(folder: Path, start: int = 0) -> tuple[int, bytes]:
    """What was said from byte `start` on, and where the first byte of it stands.

    The two differ from what was asked when the beginning has been given up.
    """
    parts: list[bytes] = []
    first = start
    for offset, path in _segments(folder):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            # It was given up between the listing and now.
            continue
        if offset + len(content) <= start:
            continue
        if not parts:
            first = max(start, offset)
            content = content[first - offset :]
        parts.append(content)
    return first, b"".join(parts)


class Writer:
    """The one who writes: a machine's supervisor."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        known = _segments(folder)
        self._offset, self._path = known[-1] if known else (0, folder / "console-0")
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)
        self._size = os.fstat(self._file).st_size

    def write(self, content: bytes) -> None:
        """Add to the end; give the beginning up when there is too much."""
        view = memoryview(content)
        while view:
            piece = view[: SEGMENT_BYTES - self._size]
            written = os.write(self._file, piece)
            self._size += written
            view = view[written:]
            if self._size >= SEGMENT_BYTES:
                self._turn()

    def _turn(self) -> None:
        os.close(self._file)
        self._offset += self._size
        self._path = self._folder / f"console-{self._offset}"
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)
        self._size = 0
        for _, path in _segments(self._folder)[:-SEGMENTS]:
            path.unlink()

    def close(self) -> None:
        """No more will be said."""
        os.close(self._file)
