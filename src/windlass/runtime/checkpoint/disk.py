"""Checkpoints on a disk: files that are durable before they are named.

Must not know what the bytes mean. A name that was published is never written again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Dict, List, Optional

from windlass.runtime.checkpoint import manifest
from windlass.runtime.checkpoint.errors import Damage
from windlass.runtime.checkpoint.places import Stored


class DiskShelf:
    """Implements places.Shelf in a folder of a file system."""

    remedy = (
        "Free some space there, keep fewer checkpoints, or name another folder in "
        "`checkpoint: {to: ...}`."
    )

    def __init__(self, root: Path) -> None:
        self._root = root

    def __str__(self) -> str:
        return str(self._root)

    def at(self, step: int) -> DiskPlace:
        """See Shelf."""
        return DiskPlace(self._root / str(step))

    def steps(self) -> List[int]:
        """See Shelf."""
        return [step for step in self._numbers() if (self.at(step).folder / manifest.NAME).exists()]

    def everything(self) -> Dict[int, Dict[str, Stored]]:
        """See Shelf."""
        return {step: self.at(step).files() for step in self._numbers()}

    def room(self) -> str:
        """See Shelf."""
        try:
            return f"{shutil.disk_usage(self._root).free} are free"
        except OSError:
            return "how much is free cannot be told"

    def _numbers(self) -> List[int]:
        try:
            names = [entry.name for entry in self._root.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())


class DiskPlace:
    """Implements places.Place in a folder of its own."""

    pause_s = 0.02

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return str(self.folder)

    def prepare(self) -> None:
        """See Place."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _sync(self.folder.parent)

    def open_data(self, name: str) -> DiskSink:
        """See Place."""
        path = self.folder / name
        try:
            return DiskSink(_create(path))
        except FileNotFoundError:  # Somebody who failed has just tidied the empty folder away.
            self.prepare()
            return DiskSink(_create(path))

    def settle(self) -> None:
        """See Place."""
        _sync(self.folder)

    def publish(self, name: str, data: bytes, *, staged: str) -> bool:
        """See Place. A file system whose reply was lost says that there is one already, which is
        our own link when it holds these very bytes."""
        path, draft = self.folder / name, self.folder / staged
        try:
            _write_durably(draft, data)
            try:
                os.link(draft, path)
            except FileExistsError:
                return path.read_bytes() == data
        finally:
            self.remove(staged)
        return True

    def may_hold(self, name: str, data: bytes) -> bool:
        """See Place."""
        try:
            return self.read(name) == data
        except OSError:
            return False

    def read(self, name: str) -> Optional[bytes]:
        """See Place."""
        try:
            return (self.folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def load(self, name: str, size: int) -> memoryview:
        """See Place."""
        content = bytearray(size)
        try:
            with open(self.folder / name, "rb", buffering=0) as file:
                if os.fstat(file.fileno()).st_size != size:
                    raise Damage(f"{name} has another size than was written")
                _read_all(file.fileno(), memoryview(content))
        except FileNotFoundError:
            raise Damage(f"{name} is missing") from None
        except OSError as exc:
            raise Damage(f"{name} cannot be read: {exc.strerror}") from exc
        return memoryview(content)

    def files(self) -> Dict[str, Stored]:
        """See Place."""
        found = {}
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # Removed while we look.
                        status = entry.stat()
                        found[entry.name] = Stored(status.st_size, status.st_mtime)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        return found

    def remove(self, name: str) -> None:
        """See Place."""
        with contextlib.suppress(OSError):
            (self.folder / name).unlink()

    def retract(self, name: str) -> None:
        """See Place."""
        (self.folder / name).unlink()
        _sync(self.folder)

    def leave(self) -> None:
        """See Place."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()


class DiskSink:
    """Implements places.Sink over an open file."""

    def __init__(self, fd: int) -> None:
        self._fd: Optional[int] = fd

    def write(self, block: memoryview) -> None:
        """See Sink."""
        assert self._fd is not None
        _write_all(self._fd, block)

    def finish(self) -> None:
        """See Sink."""
        assert self._fd is not None
        os.fsync(self._fd)
        fd, self._fd = self._fd, None
        os.close(fd)

    def abandon(self) -> None:
        """See Sink."""
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = None


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


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
