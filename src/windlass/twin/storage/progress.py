"""What is known of uploads under way beside what is stored: who writes, and hashes so far.

Must not be needed: after a restart it is empty, and the hashes are taken from the blobs again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from windlass.twin.storage import faults
from windlass.twin.storage.contents import Hashes

REMEMBERED_MOST = 1000


class Progress:
    """Of all sessions of one service."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self._hashes: OrderedDict[str, Hashes] = OrderedDict()

    @contextmanager
    def writing(self, session: str) -> Iterator[None]:
        """Be the only one that writes to a session; refuse a second."""
        with self._lock:
            if session in self._busy:
                raise faults.busy()
            self._busy.add(session)
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(session)

    def remember(self, session: str, hashes: Hashes) -> None:
        """Keep the hashes of what has arrived."""
        with self._lock:
            self._hashes[session] = hashes
            if len(self._hashes) > REMEMBERED_MOST:
                self._hashes.popitem(last=False)

    def recall(self, session: str, *, size: int) -> Hashes | None:
        """The hashes of the first `size` bytes, which go on from here."""
        with self._lock:
            hashes = self._hashes.pop(session, None)
        return hashes if hashes is not None and hashes.size == size else None
