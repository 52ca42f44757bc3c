"""Commands that people ask a node to run, through the run's folder (`windlass exec`).

Must not reach the node in any other way: no port, no SSH. The agent reads the request and answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from windlass.agent import layout
from windlass.agent.folder import Folder
from windlass.controller.chunks import Chunks
from windlass.controller.logs import gang_size, read_json, winning_claim
from windlass.errors import OptionRefused, RunNotReady
from windlass.state.model import Run
from windlass.state.phases import is_ended

SILENT_S = 15.0
"""A node that has not beaten for this long will hardly answer."""


class Command:
    """One command on one node. Ask once, then read `output` until `status` is there."""

    def __init__(self, folder: Folder, place: str, request_id: str) -> None:
        self._folder = folder
        self._stem = f"{place}/{request_id}"
        self._chunks = Chunks(folder, f"{self._stem}/log", "txt")

    def ask(self, command: str, *, now: float) -> None:
        """Write the request; the agent starts the command as soon as it sees it."""
        request = json.dumps({"command": command, "time": now}, ensure_ascii=False)
        self._folder.write(f"{self._stem}/request.json", request.encode())

    def output(self) -> bytes:
        """What the command printed since the last call."""
        return self._chunks.fresh()

    def status(self) -> int | None:
        """Its exit status, or None while it runs."""
        end = read_json(self._folder, f"{self._stem}/exit.json")
        return None if end is None else int(end.get("status", 1))

    def cancel(self) -> None:
        """Ask the agent to end the command."""
        self._folder.write(f"{self._stem}/cancel.json", b"{}")


class Node:
    """A node of a run's current gang, as a place where commands can run."""

    def __init__(self, folder: Folder, *, run: Run, claim: str, index: int) -> None:
        self._folder = folder
        self._order = (run.attempt, claim, index)
        self.index = index

    def command(self, request_id: str) -> Command:
        """A command of this name, not asked for yet."""
        return Command(self._folder, layout.requests(*self._order), request_id)

    def trouble(self, now: float) -> str:
        """Why the node will not answer; empty when it is well."""
        if self._read(layout.exit_file(*self._order)) is not None:
            return f"node {self.index} has ended"
        beat = self._read(layout.heartbeat(*self._order))
        age_s = now - float(beat.get("time", 0.0)) if beat else None
        if age_s is None:
            return f"node {self.index} has not reported yet"
        if age_s > SILENT_S:
            return f"node {self.index} has not been heard of for {age_s:.0f} s"
        return ""

    def _read(self, name: str) -> Mapping[str, Any] | None:
        return read_json(self._folder, name)


def node_of(folder: Folder, run: Run, *, node: int) -> Node:
    """The node of the run's current gang; RunNotReady when there is no gang, OptionRefused when
    the gang has no such node."""
    if is_ended(run.phase):
        raise RunNotReady(
            f"{run.id} has ended ({run.phase}): nothing of it runs any more",
            remedy=f"Start it again with `windlass retry {run.id}`.",
        )
    claim = winning_claim(folder, run.attempt) if run.attempt else None
    if claim is None:
        raise RunNotReady(
            f"{run.id} is {run.phase}: its machines are not up yet",
            remedy=f"See what it waits for with `windlass explain {run.id}`.",
        )
    size = gang_size(folder, run.attempt)
    if not 0 <= node < size:
        has = "only node 0" if size == 1 else f"nodes 0 to {size - 1}"
        raise OptionRefused(
            f"{run.id} has no node {node}", remedy=f"It has {has}: name one with `--node`."
        )
    return Node(folder, run=run, claim=claim, index=node)
