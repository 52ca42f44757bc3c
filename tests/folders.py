"""Run folders written by hand: what agents leave, without agents.

Must not know the store.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from windlass.agent import layout
from windlass.agent.folder import DiskFolder

STAMP = "2026-11-15T06:31:{:06.3f}Z"


def stamped(seconds: float, text: str) -> str:
    """A line as the agent writes it, that many seconds into a minute."""
    return f"{STAMP.format(seconds)} {text}\n"


class HandMadeFolder:
    """A run's folder; attempts have one claim of the id `c<attempt>`."""

    def __init__(self, root: Path) -> None:
        self.folder = DiskFolder(root)

    def win(self, attempt: int = 1, *, nodes: int = 1) -> HandMadeFolder:
        """The attempt's claim has won."""
        addresses = [f"10.0.0.{k}:29400" for k in range(nodes)]
        self.put(layout.winner(attempt), {"claim": f"c{attempt}", "addresses": addresses})
        return self

    def put(self, name: str, value: Any) -> None:
        """An object of JSON."""
        self.folder.write(name, json.dumps(value).encode())

    def log(
        self, text: str, *, attempt: int = 1, node: int = 0, rank: int | None = 0, chunk: int = 1
    ) -> None:
        """Add to what a rank (or `setup`) printed."""
        where = (attempt, f"c{attempt}", node)
        stem = layout.setup_log(*where) if rank is None else layout.rank(*where, rank)
        self.folder.append(layout.chunk(f"{stem}/log", chunk, "txt"), text.encode())

    def progress(self, *records: dict[str, Any], attempt: int = 1, rank: int = 0) -> None:
        """Add to what a rank of node 0 reported."""
        stem = layout.rank(attempt, f"c{attempt}", 0, rank)
        lines = "".join(json.dumps(record) + "\n" for record in records)
        self.folder.append(layout.chunk(f"{stem}/progress", 1, "jsonl"), lines.encode())

    def beat(self, at: float, *, node: int = 0, attempt: int = 1, state: str = "running") -> None:
        """The node's heartbeat."""
        beat = {"address": f"10.0.0.{node}:29400", "state": state, "time": at, "beat": 3}
        self.put(layout.heartbeat(attempt, f"c{attempt}", node), beat)


class WholeReadsOnly:
    """A folder without `read_from`, as a bucket without ranges would be."""

    def __init__(self, folder):
        self.read = folder.read
        self.list = folder.list
