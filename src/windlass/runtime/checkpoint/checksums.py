"""Checksum algorithms by the name that a manifest gives them.

Must not guess: an unknown name is refused, since it says nothing about the bytes.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Callable, Dict, Protocol

from windlass.runtime.checkpoint.errors import CheckpointRefused


class Checksum(Protocol):
    """A running checksum."""

    def update(self, data: memoryview, /) -> None:
        """Take more bytes in."""

    def hexdigest(self) -> str:
        """The checksum of the bytes so far."""


class Crc32:
    """Finds accidents faster than SHA-256, and stops nobody who alters files on purpose."""

    def __init__(self) -> None:
        self._value = 0

    def update(self, data: memoryview, /) -> None:
        """Take more bytes in."""
        self._value = zlib.crc32(data, self._value)

    def hexdigest(self) -> str:
        """The checksum of the bytes so far."""
        return f"{self._value:08x}"


ALGORITHMS: Dict[str, Callable[[], Checksum]] = {"sha256": hashlib.sha256, "crc32": Crc32}


def checksum(name: str) -> Checksum:
    """A fresh checksum.

    Raises:
        CheckpointRefused: no algorithm goes by that name.
    """
    try:
        return ALGORITHMS[name]()
    except KeyError:
        raise CheckpointRefused(
            f"The checksum algorithm {name!r} is not known here.",
            remedy=f"Use a newer Windlass to read it, or one of {', '.join(ALGORITHMS)} to write.",
        ) from None
