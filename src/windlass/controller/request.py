"""Turns a run and its spec into what an engine and its agents are asked to do.

Must not touch files or engines. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.controller.renting import Gang
from windlass.engines.base import ClaimRequest
from windlass.spec.canonical import from_json
from windlass.spec.model import Accelerators, Spec
from windlass.spec.topology import devices_per_node, node_count, ranks_per_node
from windlass.state.model import Claim, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the controller needs to know of a run's spec; worked out once per run."""

    spec: Spec
    wanted: Accelerators | None
    """The one of the spec's accelerators that was chosen at submit."""
    nodes: int
    gang: Gang
    options: dict[str, Any]


def facts_of(run: Run) -> Facts:
    """The facts of a run, from its row."""
    spec, options = from_json(run.spec), json.loads(run.options)
    named = spec.resources.accelerators
    wanted = named[options.get("wanted", 0)] if named else None
    return Facts(
        spec=spec,
        wanted=wanted,
        nodes=node_count(spec, wanted),
        gang=_gang(spec, wanted, options),
        options=options,
    )


def _gang(spec: Spec, wanted: Accelerators | None, options: Mapping[str, Any]) -> Gang:
    """What was chosen to be rented, else what the caller's own machines are asked for."""
    if "rented" in options:
        return Gang(**options["rented"])
    is_real = wanted is not None and not options.get("emulate")
    return Gang(accelerators=str(wanted) if is_real else "", nodes=spec.resources.nodes_min)


def claim_request(facts: Facts, claim: Claim, *, folder: str) -> ClaimRequest:
    """What the engine is asked for."""
    resources = facts.spec.resources
    return ClaimRequest(
        id=claim.id,
        run=claim.run,
        attempt=claim.attempt,
        nodes=facts.nodes,
        accelerators=(facts.wanted,) if facts.wanted else (),
        accelerators_per_node=devices_per_node(facts.wanted),
        cpus_per_node=resources.cpus,
        memory_bytes_per_node=resources.memory_bytes,
        folder=folder,
        options=facts.spec.engine.get(claim.engine, {}),
        is_emulated=bool(facts.options.get("emulate")),
        environment=facts.options.get("environment", {}),
        secrets=facts.spec.secrets,
    )


def claim_order(facts: Facts, claim: Claim, *, folder: str, notice_s: float) -> dict[str, Any]:
    """What the agents of the claim read: `claim.json` in the run folder."""
    spec = facts.spec
    is_emulated = bool(facts.options.get("emulate"))
    return {
        "version": 1,
        "run": claim.run,
        "name": spec.name,
        "attempt": claim.attempt,
        "claim": claim.id,
        "nodes": facts.nodes,
        "ranks_per_node": ranks_per_node(spec, facts.wanted),
        "launch": str(spec.launch),
        "command": spec.run,
        "setup": spec.setup,
        "source": facts.options.get("source"),
        "env": dict(spec.env),
        "notice_s": notice_s,
        "secrets": sorted(spec.secrets),
        "emulate_devices": devices_per_node(facts.wanted) if is_emulated else None,
        "accelerator": facts.wanted.name if facts.wanted and not is_emulated else None,
        "checkpoint": _checkpoint(spec, folder),
        "data": dict(spec.data),
    }


def _checkpoint(spec: Spec, folder: str) -> dict[str, Any]:
    """Every run may save: without a `checkpoint:` block, into its own folder."""
    checkpoint = spec.checkpoint
    return {
        "to": (checkpoint and checkpoint.to) or f"{folder}/checkpoints",
        "every_s": checkpoint.every_s if checkpoint else None,
        "keep": checkpoint.keep if checkpoint else 3,
    }
