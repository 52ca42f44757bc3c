"""A run's folder at a glance: in a bucket, one list instead of a question for each object.

Must not know what the objects mean. What has not been written since an earlier glance is not read
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from windlass.agent.folder import Folder

if TYPE_CHECKING:
    from windlass.agent.bucket import Seen

SMALL = "{*.json,*/*.json,*/nodes/*/*.json}"
"""What nodes and controller leave for each other in the folder of an attempt; no logs."""


@runtime_checkable
class Looks(Protocol):
    """A folder that can say of all objects at once whether they have changed."""

    def look(self, prefix: str, *, glob: str = "") -> Mapping[str, Seen]:
        """Every object under the folder `prefix`; with `glob`, those whose name fits."""


class Reads(Protocol):
    """As much of a folder as it takes to read small objects."""

    def read(self, name: str) -> bytes | None:
        """The object, or None when there is none."""


Memory = dict[str, tuple[str, bytes]]
"""What was read before: name to generation and content."""


class Glance:
    """The small objects of a run's attempts as they were when each attempt was first asked for."""

    def __init__(self, folder: Folder, memory: Memory, *, began_at: float) -> None:
        self.began_at = began_at
        """By the steady clock: nothing that it shows is older."""
        self._folder = folder
        self._looks = folder if isinstance(folder, Looks) else None
        self._memory = memory
        self._seen: dict[str, Mapping[str, Seen]] = {}

    def read(self, name: str) -> bytes | None:
        """See Reads."""
        if self._looks is None:
            return self._folder.read(name)
        attempt = "/".join(name.split("/")[:2])
        if attempt not in self._seen:
            self._seen[attempt] = self._looks.look(attempt, glob=SMALL)
        seen = self._seen[attempt].get(name)
        if seen is None:
            return None
        known = self._memory.get(name)
        if known is not None and known[0] == seen.generation:
            return known[1]
        content = self._folder.read(name)
        if content is not None:
            self._memory[name] = (seen.generation, content)
        return content
