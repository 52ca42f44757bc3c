"""Reads what the nodes of a claim have left in the run folder.

Must not judge it (ending.py does). What can never change again is read once.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from types import NoneType
from typing import Any

from windlass.agent import layout
from windlass.controller.glance import Reads
from windlass.controller.sightings import Sightings
from windlass.controller.view import GangEnd, NodeExit, NodeView, Notice
from windlass.ports.clock import Clock

GIVEN_UP = ""


class GangReader:
    """Reads winners, heartbeats, exits and ends; remembers those that are final."""

    def __init__(self, sightings: Sightings, clock: Clock) -> None:
        self._sightings = sightings
        self._clock = clock
        self._winners: dict[tuple[str, int], str] = {}
        self._exits: dict[tuple[str, int], NodeExit] = {}
        self._ends: dict[str, GangEnd] = {}
        self._notices: dict[str, Notice] = {}

    def winner(self, folder: Reads, run: str, attempt: int) -> str | None:
        """The claim that holds the fence, "" when it was given up, None when it is free."""
        known = self._winners.get((run, attempt))
        if known is not None:
            return known
        found = _read(folder, layout.winner(attempt), claim=(str, NoneType))
        if found is None:
            return None
        winner = str(found["claim"] or GIVEN_UP)
        self._winners[(run, attempt)] = winner
        return winner

    def end(self, folder: Reads, attempt: int, claim: str) -> GangEnd | None:
        """The first failure of the gang, if there was one."""
        if claim not in self._ends:
            found = _read(
                folder, layout.end(attempt, claim), node=int, status=int, outcome=str, reason=str
            )
            if found is None:
                return None
            self._ends[claim] = GangEnd(
                node=found["node"],
                rank=_rank(found),
                status=found["status"],
                outcome=found["outcome"],
                reason=found["reason"],
            )
        return self._ends[claim]

    def notice(self, folder: Reads, attempt: int, claim: str) -> Notice | None:
        """What a node of the gang was told, when it was that it will be taken away."""
        if claim not in self._notices:
            found = _read(folder, layout.gang_notice(attempt, claim))
            if not found:
                return None
            node, seconds = found.get("node"), found.get("seconds")
            self._notices[claim] = Notice(
                node=node if isinstance(node, int) else None,
                seconds=float(seconds) if isinstance(seconds, int | float) else None,
                reason=str(found.get("reason", "")),
            )
        return self._notices[claim]

    def node(
        self, folder: Reads, attempt: int, claim: str, *, node: int, asked_at: float
    ) -> NodeView:
        """One node: its exit if it has left, else its newest heartbeat. `asked_at`: when this look
        at the folder began."""
        left = self._exit(folder, attempt, claim, node)
        if left is not None:
            return NodeView(beat_age_s=None, state="done", exit=left)
        beat = _read(folder, layout.heartbeat(attempt, claim, node), beat=int, state=str)
        if beat is None:
            return NodeView(beat_age_s=None, state="", exit=None)
        age_s = self._sightings.beat_age_s(
            claim, node, beat["beat"], asked_at=asked_at, read_at=self._clock.monotonic()
        )
        return NodeView(beat_age_s=age_s, state=beat["state"], exit=None)

    def forget_all_but(self, claims: Collection[str], runs: Collection[str]) -> None:
        """Drop what is remembered of claims and runs that have ended."""
        self._winners = {key: value for key, value in self._winners.items() if key[0] in runs}
        self._exits = {key: value for key, value in self._exits.items() if key[0] in claims}
        self._ends = {key: value for key, value in self._ends.items() if key in claims}
        self._notices = {key: value for key, value in self._notices.items() if key in claims}

    def _exit(self, folder: Reads, attempt: int, claim: str, node: int) -> NodeExit | None:
        known = self._exits.get((claim, node))
        if known is not None:
            return known
        name = layout.exit_file(attempt, claim, node)
        found = _read(folder, name, outcome=str, status=int, reason=str, had_notice=bool)
        if found is None:
            return None
        left = NodeExit(
            outcome=found["outcome"],
            status=found["status"],
            rank=_rank(found),
            reason=found["reason"],
            had_notice=found["had_notice"],
        )
        self._exits[(claim, node)] = left
        return left


def _read(folder: Reads, name: str, **fields: type | tuple[type, ...]) -> dict[str, Any] | None:
    """A JSON object with these fields; None when there is none, or not a whole one.

    A node's disk may be bad and a user may have edited the file: what is not as it should be
    counts as not there, and the engine's own word decides.
    """
    data = folder.read(name)
    if data is None:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    is_whole = all(key in found and isinstance(found[key], fields[key]) for key in fields)
    return found if is_whole else None


def _rank(found: dict[str, Any]) -> int | None:
    rank = found.get("rank")
    return rank if isinstance(rank, int) else None
