"""Checkpoints in a bucket: objects that appear whole, the manifest last and only if absent.

Must not know what the bytes mean. What Cloud Storage cannot be asked about is never taken for
damaged: an outage must not send a run back to an older checkpoint.
"""

from __future__ import annotations

import contextlib
import re
from datetime import datetime
from typing import Dict, List, NoReturn, Optional

from windlass.agent.bucket import BucketFolder, Seen
from windlass.agent.storage import BucketError, Storage
from windlass.agent.tokens import ambient_token
from windlass.runtime.checkpoint import manifest
from windlass.runtime.checkpoint.errors import CheckpointFailed, Damage
from windlass.runtime.checkpoint.places import Stored

PATIENCE_S = 60.0
_NAME = re.compile(r"(\d+)/([^/]+)", re.ASCII)


class BucketShelf:
    """Implements places.Shelf below `gs://bucket/prefix`."""

    remedy = (
        "Check that the bucket is there and that the run's account may write to it, or name "
        "another place in `checkpoint: {to: ...}`."
    )

    def __init__(self, url: str, *, storage: Optional[Storage] = None) -> None:
        self._url = url
        storage = storage or Storage(ambient_token(), patience_s=PATIENCE_S)
        self._folder = BucketFolder(url, storage=storage)

    def __str__(self) -> str:
        return self._url

    def at(self, step: int) -> BucketPlace:
        """See Shelf."""
        return BucketPlace(self._folder, str(step))

    def steps(self) -> List[int]:
        """See Shelf."""
        found = self._look(f"*/{manifest.NAME}")
        return sorted(step for step, files in found.items() if manifest.NAME in files)

    def everything(self) -> Dict[int, Dict[str, Stored]]:
        """See Shelf."""
        return self._look("")

    def room(self) -> str:
        """See Shelf."""
        return ""

    def _look(self, glob: str) -> Dict[int, Dict[str, Stored]]:
        try:
            seen = self._folder.look("", glob=glob)
        except BucketError as exc:
            _unreadable(self._url, exc)
        found: Dict[int, Dict[str, Stored]] = {}
        for name, one in seen.items():
            match = _NAME.fullmatch(name)
            if match is not None:
                found.setdefault(int(match[1]), {})[match[2]] = _stored(one)
        return found


class BucketPlace:
    """Implements places.Place: objects whose names begin alike."""

    pause_s = 0.5

    def __init__(self, folder: BucketFolder, name: str) -> None:
        self._folder = folder
        self._name = name

    def __str__(self) -> str:
        return f"{self._folder.url}/{self._name}"

    def prepare(self) -> None:
        """See Place: a bucket has no folders."""

    def open_data(self, name: str) -> BucketSink:
        """See Place."""
        return BucketSink(self._folder, f"{self._name}/{name}")

    def settle(self) -> None:
        """See Place: what was answered is durable."""

    def publish(self, name: str, data: bytes, *, staged: str) -> bool:
        """See Place."""
        return self._folder.create(f"{self._name}/{name}", data)

    def may_hold(self, name: str, data: bytes) -> bool:
        """See Place. A request that was given up may be on its way still."""
        with contextlib.suppress(CheckpointFailed):
            return self.read(name) in (None, data)
        return True

    def read(self, name: str) -> Optional[bytes]:
        """See Place."""
        try:
            return self._folder.read(f"{self._name}/{name}")
        except BucketError as exc:
            _unreadable(f"{self._name}/{name}", exc)

    def load(self, name: str, size: int) -> memoryview:
        """See Place."""
        content = self.read(name)
        if content is None:
            raise Damage(f"{name} is missing")
        if len(content) != size:
            raise Damage(f"{name} has another size than was written")
        return memoryview(content)

    def files(self) -> Dict[str, Stored]:
        """See Place."""
        start = len(self._name) + 1
        try:
            seen = self._folder.look(self._name)
        except BucketError as exc:
            _unreadable(self._name, exc)
        return {name[start:]: _stored(one) for name, one in seen.items()}

    def remove(self, name: str) -> None:
        """See Place."""
        with contextlib.suppress(OSError):
            self.retract(name)

    def retract(self, name: str) -> None:
        """See Place."""
        self._folder.delete(f"{self._name}/{name}")

    def leave(self) -> None:
        """See Place: a bucket has no folders."""


class BucketSink:
    """Implements places.Sink: an object that is sent when it is whole."""

    def __init__(self, folder: BucketFolder, name: str) -> None:
        self._folder = folder
        self._name = name
        self._content = bytearray()

    def write(self, block: memoryview) -> None:
        """See Sink."""
        self._content += block

    def finish(self) -> None:
        """See Sink. What Cloud Storage says that it holds is compared with what was sent."""
        self._folder.write(self._name, memoryview(self._content))
        self._content = bytearray()

    def abandon(self) -> None:
        """See Sink."""
        self._content = bytearray()


def _stored(seen: Seen) -> Stored:
    moment = datetime.strptime(seen.updated, "%Y-%m-%dT%H:%M:%S.%f%z")
    return Stored(seen.size, moment.timestamp())


def _unreadable(what: str, exc: BucketError) -> NoReturn:
    raise CheckpointFailed(
        f"{what} cannot be read: {exc}.",
        remedy="Check that the bucket is there and that the run's account may read it; the run "
        "goes on where it was when it is started again.",
    ) from exc
