"""Storing one object: in one request when it is small, else in pieces that can be resumed.

Must not know what the bytes mean. Python 3.9, standard library only. What Cloud Storage says that
it holds is compared with what was sent.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from typing import Dict, NamedTuple, Optional, Union

from windlass.agent.storage import RETRIED, Answer, Ask, BucketError, Storage

SMALL = 4 << 20
"""Objects up to this size are sent in one request."""
PIECE = 8 << 20
PAUSE_S = 0.2
STARTS = 3
"""How often an upload is begun that Cloud Storage has forgotten half-way."""
FORGOTTEN = frozenset({404, 410, 499})
DONE = (200, 201)

Data = Union[bytes, memoryview]


class Place(NamedTuple):
    """Where an object goes, and under which preconditions."""

    bucket: str
    name: str
    conditions: Dict[str, str]

    @property
    def path(self) -> str:
        """Where uploads are sent."""
        return f"/upload/storage/v1/b/{self.bucket}/o"


def store(storage: Storage, place: Place, data: Data) -> Optional[Answer]:
    """Store an object. None: a precondition did not hold, and no lost answer explains that.

    Raises:
        BucketError: it was not stored, or it cannot be told.
    """
    seal = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
    send = _send_whole if len(data) <= SMALL else _send_in_pieces
    answer = send(storage, place, data, seal)
    if answer.status == 412:
        return answer if answer.is_repeated else None
    held = json.loads(answer.body).get("md5Hash")
    # Objects under a key of the user's own may come without.
    if held is not None and held != seal:
        raise BucketError(f"{place.name}: other bytes were stored than were sent")
    return answer


def _send_whole(storage: Storage, place: Place, data: Data, seal: str) -> Answer:
    query = {"uploadType": "media", "name": place.name, **place.conditions}
    headers = {"Content-Type": "application/octet-stream"}
    return storage.ask(Ask("POST", place.path, query, data, headers), fine=(200, 412))


def _send_in_pieces(storage: Storage, place: Place, data: Data, seal: str) -> Answer:
    """A session that is forgotten may have been forgotten because it has ended: what a later one
    says about preconditions is then a repetition."""
    query = {"uploadType": "resumable", "name": place.name, **place.conditions}
    about = json.dumps({"name": place.name, "md5Hash": seal}).encode()
    headers = {"Content-Type": "application/json"}
    for start in range(STARTS):
        begun = storage.ask(Ask("POST", place.path, query, about, headers), fine=(200, 412))
        if begun.status == 412:
            return begun._replace(is_repeated=start > 0)
        try:
            return _Session(storage, begun.headers["location"], data).carry_on()
        except BucketError as problem:
            if problem.status not in FORGOTTEN or start == STARTS - 1:
                raise
    raise AssertionError("unreachable")


class _Session:
    """An upload that has begun. What a lost connection has left undone is asked for and sent."""

    def __init__(self, storage: Storage, location: str, data: Data) -> None:
        self._storage = storage
        self._target = "/" + location.split("://", 1)[1].split("/", 1)[1]
        self._data = memoryview(data)

    def carry_on(self) -> Answer:
        at = 0
        moved_at = time.monotonic()
        while True:
            answer = self._send_from(at, until=moved_at + self._storage.patience_s)
            if answer.status != 308:
                return answer
            held = answer.headers.get("range", "")
            reached = int(held.rpartition("-")[2]) + 1 if held else 0
            if reached > at:
                moved_at = time.monotonic()
            at = reached

    def _send_from(self, at: int, *, until: float) -> Answer:
        piece = self._data[at : at + PIECE]
        span = f"bytes {at}-{at + len(piece) - 1}/{len(self._data)}"
        fine = (*DONE, 308, 412)
        ask = Ask("PUT", self._target, {}, piece, {"Content-Range": span})
        try:
            return self._storage.ask(ask, fine=fine, is_once=True)
        except BucketError as problem:
            may_pass = problem.status == 0 or problem.status in RETRIED
            if not may_pass or time.monotonic() > until:
                raise
        time.sleep(PAUSE_S)
        span = f"bytes */{len(self._data)}"
        return self._storage.ask(
            Ask("PUT", self._target, {}, b"", {"Content-Range": span}), fine=fine
        )
