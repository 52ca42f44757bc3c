"""Files that hold the bytes of objects too large for a table; their names are chance.

Must not see the name of an object: no name that a client gives ever becomes the name of a file.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from windlass.ports.entropy import Entropy
from windlass.twin.messages import FilePart

ID_LENGTH = 24
PIECE = 1 << 20


class Lease:
    """Keeps a blob on the disk while an answer that shows it is being sent."""

    def __init__(self, blobs: Blobs, name: str) -> None:
        self._blobs = blobs
        self._name = name

    def __del__(self) -> None:
        self._blobs.release(self._name)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedPart(FilePart):
    """Part of a blob; when the answer is gone, so is its lease."""

    lease: Lease


class Blobs:
    """A folder of blobs."""

    def __init__(self, folder: Path, *, chance: Entropy) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._chance = chance
        self._directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        # Re-entrant, because a lease may end in whichever thread collects garbage.
        self._lock = threading.RLock()
        self._leases: Counter[str] = Counter()
        self._condemned: set[str] = set()

    def create(self) -> tuple[str, int]:
        """A new, empty blob: its name, and a descriptor to write to."""
        while True:
            name = self._chance.id(ID_LENGTH)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            try:
                return name, os.open(self.path(name), flags, 0o600)
            except FileExistsError:
                # The same seed gives the same names again after a restart.
                continue

    def path(self, name: str) -> Path:
        """Where a blob lies."""
        return self._folder / name

    def settle(self, descriptor: int) -> None:
        """Return when the blob, and its name, would survive a power cut."""
        os.fdatasync(descriptor)
        os.fsync(self._directory)

    def lease(self, name: str) -> Lease | None:
        """Keep a blob; None when it is gone already."""
        with self._lock:
            if name in self._condemned or not self.path(name).exists():
                return None
            self._leases[name] += 1
            return Lease(self, name)

    def release(self, name: str) -> None:
        """A lease has ended."""
        with self._lock:
            self._leases[name] -= 1
            if self._leases[name] <= 0:
                del self._leases[name]
                if name in self._condemned:
                    self._remove(name)

    def condemn(self, name: str) -> None:
        """Nothing refers to a blob any more: remove it as soon as nobody reads it."""
        with self._lock:
            if self._leases[name] > 0:
                self._condemned.add(name)
            else:
                del self._leases[name]
                self._remove(name)

    def _remove(self, name: str) -> None:
        self._condemned.discard(name)
        self.path(name).unlink(missing_ok=True)

    def keep_only(self, names: set[str]) -> int:
        """Remove what a crash left behind; how many there were."""
        left = [entry.name for entry in os.scandir(self._folder) if entry.name not in names]
        for name in left:
            self._remove(name)
        return len(left)

    def pieces(self, name: str, *, size: int) -> Iterator[bytes]:
        """The first `size` bytes of a blob."""
        with self.path(name).open("rb", buffering=0) as file:
            while size > 0:
                piece = file.read(min(PIECE, size))
                if not piece:
                    return
                size -= len(piece)
                yield piece

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._directory)
