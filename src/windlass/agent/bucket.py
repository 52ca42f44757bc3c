"""A run's folder in a bucket: the same small objects as on a disk, except that none can grow.

Must not know what the objects mean. Python 3.9, standard library only.
"""

from __future__ import annotations

import json
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from windlass.agent import upload
from windlass.agent.storage import Ask, Storage, object_path
from windlass.agent.tokens import ambient_token

PAGE = "1000"


class Seen(NamedTuple):
    """An object as a list shows it."""

    generation: str
    """Another one for every write."""
    size: int
    updated: str
    """When it was written, as `2026-11-15T06:31:22.123Z`."""


class BucketFolder:
    """A folder below `gs://bucket/prefix`."""

    can_append = False

    def __init__(self, url: str, *, storage: Optional[Storage] = None) -> None:
        self.url = url
        self.bucket, self._prefix = split_url(url)
        self._storage = storage if storage is not None else Storage(ambient_token())

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
        if answer.status == 416:
            return b""
        # Something on the way may pass ranges over, and send everything.
        return answer.body[offset:] if offset and answer.status == 200 else answer.body

    def write(self, name: str, data: upload.Data) -> None:
        """See Folder."""
        upload.store(self._storage, upload.Place(self.bucket, self._full(name), {}), data)

    def create(self, name: str, data: upload.Data) -> bool:
        """See Folder. A precondition makes it atomic."""
        place = upload.Place(self.bucket, self._full(name), {"ifGenerationMatch": "0"})
        answer = upload.store(self._storage, place, data)
        if answer is None:
            return False
        # Either there was one before, or it is ours: the answer to our first try was lost. What
        # is created only once carries its creator's name, so the content tells.
        return answer.status != 412 or self.read(name) == data

    def append(self, name: str, data: bytes) -> None:
        """See Folder: a bucket cannot."""
        raise NotImplementedError("an object of a bucket cannot grow")

    def list(self, prefix: str) -> List[str]:
        """See Folder."""
        return sorted(self.look(prefix))

    def look(self, prefix: str, *, glob: str = "") -> Dict[str, Seen]:
        """Every object under the folder `prefix` (or all), by name; with `glob`, those whose name
        below the prefix fits."""
        place = f"{self._full(prefix.rstrip('/'))}/" if prefix else self._prefix
        return {
            item["name"][len(self._prefix) :]: Seen(
                item["generation"], int(item["size"]), item["updated"]
            )
            for page in self._pages(place, glob)
            for item in page.get("items", ())
        }

    def delete(self, name: str) -> None:
        """See Folder."""
        self._storage.ask(Ask("DELETE", self._path(name), {}), fine=(200, 204, 404))

    def _pages(self, place: str, glob: str) -> Iterator[Dict[str, List[Dict[str, str]]]]:
        path = f"/storage/v1/b/{self.bucket}/o"
        fields = "items(name,generation,size,updated),nextPageToken"
        query = {"prefix": place, "maxResults": PAGE, "fields": fields}
        if glob:
            query["matchGlob"] = _literal(place) + glob
        while True:
            page = json.loads(self._storage.ask(Ask("GET", path, query)).body)
            yield page
            if not page.get("nextPageToken"):
                return
            query["pageToken"] = page["nextPageToken"]

    def _full(self, name: str) -> str:
        parts = name.split("/")
        if name.startswith("/") or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"not a name inside the folder: {name!r}")
        return f"{self._prefix}{name}"

    def _path(self, name: str) -> str:
        return object_path(self.bucket, self._full(name))


def split_url(url: str) -> Tuple[str, str]:
    """The bucket, and what the names of everything in the folder begin with."""
    bucket, _, prefix = url[len("gs://") :].partition("/")
    if not url.startswith("gs://") or not bucket:
        raise ValueError(f"not the URL of a folder in a bucket: {url!r}")
    prefix = prefix.strip("/")
    return bucket, f"{prefix}/" if prefix else ""


def _literal(text: str) -> str:
    """What a glob takes for itself."""
    return "".join(f"\\{letter}" if letter in "*?[]{}\\" else letter for letter in text)
