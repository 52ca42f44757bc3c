"""Claims on offers of the catalog, and their requests as people read them.

Must not submit anything.
"""

from __future__ import annotations

import json
from typing import Any

from claims import make_claim_request
from windlass.engines.base import ClaimRequest

MADE_AT = 1_760_000_000.0
HOUR_S = 3600.0
AGENT_URL = "gs://runs/agents/agent.pyz"
PROJECT = "lab"


def rented_claim(offer: str, *, hours: float = 24.0, **fields: Any) -> ClaimRequest:
    """A claim on an offer, which ends after so many hours."""
    given = {
        "folder": "gs://runs/runs/train",
        "offer": offer,
        "labels": {"team": "nlp"},
        "made_at": MADE_AT,
        "expires_at": MADE_AT + hours * HOUR_S,
        **fields,
    }
    return make_claim_request("train-1-0", **given)


def readable(value: Any) -> str:
    """A request as JSON, without its start-up script, which has a golden file of its own."""
    return f"{json.dumps(_shortened(value), indent=2, ensure_ascii=False)}\n"


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("#!"):
        return "(the start-up script)"
    if isinstance(value, dict):
        return {key: _shortened(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shortened(one) for one in value]
    return value
