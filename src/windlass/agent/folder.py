"""A run's folder on a disk: small objects that are read, written, and created only if absent.

Must not know what the objects mean (layout.py and node.py do). Python 3.9, standard library only.
"""

from __future__ import annotations

import contextlib
import io
import os
from typing import Iterator, List, Optional, Protocol, Union

Place = Union[str, "os.PathLike[str]"]


class Folder(Protocol):
    """Objects by name. A name is relative, uses `/`, and never leaves the folder."""

    def read(self, name: str) -> Optional[bytes]:
        """The object, or None when there is none."""

    def write(self, name: str, data: bytes) -> None:
        """Replace the object; a reader sees the old one or the new one, never a part."""

    def create(self, name: str, data: bytes) -> bool:
        """Write the object only if there is none; False when there was one already."""

    def append(self, name: str, data: bytes) -> None:
        """Add to the end of the object (only where `can_append`)."""

    def list(self, prefix: str) -> List[str]:
        """Every object under the folder `prefix`, or all of them, sorted."""

    def delete(self, name: str) -> None:
        """Remove the object; nothing happens when there is none."""

    @property
    def can_append(self) -> bool:
        """Whether objects can grow. A bucket's cannot."""


class DiskFolder:
    """A folder on a local or shared file system.

    Paths are plain strings: `pathlib` is a tenth of an agent's start, and a controller reads
    thousands of small files a second.
    """

    can_append = True

    def __init__(self, root: Place) -> None:
        self.root = os.fspath(root)

    def read(self, name: str) -> Optional[bytes]:
        """See Folder."""
        return self.read_from(name, 0)

    def read_from(self, name: str, offset: int) -> Optional[bytes]:
        """The object from this byte on, or None when there is none: for readers that follow."""
        try:
            with open(self._path(name), "rb", buffering=0) as file:
                if offset:
                    file.seek(offset)
                return file.readall()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, data: bytes) -> None:
        """See Folder."""
        path = self._path(name)
        with _staged(path, data, is_durable=False) as staged:
            os.replace(staged, path)

    def create(self, name: str, data: bytes) -> bool:
        """See Folder. A hard link is atomic and refuses to replace, also on NFS."""
        path = self._path(name)
        with _staged(path, data, is_durable=True) as staged:
            try:
                os.link(staged, path)
            except FileExistsError:
                return False
            finally:
                os.unlink(staged)
        return True

    def append(self, name: str, data: bytes) -> None:
        """See Folder."""
        path = self._path(name)
        try:
            file = open(path, "ab", buffering=0)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            file = open(path, "ab", buffering=0)
        with file:
            before = file.tell()
            try:
                _write_all(file, data)
            except OSError:
                os.ftruncate(file.fileno(), before)  # All or nothing, so that it can be retried.
                raise

    def list(self, prefix: str) -> List[str]:
        """See Folder."""
        names = []
        for folder, _, files in os.walk(self._path(prefix) if prefix else self.root):
            relative = os.path.relpath(folder, self.root)
            start = "" if relative == "." else f"{relative}/"
            names += [f"{start}{file}" for file in files if not file.startswith(".")]
        return sorted(names)

    def delete(self, name: str) -> None:
        """See Folder."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(name))

    def _path(self, name: str) -> str:
        parts = name.split("/")
        if name.startswith("/") or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"not a name inside the folder: {name!r}")
        return f"{self.root}/{name}"


@contextlib.contextmanager
def _staged(path: str, data: bytes, *, is_durable: bool) -> Iterator[str]:
    """A hidden file beside `path` with its future content; the caller moves or links it."""
    parent, name = os.path.split(path)
    staged = f"{parent}/.{name}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        file = open(staged, "wb", buffering=0)
    except FileNotFoundError:
        os.makedirs(parent, exist_ok=True)
        file = open(staged, "wb", buffering=0)
    try:
        with file:
            _write_all(file, data)
            if is_durable:
                os.fsync(file.fileno())
        yield staged
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(staged)
        raise


def _write_all(file: io.FileIO, data: bytes) -> None:
    """A full disk takes a part of the data first, and complains only when asked again."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def folder_url(path: Place) -> str:
    """The URL of a folder on this machine, whatever its name is spelt with."""
    from pathlib import Path

    return Path(path).absolute().as_uri()
