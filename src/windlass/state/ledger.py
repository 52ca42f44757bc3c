"""Finds what machines have cost: the charges of claims, of runs that were removed too.

Must not add anything up: windlass.policy does. Read only.
"""

from __future__ import annotations

from windlass.state.database import Database
from windlass.state.model import Charge
from windlass.state.rows import CHARGES, storable


def charges(database: Database, *, run_id: str | None, since: float | None) -> list[Charge]:
    """Of one run or of all; those held at `since` or later; oldest first."""
    conditions: list[str] = []
    values: list[object] = []
    if run_id is not None:
        conditions.append("run = ?")
        values.append(storable(run_id))
    if since is not None:
        conditions.append("(until_at IS NULL OR until_at > ?)")
        values.append(since)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = database.query(f"{CHARGES.select} {where} ORDER BY from_at, claim", values)
    return [CHARGES.value(row) for row in rows]
