"""A run folder in memory, as seen by actors that can be cut off from it one by one.

Must not know what the objects mean.
"""

from __future__ import annotations

from collections.abc import Callable


class Disk:
    """Objects by name, shared by everybody."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def seen_by(self, is_cut_off: Callable[[], bool]) -> SeenDisk:
        """The disk as one actor reaches it."""
        return SeenDisk(self, is_cut_off)


class SeenDisk:
    """Implements agent.folder.Folder; raises OSError while its actor is cut off."""

    can_append = True

    def __init__(self, disk: Disk, is_cut_off: Callable[[], bool]) -> None:
        self._disk = disk
        self._is_cut_off = is_cut_off

    def read(self, name: str) -> bytes | None:
        """See Folder."""
        return self._reach().get(name)

    def write(self, name: str, data: bytes) -> None:
        """See Folder."""
        self._reach()[name] = data

    def create(self, name: str, data: bytes) -> bool:
        """See Folder."""
        objects = self._reach()
        if name in objects:
            return False
        objects[name] = data
        return True

    def append(self, name: str, data: bytes) -> None:
        """See Folder."""
        objects = self._reach()
        objects[name] = objects.get(name, b"") + data

    def list(self, prefix: str) -> list[str]:
        """See Folder."""
        return sorted(name for name in self._reach() if name.startswith(f"{prefix}/"))

    def delete(self, name: str) -> None:
        """See Folder."""
        self._reach().pop(name, None)

    def _reach(self) -> dict[str, bytes]:
        if self._is_cut_off():
            raise OSError("cut off from the run folder")
        return self._disk.objects
