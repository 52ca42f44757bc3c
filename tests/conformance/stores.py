"""What tests of stores do again and again: add a run, take the lease, look at all there is.

Must not check anything.
"""

from __future__ import annotations

from typing import Any

from builders import make_event, make_run
from windlass.state.model import Lease, Run
from windlass.state.store import Store


def take(store: Store, holder: str = "c1", *, now: float = 0.0, ttl_s: float = 10.0) -> Lease:
    """Take a lease that is free, or has run out by then."""
    lease = store.take_lease(holder, now=now, ttl_s=ttl_s)
    assert lease is not None
    return lease


def add(store: Store, run_id: str = "r", **fields: Any) -> Run:
    """Add a run and its first event."""
    run = make_run(run_id, **fields)
    store.add_run(run, make_event(run_id, "submitted"))
    return run


def everything(store: Store, run_id: str = "r") -> tuple[Any, ...]:
    """All that the store knows of a run."""
    return (
        store.get_run(run_id),
        store.list_attempts(run_id),
        store.list_claims(run_id),
        store.list_events(run_id),
    )
