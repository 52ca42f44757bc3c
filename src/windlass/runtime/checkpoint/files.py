"""The files of one checkpoint on a disk: written durably, published once, read back verified.

Must not know what the bytes mean. A name that was published is never written again.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import List, Optional, Tuple

from windlass.runtime.checkpoint.checksums import Checksum, checksum
from windlass.runtime.checkpoint.errors import Damage
from windlass.runtime.checkpoint.manifest import DataFile


class DataWriter:
    """Fills numbered data files up to a size, each durable before the next is begun."""

    def __init__(self, folder: Path, stem: str, *, algorithm: str, bytes_max: int) -> None:
        self.folder = folder
        self.stem = stem
        self.algorithm = algorithm
        self.bytes_max = bytes_max
        self.files: List[DataFile] = []
        self._fd: Optional[int] = None
        self._begun = 0
        self._size = 0
        self._checksum: Checksum = checksum(algorithm)

    def add(self, block: memoryview) -> Tuple[str, int]:
        """Store a block; returns the file's name and the offset in it."""
        if self._fd is not None and self._size + block.nbytes > self.bytes_max:
            self.finish()
        if self._fd is None:
            self._begin()
        assert self._fd is not None
        offset = self._size
        _write_all(self._fd, block)
        self._checksum.update(block)
        self._size += block.nbytes
        return self._name(), offset

    def finish(self) -> None:
        """Make the file durable that is being written, if there is one."""
        if self._fd is None:
            return
        os.fsync(self._fd)
        fd, self._fd = self._fd, None
        os.close(fd)
        self.files.append(DataFile(self._name(), self._size, self._checksum.hexdigest()))

    def discard(self) -> None:
        """Remove everything that was written."""
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = None
        for index in range(1, self._begun + 1):
            remove(self.folder / self._name(index))

    def _begin(self) -> None:
        self._begun += 1
        self._size = 0
        self._checksum = checksum(self.algorithm)
        path = self.folder / self._name()
        try:
            self._fd = _create(path)
        except FileNotFoundError:  # Somebody who failed has just tidied the empty folder away.
            make_folder(self.folder)
            self._fd = _create(path)

    def _name(self, index: Optional[int] = None) -> str:
        return f"{self.stem}-{self._begun if index is None else index:04d}.bin"


def publish(path: Path, staged: Path, data: bytes) -> bool:
    """Create `path` with this content, whole and durable, only if there is none.

    False when there was one already, except when it holds these very bytes: a file system whose
    reply was lost says so about our own link.
    """
    try:
        _write_durably(staged, data)
        try:
            os.link(staged, path)
        except FileExistsError:
            return path.read_bytes() == data
    finally:
        remove(staged)
    return True


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_folder(folder: Path) -> None:
    """Make the folder of a checkpoint, durably."""
    folder.mkdir(parents=True, exist_ok=True)
    sync_folder(folder.parent)


def remove_folder_if_empty(folder: Path) -> None:
    """Remove the folder of a checkpoint unless something is in it."""
    with contextlib.suppress(OSError):
        folder.rmdir()


def read_or_none(path: Path) -> Optional[bytes]:
    """The content of a small file; None when it is not there or cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def remove(path: Path) -> None:
    """Remove a file; one that is gone already, or cannot be removed, is left to the next sweep."""
    with contextlib.suppress(OSError):
        path.unlink()


def read_verified(folder: Path, entry: DataFile, algorithm: str) -> memoryview:
    """The content of a data file.

    Raises:
        Damage: it is missing, has another size, or other bytes than were written.
    """
    content = bytearray(entry.size)
    seen = checksum(algorithm)
    try:
        with open(folder / entry.name, "rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size != entry.size:
                raise Damage(f"{entry.name} has another size than was written")
            _read_all(file.fileno(), memoryview(content))
    except FileNotFoundError:
        raise Damage(f"{entry.name} is missing") from None
    except OSError as exc:
        raise Damage(f"{entry.name} cannot be read: {exc.strerror}") from exc
    seen.update(memoryview(content))
    if seen.hexdigest() != entry.checksum:
        raise Damage(f"{entry.name} has other bytes than were written")
    return memoryview(content)


def has_size(path: Path, size: int) -> bool:
    """Whether the file is there and as long as it should be."""
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def _create(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.open(path, flags, 0o644)


def _write_durably(path: Path, data: bytes) -> None:
    fd = _create(path)
    try:
        _write_all(fd, memoryview(data))
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_all(fd: int, data: memoryview) -> None:
    """A full disk takes a part of a write before it refuses the rest."""
    done = 0
    while done < data.nbytes:
        done += os.write(fd, data[done:])


def _read_all(fd: int, into: memoryview) -> None:
    done = 0
    while done < into.nbytes:
        count = os.readv(fd, [into[done:]])
        if count == 0:
            raise Damage("a file became shorter while it was read")
        done += count
