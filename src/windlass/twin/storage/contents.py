"""The bytes of objects: received with their hashes, kept once however many objects share them.

Must not know objects: a content is used so many times, and goes with its last use.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import google_crc32c

from windlass.twin.storage import faults
from windlass.twin.storage.blobs import Blobs
from windlass.twin.storage.database import Reads, Transaction

INLINE_MOST = 64 << 10
"""Up to this size a content is in the table: one commit, no file."""
BESIDE_LEAST = 1 << 20
BESIDE_MOST = 128
"""How many pieces (of 256 KiB) may wait while the disk syncs; not a whole upload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Bytes that have all arrived, and are on the disk unless they are inline."""

    size: int
    crc32c: str
    md5: str | None
    """None for what was composed."""
    file: str | None = None
    inline: bytes | None = None


class Hashes:
    """The two hashes of Cloud Storage, of what was seen so far.

    MD5 takes longer than all the rest of a large upload together, so a thread of its own does it.
    """

    def __init__(self) -> None:
        self._crc32c = 0
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._beside: _Beside | None = None
        self.size = 0

    def update(self, piece: bytes) -> None:
        """See more."""
        self._crc32c = google_crc32c.extend(self._crc32c, piece)
        if self._beside is None and self.size >= BESIDE_LEAST:
            self._beside = _Beside(self._md5.update)
        if self._beside is None:
            self._md5.update(piece)
        else:
            self._beside.take(piece)
        self.size += len(piece)

    def settle(self) -> None:
        """Wait until all that was seen is hashed; the thread ends."""
        if self._beside is not None:
            self._beside.end()
            self._beside = None

    @property
    def crc32c(self) -> str:
        """Base64 of four bytes, the highest first."""
        return base64.b64encode(self._crc32c.to_bytes(4, "big")).decode()

    @property
    def md5(self) -> str:
        """Base64."""
        self.settle()
        return base64.b64encode(self._md5.digest()).decode()


class _Beside:
    """Does something with pieces on a thread of its own, a few of them behind."""

    def __init__(self, work: Callable[[bytes], None]) -> None:
        self._work = work
        self._pieces: queue.Queue[bytes] = queue.Queue(BESIDE_MOST)
        self._thread = threading.Thread(target=self._run, name="twin-md5", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while piece := self._pieces.get():
            self._work(piece)

    def take(self, piece: bytes) -> None:
        if piece:
            self._pieces.put(piece)

    def end(self) -> None:
        self._pieces.put(b"")
        self._thread.join()


class Spool:
    """Takes a body as it arrives: in memory while it is small, in a new blob from then on."""

    def __init__(self, blobs: Blobs, *, is_file: bool = False) -> None:
        self._blobs = blobs
        self._small: list[bytes] = []
        self._descriptor = -1
        self.file: str | None = None
        self.hashes = Hashes()
        if is_file:
            self._spill()

    @classmethod
    def resume(cls, blobs: Blobs, file: str, *, size: int, hashes: Hashes | None) -> Spool:
        """Go on behind the first `size` bytes of a blob; what it holds beyond them is cut off."""
        spool = cls(blobs)
        spool.file = file
        spool._descriptor = os.open(blobs.path(file), os.O_RDWR | os.O_CLOEXEC)
        os.ftruncate(spool._descriptor, size)
        os.lseek(spool._descriptor, size, os.SEEK_SET)
        if hashes is None:
            for piece in blobs.pieces(file, size=size):
                spool.hashes.update(piece)
        else:
            spool.hashes = hashes
        return spool

    def pause(self) -> None:
        """More comes with another request: what is here survives until then."""
        self._blobs.settle(self._descriptor)
        self.close()

    def write(self, piece: bytes) -> None:
        """Take more."""
        self.hashes.update(piece)
        if self._descriptor < 0 and self.hashes.size > INLINE_MOST:
            self._spill()
        if self._descriptor < 0:
            self._small.append(piece)
        else:
            write_all(self._descriptor, piece)

    def finish(self, *, has_md5: bool = True) -> Content:
        """All has arrived."""
        inline = None
        if self._descriptor < 0:
            inline = b"".join(self._small)
        else:
            self._blobs.settle(self._descriptor)
            self.close()
        return Content(
            size=self.hashes.size,
            crc32c=self.hashes.crc32c,
            md5=self.hashes.md5 if has_md5 else None,
            file=self.file,
            inline=inline,
        )

    def discard(self) -> None:
        """It was for nothing."""
        self.close()
        if self.file is not None:
            self._blobs.condemn(self.file)

    def _spill(self) -> None:
        self.file, self._descriptor = self._blobs.create()
        for piece in self._small:
            write_all(self._descriptor, piece)
        self._small.clear()

    def close(self) -> None:
        """Let go of the blob, which stays."""
        self.hashes.settle()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def write_all(descriptor: int, piece: bytes) -> None:
    """Write every byte; the system may take fewer at a time."""
    written = os.write(descriptor, piece)
    while written < len(piece):
        written += os.write(descriptor, memoryview(piece)[written:])


def add(transaction: Transaction, content: Content) -> int:
    """Keep a content that is used once."""
    return transaction.run(
        "INSERT INTO contents (uses, size, crc32c, md5, file, inline) VALUES (1, ?, ?, ?, ?, ?)",
        content.size,
        content.crc32c,
        content.md5,
        content.file,
        content.inline,
    )


def share(transaction: Transaction, content: int) -> int:
    """Use a content once more."""
    transaction.run("UPDATE contents SET uses = uses + 1 WHERE id = ?", content)
    return content


def drop(transaction: Transaction, content: int, *, blobs: Blobs) -> None:
    """Use a content once less; with its last use it goes."""
    row = transaction.one("SELECT uses, file FROM contents WHERE id = ?", content)
    assert row is not None
    if row[0] > 1:
        transaction.run("UPDATE contents SET uses = uses - 1 WHERE id = ?", content)
        return
    transaction.run("DELETE FROM contents WHERE id = ?", content)
    if row[1] is not None:
        transaction.afterwards.append(functools.partial(blobs.condemn, row[1]))


def load(reads: Reads, content: int) -> Content | None:
    """A content by its number."""
    row = reads.one("SELECT size, crc32c, md5, file, inline FROM contents WHERE id = ?", content)
    if row is None:
        return None
    return Content(size=row[0], crc32c=row[1], md5=row[2], file=row[3], inline=row[4])


def pieces(content: Content, *, blobs: Blobs) -> Iterator[bytes]:
    """The bytes themselves."""
    if content.file is None:
        yield content.inline or b""
    else:
        yield from blobs.pieces(content.file, size=content.size)


def verify(content: Content, given: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Refuse bytes that are not those whose hashes the client sent."""
    sent = {"crc32c": given.get("crc32c"), "md5": given.get("md5Hash")}
    if "content-md5" in headers:
        sent["md5"] = headers["content-md5"]
    for part in headers.get("x-goog-hash", "").split(","):
        kind, _, value = part.strip().partition("=")
        if kind in sent:
            sent[kind] = value
    for kind, found in (("crc32c", content.crc32c), ("md5", content.md5)):
        if sent[kind] and found and sent[kind] != found:
            raise faults.hash_mismatch(kind, given=str(sent[kind]), found=found)
