"""A run's folder on a disk: small objects that are read, written, and created only if absent.

Must not know what the objects mean (layout.py and node.py do). Python 3.9, standard library only.
"""

from __future__ import annotations

import contextlib
import io
import os
import urllib.parse
from pathlib import Path
from typing import Iterator, List, Optional, Protocol


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
        """Every object under the folder `prefix`, sorted."""

    def delete(self, name: str) -> None:
        """Remove the object; nothing happens when there is none."""

    @property
    def can_append(self) -> bool:
        """Whether objects can grow. A bucket's cannot."""


class DiskFolder:
    """A folder on a local or shared file system."""

    can_append = True

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, name: str) -> Optional[bytes]:
        """See Folder."""
        try:
            return self._path(name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read_from(self, name: str, offset: int) -> Optional[bytes]:
        """The object from this byte on, or None when there is none: for readers that follow."""
        try:
            with open(self._path(name), "rb", buffering=0) as file:
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
            path.parent.mkdir(parents=True, exist_ok=True)
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
        for folder, _, files in os.walk(self._path(prefix)):
            relative = Path(folder).relative_to(self.root)
            names += [(relative / file).as_posix() for file in files if not file.startswith(".")]
        return sorted(names)

    def delete(self, name: str) -> None:
        """See Folder."""
        with contextlib.suppress(FileNotFoundError):
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        parts = name.split("/")
        if name.startswith("/") or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"not a name inside the folder: {name!r}")
        return self.root.joinpath(*parts)


@contextlib.contextmanager
def _staged(path: Path, data: bytes, *, is_durable: bool) -> Iterator[str]:
    """A hidden file beside `path` with its future content; the caller moves or links it."""
    staged = path.parent / f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        file = open(staged, "wb", buffering=0)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(staged, "wb", buffering=0)
    try:
        with file:
            _write_all(file, data)
            if is_durable:
                os.fsync(file.fileno())
        yield str(staged)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            staged.unlink()
        raise


def _write_all(file: io.FileIO, data: bytes) -> None:
    """A full disk takes a part of the data first, and complains only when asked again."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def open_folder(url: str) -> Folder:
    """The folder a URL names. Today `file://`; a bucket is read by the same protocol later."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "file":
        raise ValueError(f"a run folder must be a file:// URL, not {url!r}")
    return DiskFolder(Path(urllib.parse.unquote(parts.path)))


def folder_url(path: Path) -> str:
    """The URL of a folder on this machine, whatever its name is spelt with."""
    return path.absolute().as_uri()
