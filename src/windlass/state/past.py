"""What ended attempts tell whoever plans the next run: hours rented, losses, and times of steps.

Must not judge it: the planner does. Read only.
"""

from __future__ import annotations

from typing import NamedTuple

from windlass.state.database import Database
from windlass.state.phases import Outcome
from windlass.state.rows import storable

TAKEN_AWAY = (Outcome.PREEMPTED, Outcome.LOST)
RUNS_MAX = 100
"""So many runs of a name are looked through, newest first: older ones say little of the next."""

# What a twin plays tells nothing of Google, nor the other way round.
WITHIN = "(? = '' OR r.cloud = '' OR r.cloud = ?)"
# Attempts that still run count up to now: those that were taken away early would otherwise be all
# that is known, and everything would look worse than it is.
HELD = f"""
    SELECT c.accelerators, c.buy, c.nodes,
        sum(CASE WHEN a.outcome IN ({", ".join(f"'{outcome}'" for outcome in TAKEN_AWAY)})
            THEN 1 ELSE 0 END),
        sum(CASE WHEN coalesce(a.ended_at, ?) > a.started_at
            THEN coalesce(a.ended_at, ?) - a.started_at ELSE 0 END)
    FROM claims c JOIN attempts a ON a.run = c.run AND a.number = c.attempt
    JOIN runs r ON r.id = c.run
    WHERE {WITHIN} AND c.offer <> '' AND a.winner = c.id AND a.started_at IS NOT NULL
    GROUP BY c.accelerators, c.buy, c.nodes
    ORDER BY c.accelerators, c.buy, c.nodes"""
PACES = f"""
    SELECT r.spec, c.accelerators, c.nodes, a.step_s
    FROM (SELECT id, spec, created_at FROM runs r WHERE {WITHIN} AND name = ?
          ORDER BY created_at DESC, id DESC LIMIT ?) r
    JOIN attempts a ON a.run = r.id JOIN claims c ON c.id = a.winner
    WHERE a.step_s IS NOT NULL AND c.accelerators <> ''
    ORDER BY r.created_at DESC, r.id DESC, a.number DESC LIMIT ?"""


class Held(NamedTuple):
    """What was rented of one kind in all, and how often it was taken away."""

    accelerators: str
    buy: str
    nodes: int
    """Of each gang; slices, for TPUs."""
    losses: int
    """Attempts that were preempted, or lost a node."""
    seconds: float
    """That gangs had ranks running."""


class Pace(NamedTuple):
    """How long a step took in one attempt, and on what."""

    spec: str
    """Of its run, as canonical JSON."""
    accelerators: str
    nodes: int
    step_s: float


def held(database: Database, *, now: float, cloud: str) -> list[Held]:
    """Everything that was ever rented in the cloud, or in any, by kind."""
    return [
        Held(*row) for row in database.query(HELD, (now, now, storable(cloud), storable(cloud)))
    ]


def paces(database: Database, name: str, *, cloud: str) -> list[Pace]:
    """What was measured in runs of this name in the cloud, or in any, newest first."""
    within = (storable(cloud), storable(cloud))
    rows = database.query(PACES, (*within, storable(name), RUNS_MAX, RUNS_MAX))
    return [Pace(*row) for row in rows]
