"""A run's folder in a bucket: the same small objects as on a disk, except that none can grow.

Must not know what the objects mean. Python 3.9, standard library only.
"""

from __future__ import annotations

import json
from typing import List, Optional

from windlass.agent.storage import Ask, BucketError, MachineToken, Storage, Token, object_path

SMALL = 4 << 20
"""Objects up to this size are sent in one request, larger ones in pieces that can be resumed."""
PIECE = 8 << 20
PAGE = "1000"


class BucketFolder:
    """A folder below `gs://bucket/prefix`."""

    can_append = False

    def __init__(
        self, url: str, *, token: Optional[Token] = None, patience_s: float = 20.0
    ) -> None:
        bucket, _, prefix = url[len("gs://") :].partition("/")
        if not url.startswith("gs://") or not bucket:
            raise ValueError(f"not the URL of a folder in a bucket: {url!r}")
        self.bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._storage = Storage(token or MachineToken(), patience_s=patience_s)

    def read(self, name: str) -> Optional[bytes]:
        """See Folder."""
        return self.read_from(name, 0)

    def read_from(self, name: str, offset: int) -> Optional[bytes]:
        """The object from this byte on, or None when there is none."""
        headers = {"Range": f"bytes={offset}-"} if offset else None
        ask = Ask("GET", self._path(name), {"alt": "media"}, headers=headers)
        answer = self._storage.ask(ask, fine=(200, 206, 404, 416))
        if answer.status == 404:
            return None
        return b"" if answer.status == 416 else answer.body

    def write(self, name: str, data: bytes) -> None:
        """See Folder."""
        self._send(name, data, {})

    def create(self, name: str, data: bytes) -> bool:
        """See Folder. A precondition makes it atomic."""
        if self._send(name, data, {"ifGenerationMatch": "0"}):
            return True
        # Either there was one before, or it is ours: the answer to our first try may have been
        # lost. What is created only once carries its creator's name, so the content tells.
        return self.read(name) == data

    def append(self, name: str, data: bytes) -> None:
        """See Folder: a bucket cannot."""
        raise NotImplementedError("an object of a bucket cannot grow")

    def list(self, prefix: str) -> List[str]:
        """See Folder."""
        names: List[str] = []
        token = ""
        place = f"{self._prefix}{prefix.rstrip('/')}/"
        while True:
            query = {"prefix": place, "maxResults": PAGE, "fields": "items/name,nextPageToken"}
            if token:
                query["pageToken"] = token
            answer = self._storage.ask(Ask("GET", f"/storage/v1/b/{self.bucket}/o", query))
            page = json.loads(answer.body)
            names += [item["name"][len(self._prefix) :] for item in page.get("items", ())]
            token = page.get("nextPageToken", "")
            if not token:
                return sorted(names)

    def delete(self, name: str) -> None:
        """See Folder."""
        self._storage.ask(Ask("DELETE", self._path(name), {}), fine=(200, 204, 404))

    def _send(self, name: str, data: bytes, conditions: "dict[str, str]") -> bool:
        """Store an object; False when a precondition did not hold."""
        path = f"/upload/storage/v1/b/{self.bucket}/o"
        full = self._full(name)
        headers = {"Content-Type": "application/octet-stream"}
        if len(data) <= SMALL:
            query = {"uploadType": "media", "name": full, **conditions}
            answer = self._storage.ask(Ask("POST", path, query, data, headers), fine=(200, 412))
            return answer.status == 200
        query = {"uploadType": "resumable", "name": full, **conditions}
        begun = self._storage.ask(Ask("POST", path, query, b"", headers), fine=(200, 412))
        if begun.status == 412:
            return False
        return self._send_pieces(begun.headers["location"], data)

    def _send_pieces(self, location: str, data: bytes) -> bool:
        """What a lost connection has left undone is asked for and sent."""
        target = "/" + location.split("://", 1)[1].split("/", 1)[1]
        at = 0
        while True:
            piece = data[at : at + PIECE]
            span = f"bytes {at}-{at + len(piece) - 1}/{len(data)}"
            headers = {"Content-Range": span}
            try:
                answer = self._storage.ask(
                    Ask("PUT", target, {}, piece, headers), fine=(200, 201, 308, 412)
                )
            except BucketError as problem:
                if problem.status not in (400, 410, 416):
                    raise
                answer = self._storage.ask(
                    Ask("PUT", target, {}, b"", {"Content-Range": f"bytes */{len(data)}"}),
                    fine=(200, 201, 308, 412),
                )
            if answer.status != 308:
                return answer.status != 412
            held = answer.headers.get("range", "")
            at = int(held.rpartition("-")[2]) + 1 if held else 0

    def _full(self, name: str) -> str:
        parts = name.split("/")
        if name.startswith("/") or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"not a name inside the folder: {name!r}")
        return f"{self._prefix}{name}"

    def _path(self, name: str) -> str:
        return object_path(self.bucket, self._full(name))
