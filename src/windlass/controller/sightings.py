"""Since when something has been seen, by the steady clock of this process.

Must not survive the process: a new controller starts counting anew, which only makes it wait
longer before it believes that something is dead.

Every span begins when the first look had *ended*, and ends when the newest one *began*, not now:
a controller that hung in the middle of a look would otherwise take an old answer for a fresh one,
or believe that something was so before anybody saw it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from windlass.engines.base import Observation, Seen


@dataclass(slots=True)
class _Span:
    """The end of the first look and the beginning of the newest that showed the same thing, without
    another between them."""

    first: float
    newest: float

    @property
    def seconds(self) -> float:
        return max(0.0, self.newest - self.first)


class Sightings:
    """Remembers since when each claim is seen gone, up or incomplete, and each heartbeat."""

    def __init__(self) -> None:
        self._gone: dict[str, _Span] = {}
        self._up: dict[str, _Span] = {}
        self._missing: dict[str, tuple[tuple[int, ...], _Span]] = {}
        self._beats: dict[tuple[str, int], tuple[int, float]] = {}

    def note(
        self, claim: str, observation: Observation, *, asked_at: float, told_at: float
    ) -> None:
        """Take in what an engine said of a claim, and when. UNKNOWN changes nothing."""
        if observation.seen is Seen.UNKNOWN:
            return
        look = _Span(told_at, asked_at)
        _extend(self._gone, claim, observation.seen is Seen.GONE, look)
        _extend(self._up, claim, observation.seen is Seen.RUNNING, look)
        known = self._missing.get(claim)
        if known is None or known[0] != observation.missing:
            self._missing[claim] = (observation.missing, look)
        else:
            known[1].newest = asked_at

    def gone_for_s(self, claim: str) -> float | None:
        """For how long it has been seen gone without a break; None when it is not."""
        span = self._gone.get(claim)
        return None if span is None else span.seconds

    def up_for_s(self, claim: str) -> float:
        """For how long it has been seen running without a break."""
        span = self._up.get(claim)
        return 0.0 if span is None else span.seconds

    def missing_for_s(self, claim: str) -> float:
        """For how long the same nodes have been missed."""
        nodes, span = self._missing.get(claim, ((), None))
        return span.seconds if nodes and span is not None else 0.0

    def beat_age_s(
        self, claim: str, node: int, beat: int, *, asked_at: float, read_at: float
    ) -> float:
        """How long this very heartbeat has been there at least: from the end of the first look
        that showed it to the beginning of this one."""
        known = self._beats.get((claim, node))
        if known is None or known[0] != beat:
            self._beats[(claim, node)] = (beat, read_at)
            return 0.0
        return max(0.0, asked_at - known[1])

    def forget_all_but(self, claims: Collection[str]) -> None:
        """Drop what is remembered of claims that are gone."""
        for memory in (self._gone, self._up, self._missing):
            for claim in [claim for claim in memory if claim not in claims]:
                del memory[claim]
        for key in [key for key in self._beats if key[0] not in claims]:
            del self._beats[key]


def _extend(spans: dict[str, _Span], claim: str, is_so: bool, look: _Span) -> None:
    if not is_so:
        spans.pop(claim, None)
    elif claim in spans:
        spans[claim].newest = look.newest
    else:
        spans[claim] = replace(look)
