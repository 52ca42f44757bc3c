"""Where checkpoints are kept, as the rest of the checkpointer sees it: a shelf of numbered places.

Must not hold logic. A disk (disk.py) and a bucket (bucket.py) keep these promises.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Protocol


class Stored(NamedTuple):
    """A file as a list shows it."""

    size: int
    modified: float
    """Unix seconds."""


class Sink(Protocol):
    """A data file that is being written."""

    def write(self, block: memoryview) -> None:
        """Add a block. OSError: it was not taken."""

    def finish(self) -> None:
        """Make it durable, whole."""

    def abandon(self) -> None:
        """Let go of it; what was written is removed by its name."""


class Place(Protocol):
    """The files of one checkpoint. What was published is never written again."""

    @property
    def pause_s(self) -> float:
        """How long to leave between two looks for what another process will publish."""

    def prepare(self) -> None:
        """Make ready for files."""

    def open_data(self, name: str) -> Sink:
        """Begin a data file; no other writer uses its name."""

    def settle(self) -> None:
        """Make the names durable that were added or removed."""

    def publish(self, name: str, data: bytes, *, staged: str) -> bool:
        """Create a small file, whole and durable, only if there is none; False when there was one
        with other bytes. `staged` is a name for it until then, where one is needed."""

    def may_hold(self, name: str, data: bytes) -> bool:
        """Whether a publication that failed may have happened all the same."""

    def read(self, name: str) -> Optional[bytes]:
        """A small file, or None when there is none.

        Raises:
            OSError: it cannot be read, and probably never will be.
            CheckpointFailed: it cannot be told, at present.
        """

    def load(self, name: str, size: int) -> memoryview:
        """A data file. Damage: it is not there, cannot be read, or has another size."""

    def files(self) -> Dict[str, Stored]:
        """Everything that is there."""

    def remove(self, name: str) -> None:
        """Remove a file; one that cannot be removed is left to the next sweep."""

    def retract(self, name: str) -> None:
        """Remove a published file, durably. OSError: it may be there still."""

    def leave(self) -> None:
        """Nothing of ours may be there any more: remove the place itself if it is empty."""


class Shelf(Protocol):
    """All checkpoints of one folder."""

    @property
    def remedy(self) -> str:
        """What the user can do when it takes nothing."""

    def at(self, step: int) -> Place:
        """The place of one step."""

    def steps(self) -> List[int]:
        """Steps that have a manifest, ascending."""

    def everything(self) -> Dict[int, Dict[str, Stored]]:
        """The files of every step, with a manifest or without."""

    def room(self) -> str:
        """How much more it can take, in words; empty when there is no end to it."""
