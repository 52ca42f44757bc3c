"""Runs that are preempted, played event by event with drawn preemptions: what formulas are held to.

Must not import the planner: it is written from the description of the process alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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


def play(run: Play, *, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How long each of so many runs took, and how often each was preempted."""
    chance = np.random.default_rng(seed)
    clock = np.full(count, run.first_wait)
    hits = np.zeros(count, dtype=int)
    done = np.zeros(count, dtype=int)
    is_starting = np.ones(count, dtype=bool)
    until_hit = _first_of_all_nodes(run, chance, count)
    alive = np.arange(count)
    while alive.size:
        length = np.where(is_starting[alive], run.restart, run.work / run.segments + run.save)
        is_hit = until_hit[alive] < length
        went_on, lost = alive[~is_hit], alive[is_hit]
        clock[went_on] += length[~is_hit]
        until_hit[went_on] -= length[~is_hit]
        done[went_on] += ~is_starting[went_on]
        is_starting[went_on] = False
        clock[lost] += until_hit[lost] + run.wait
        until_hit[lost] = _first_of_all_nodes(run, chance, lost.size)
        is_starting[lost] = True
        hits[lost] += 1
        alive = alive[done[alive] < run.segments]
    return clock, hits


def _first_of_all_nodes(run: Play, chance: np.random.Generator, count: int) -> np.ndarray:
    """Every node has a life of its own; the first to go takes the gang with it."""
    lives = np.full(count, np.inf)
    for first in range(0, run.nodes, 64):
        some = min(64, run.nodes - first)
        drawn = chance.standard_exponential((count, some)).min(axis=1)
        np.minimum(lives, drawn / run.node_hazard, out=lives)
    return lives
