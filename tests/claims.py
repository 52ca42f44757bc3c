"""Claims as engines are asked for them, with everything filled in that a test does not care about.

Must not submit anything.
"""

from __future__ import annotations

from typing import Any

from windlass.engines.base import ClaimRequest
from windlass.engines.local.machine import Gpu
from windlass.engines.local.request import LocalRequest, render
from windlass.spec.accelerators import accelerators


def make_claim_request(claim_id: str = "r-1-0", *, on: str = "", **fields: Any) -> ClaimRequest:
    """A claim; `on` names its accelerators as a spec does, several with commas."""
    run, attempt, _ = claim_id.rsplit("-", 2)
    wanted = tuple(accelerators(text) for text in on.split(",") if text)
    defaults: dict[str, Any] = {
        "nodes": 1,
        "accelerators": wanted,
        "accelerators_per_node": wanted[0].count if wanted else 0,
        "cpus_per_node": None,
        "memory_bytes_per_node": None,
        "folder": f"file:///runs/{run}",
        "options": {},
        "is_emulated": False,
        "environment": {},
        "secrets": {},
    }
    return ClaimRequest(id=claim_id, run=run, attempt=int(attempt), **{**defaults, **fields})


def make_local_request(claim_id: str = "r-1-0", **fields: Any) -> LocalRequest:
    """The same, rendered."""
    return render(make_claim_request(claim_id, **fields))


def make_gpus(*models: str) -> tuple[Gpu, ...]:
    """GPUs in this order, numbered from 0."""
    return tuple(
        Gpu(index=index, name=f"NVIDIA {model}", model=model, memory_mib=80_000)
        for index, model in enumerate(models)
    )
