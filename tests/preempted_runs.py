"""Runs that are preempted, played event by event with drawn preemptions: what formulas are held to.

Must not import the planner: it is written from the description of the process alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

_DRAWN_AT_ONCE = 65_536
"""Lives of nodes: as many as stay in a core's cache."""


@dataclass(frozen=True, kw_only=True)
class Play:
    """One kind of run: times in seconds, hazard per node and second."""

    nodes: int
    node_hazard: float
    work: float
    segments: int
    save: float
    restart: float
    wait: float = 0.0
    first_wait: float = 0.0

    @property
    def segment(self) -> float:
        """One segment with its save."""
        return self.work / self.segments + self.save


class Played(NamedTuple):
    """What became of each of many runs."""

    wall: np.ndarray
    """From submit to the end."""
    held: np.ndarray
    """With machines."""
    hits: np.ndarray
    """Preemptions."""


def play(run: Play, *, count: int, chance: np.random.Generator) -> Played:
    """So many runs at once. An attempt of each is one round: it ends, or its first node goes.

    Segments between two preemptions are counted, not walked through; `play_slowly` does that.
    """
    wall = np.full(count, float(run.first_wait))
    held = np.zeros(count)
    hits = np.zeros(count, dtype=int)
    left = np.full(count, run.segments)
    alive = np.arange(count)
    while alive.size:
        life = gang_lives(run, count=alive.size, chance=chance)
        saved = np.floor(np.maximum(life - run.restart, 0.0) / run.segment)
        is_over = saved >= left[alive]
        lasted = np.where(is_over, run.restart + left[alive] * run.segment, life)
        wall[alive] += lasted
        held[alive] += lasted
        lost = alive[~is_over]
        left[lost] -= saved[~is_over].astype(int)
        wall[lost] += run.wait
        hits[lost] += 1
        alive = lost
    return Played(wall, held, hits)


def gang_lives(run: Play, *, count: int, chance: np.random.Generator) -> np.ndarray:
    """Every node of a gang has a life of its own; the first to go takes the gang with it."""
    lives = np.empty(count)
    rows = max(1, _DRAWN_AT_ONCE // run.nodes)
    drawn = np.empty((rows, run.nodes))
    for first in range(0, count, rows):
        some = drawn[: min(rows, count - first)]
        chance.standard_exponential(out=some)
        some.min(axis=1, out=lives[first : first + len(some)])
    return lives / run.node_hazard


def play_slowly(run: Play, lives: Iterator[float]) -> tuple[float, float, int]:
    """One run, second by second as it were: every start and every segment is an event."""
    wall, held, hits, done = run.first_wait, 0.0, 0, 0
    until_hit, is_starting = next(lives), True
    while done < run.segments:
        length = run.restart if is_starting else run.segment
        lasted = min(length, until_hit)
        wall += lasted
        held += lasted
        until_hit -= lasted
        if until_hit > 0:
            done += 0 if is_starting else 1
            is_starting = False
        else:
            wall += run.wait
            hits += 1
            until_hit, is_starting = next(lives), True
    return wall, held, hits
