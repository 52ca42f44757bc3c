"""Since when something has been seen, by the steady clock of this process.

Must not survive the process: a new controller starts counting anew, which only makes it wait
longer before it believes that something is dead.
"""

from __future__ import annotations

from collections.abc import Collection

from windlass.engines.base import Observation, Seen


class Sightings:
    """Remembers when each claim was first seen gone, up or incomplete, and each heartbeat."""

    def __init__(self) -> None:
        self._gone: dict[str, float] = {}
        self._missing: dict[str, tuple[tuple[int, ...], float]] = {}
        self._up: dict[str, float] = {}
        self._beats: dict[tuple[str, int], tuple[int, float]] = {}

    def note(self, claim: str, observation: Observation, *, at: float) -> None:
        """Take in what an engine said of a claim. UNKNOWN changes nothing."""
        if observation.seen is Seen.UNKNOWN:
            return
        _keep_if(self._gone, claim, observation.seen is Seen.GONE, at)
        _keep_if(self._up, claim, observation.seen is Seen.RUNNING, at)
        known = self._missing.get(claim)
        if known is None or known[0] != observation.missing:
            self._missing[claim] = (observation.missing, at)

    def gone_for_s(self, claim: str, *, at: float) -> float | None:
        """How long it has been gone without a break; None when it is not."""
        since = self._gone.get(claim)
        return None if since is None else at - since

    def up_for_s(self, claim: str, *, at: float) -> float:
        """How long it has been running without a break."""
        return at - self._up.get(claim, at)

    def missing_for_s(self, claim: str, *, at: float) -> float:
        """How long the same nodes have been missing."""
        nodes, since = self._missing.get(claim, ((), at))
        return at - since if nodes else 0.0

    def beat_age_s(self, claim: str, node: int, beat: int, *, at: float) -> float:
        """How long ago this very heartbeat was first seen."""
        known = self._beats.get((claim, node))
        if known is None or known[0] != beat:
            self._beats[(claim, node)] = (beat, at)
            return 0.0
        return at - known[1]

    def forget_all_but(self, claims: Collection[str]) -> None:
        """Drop what is remembered of claims that are gone."""
        for memory in (self._gone, self._up, self._missing):
            for claim in [claim for claim in memory if claim not in claims]:
                del memory[claim]
        for key in [key for key in self._beats if key[0] not in claims]:
            del self._beats[key]


def _keep_if(memory: dict[str, float], claim: str, is_so: bool, at: float) -> None:
    if is_so:
        memory.setdefault(claim, at)
    else:
        memory.pop(claim, None)
