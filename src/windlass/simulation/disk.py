"""A run folder in memory, as seen by actors that can be cut off from it one by one.

Must not know what the objects mean.
"""

from __future__ import annotations

from collections.abc import Callable

BUCKET = "simulated"


def folder_url(run: str) -> str:
    """The folder of a run."""
    return f"gs://{BUCKET}/{run}"


def split_url(url: str) -> tuple[str, str]:
    """The URL of a run's folder, and what follows it."""
    words = url.split("/")
    return "/".join(words[:4]), "/".join(words[4:])


class Disk:
    """Objects by name, shared by everybody."""

    def __init__(self, *, can_append: bool = True) -> None:
        self.objects: dict[str, bytes] = {}
        self.can_append = can_append

    def seen_by(self, is_cut_off: Callable[[], bool], *, under: str = "") -> SeenDisk:
        """The disk, or a folder of it, as one actor reaches it."""
        return SeenDisk(self, is_cut_off, under=under)


class SeenDisk:
    """Implements agent.folder.Folder; raises OSError while its actor is cut off."""

    def __init__(self, disk: Disk, is_cut_off: Callable[[], bool], *, under: str) -> None:
        self._disk = disk
        self._is_cut_off = is_cut_off
        self._under = f"{under}/" if under else ""
        self.can_append = disk.can_append

    def read(self, name: str) -> bytes | None:
        """See Folder."""
        return self._reach().get(self._under + name)

    def write(self, name: str, data: bytes) -> None:
        """See Folder."""
        self._reach()[self._under + name] = data

    def create(self, name: str, data: bytes) -> bool:
        """See Folder."""
        objects, name = self._reach(), self._under + name
        if name in objects:
            return False
        objects[name] = data
        return True

    def append(self, name: str, data: bytes) -> None:
        """See Folder."""
        objects, name = self._reach(), self._under + name
        objects[name] = objects.get(name, b"") + data

    def list(self, prefix: str) -> list[str]:
        """See Folder."""
        within = f"{self._under}{prefix}/"
        found = (name for name in self._reach() if name.startswith(within))
        return sorted(name.removeprefix(self._under) for name in found)

    def delete(self, name: str) -> None:
        """See Folder."""
        self._reach().pop(self._under + name, None)

    def _reach(self) -> dict[str, bytes]:
        if self._is_cut_off():
            raise OSError("cut off from the run folder")
        return self._disk.objects
