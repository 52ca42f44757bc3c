"""Values of the model with everything filled in that a test does not care about.

Must not decide or store anything.
"""

from __future__ import annotations

from typing import Any

from windlass.state.model import Attempt, Charge, Claim, Event, Run
from windlass.state.phases import AttemptPhase, ClaimPhase


def make_run(run_id: str = "r", **fields: Any) -> Run:
    """A queued run."""
    defaults = {
        "name": run_id,
        "spec": "{}",
        "owner": "ada",
        "engine": "local",
        "created_at": 1000.0,
    }
    return Run(id=run_id, **{**defaults, **fields})


def make_attempt(run_id: str = "r", number: int = 1, **fields: Any) -> Attempt:
    """An attempt that starts."""
    defaults = {"phase": AttemptPhase.STARTING, "created_at": 1000.0}
    return Attempt(run=run_id, number=number, **{**defaults, **fields})


def make_claim(run_id: str = "r", attempt: int = 1, index: int = 0, **fields: Any) -> Claim:
    """A claim that was asked for."""
    defaults = {
        "id": f"{run_id}-{attempt}-{index}",
        "engine": "local",
        "phase": ClaimPhase.ASKED,
        "created_at": 1000.0,
    }
    return Claim(run=run_id, attempt=attempt, index=index, **{**defaults, **fields})


def make_event(run_id: str = "r", code: str = "noted", **fields: Any) -> Event:
    """Something that happened."""
    defaults = {"attempt": 0, "at": 1000.0, "message": f"It was {code}."}
    return Event(run=run_id, code=code, **{**defaults, **fields})


def make_charge(run_id: str = "r", attempt: int = 1, index: int = 0, **fields: Any) -> Charge:
    """What a claim's machines cost that are held."""
    defaults = {
        "name": run_id,
        "owner": "ada",
        "team": "",
        "env": "",
        "offer": "us-central1-a/a3-highgpu-8g/spot",
        "buy": "spot",
        "usd_per_h": 36.0,
        "from_at": 1000.0,
    }
    return Charge(claim=f"{run_id}-{attempt}-{index}", run=run_id, **{**defaults, **fields})
