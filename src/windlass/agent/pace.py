"""How often an agent looks at its folder and writes to it: a disk often, a bucket now and then.

Must not look or write itself. Requests to a bucket take time and money, and no object of it may be
written more than once a second.
"""

from __future__ import annotations

from typing import NamedTuple

from windlass.agent.folder import Folder


class Pace(NamedTuple):
    """Seconds between two times."""

    poll_s: float
    """Looking at what the other nodes have written."""
    flush_s: float
    """Writing what a process has printed."""
    mirror_s: float
    """Copying progress."""
    look_s: float
    """Looking for commands of people."""


DISK = Pace(poll_s=0.5, flush_s=0.02, mirror_s=0.25, look_s=0.2)
BUCKET = Pace(poll_s=1.0, flush_s=1.5, mirror_s=1.5, look_s=1.0)


def pace_of(folder: Folder) -> Pace:
    """The pace for a folder."""
    return DISK if folder.can_append else BUCKET
