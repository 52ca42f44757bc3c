"""Whether a node may start at all yet: machines that were asked for ahead wait for their turn.

Must not decide what follows (node.py does). Python 3.9, standard library only.

A claim of the next attempt can be asked for while the gang of the last one still works. Its nodes
beat, so that one can see that they are there, and win nothing before the controller has opened
their attempt to them, which it does when no rank of the last one can be alive.
"""

from __future__ import annotations

import json
from typing import Optional

from windlass.agent import layout
from windlass.agent.folder import Folder


class Hold:
    """The hold of one node, from its first look on. Without one, `is_open` from the beginning."""

    def __init__(self, folder: Folder, *, attempt: int, claim: str, seconds: float) -> None:
        self._folder = folder
        self._name = layout.opened(attempt)
        self._claim = claim
        self._seconds = seconds
        self._since: Optional[float] = None
        self.is_open = seconds <= 0
        self.is_over = False
        """It will never be opened: another was, or nobody came for too long."""

    def look(self, now: float) -> bool:
        """Whether the node may try to win now."""
        if self.is_open or self.is_over:
            return self.is_open
        if self._since is None:
            self._since = now
        said = self._folder.read(self._name)
        if said is None:
            self.is_over = now - self._since >= self._seconds
        else:
            self.is_open = self._claim in json.loads(said)["claims"]
            self.is_over = not self.is_open
        return self.is_open
