"""Turns a run and its spec into what an engine and its agents are asked to do.

Must not touch files or engines. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.controller.renting import Gang
from windlass.controller.view import Wishes
from windlass.engines.base import ClaimRequest
from windlass.engines.lifetime import WEEK_S
from windlass.spec.accelerators import accelerators
from windlass.spec.canonical import from_json
from windlass.spec.model import Accelerators, Spec
from windlass.spec.topology import devices_per_node, hosts_per_slice, node_count, ranks_per_node
from windlass.state.model import Claim, Run
from windlass.state.phases import ClaimPhase


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the controller needs to know of a run's spec; worked out once per run."""

    spec: Spec
    wanted: Accelerators | None
    """The one of the spec's accelerators that was chosen at submit."""
    nodes: int
    gangs: tuple[Gang, ...]
    """What may be asked for, best first."""
    wishes: Wishes
    ends_at: float | None
    """When nothing of the run may be left; None when it may take as long as it likes."""
    labels: Mapping[str, str]
    """What everything that is made for the run is to carry."""
    options: dict[str, Any]

    @property
    def gang(self) -> Gang:
        """What was chosen at submit."""
        return self.gangs[0]


def facts_of(run: Run) -> Facts:
    """The facts of a run, from its row."""
    spec, options = from_json(run.spec), json.loads(run.options)
    named = spec.resources.accelerators
    wanted = named[options.get("wanted", 0)] if named else None
    limits = spec.limits
    wishes = Wishes(
        race=spec.where.race,
        budget_usd=limits.budget_usd,
        deadline_s=limits.deadline_s,
        team=spec.labels.get("team", ""),
        env=spec.labels.get("env", ""),
    )
    return Facts(
        spec=spec,
        wanted=wanted,
        nodes=node_count(spec, wanted),
        gangs=_gangs(spec, wanted, options),
        wishes=wishes,
        ends_at=run.expires_at,
        labels={**spec.labels, "run": run.id, "owner": run.owner},
        options=options,
    )


def _gangs(spec: Spec, wanted: Accelerators | None, options: Mapping[str, Any]) -> tuple[Gang, ...]:
    """What was chosen to be rented and where else to ask, in order; else what the caller's own
    machines are asked for."""
    if "rented" in options:
        first = Gang(**options["rented"])
        others = (Gang(*listed) for listed in options.get("offers", ()))
        return (first, *(gang for gang in others if gang[:2] != first[:2]))
    is_real = wanted is not None and not options.get("emulate")
    return (Gang(accelerators=str(wanted) if is_real else "", nodes=spec.resources.nodes_min),)


def wanted_of(facts: Facts, claim: Claim) -> Accelerators | None:
    """The accelerators of each node of a claim: of what it rents, else what the spec asks for."""
    if not claim.offer:
        return facts.wanted
    return accelerators(claim.accelerators) if claim.accelerators else None


def node_count_of(facts: Facts, claim: Claim) -> int:
    """Nodes of a claim: of what it rents, and every host of a slice is one."""
    if not claim.offer:
        return facts.nodes
    wanted = wanted_of(facts, claim)
    return claim.nodes * (hosts_per_slice(wanted) if wanted and wanted.is_tpu else 1)


def first_request(run: Run, *, folder: str) -> ClaimRequest:
    """What the run's engine would be asked for first, had it been asked for anything yet."""
    facts = facts_of(run)
    claim = Claim(
        id=f"{run.id}-1-0",
        run=run.id,
        attempt=1,
        index=0,
        engine=run.engine,
        phase=ClaimPhase.ASKED,
        created_at=run.created_at,
        offer=facts.gang.offer,
        buy=facts.gang.buy,
        accelerators=facts.gang.accelerators,
        nodes=facts.gang.nodes,
        expires_at=run.expires_at,
    )
    return claim_request(facts, claim, folder=folder)


def claim_request(facts: Facts, claim: Claim, *, folder: str) -> ClaimRequest:
    """What the engine is asked for."""
    resources, wanted = facts.spec.resources, wanted_of(facts, claim)
    return ClaimRequest(
        id=claim.id,
        run=claim.run,
        attempt=claim.attempt,
        nodes=node_count_of(facts, claim),
        accelerators=(wanted,) if wanted else (),
        accelerators_per_node=devices_per_node(wanted),
        cpus_per_node=resources.cpus,
        memory_bytes_per_node=resources.memory_bytes,
        folder=folder,
        options=facts.spec.engine.get(claim.engine, {}),
        is_emulated=bool(facts.options.get("emulate")),
        environment=facts.options.get("environment", {}),
        secrets=facts.spec.secrets,
        image=facts.spec.image or "",
        offer=claim.offer,
        buy=claim.buy,
        labels=facts.labels,
        made_at=claim.created_at,
        expires_at=claim.expires_at,
        ends_at=_ends_at(facts, claim),
    )


def _ends_at(facts: Facts, claim: Claim) -> float | None:
    """The end of everything that is rented, however late it comes."""
    if facts.ends_at is None and claim.offer:
        return claim.created_at + WEEK_S
    return facts.ends_at


def claim_order(
    facts: Facts, claim: Claim, *, folder: str, notice_s: float, held_s: float = 0.0
) -> dict[str, Any]:
    """What the agents of the claim read: `claim.json` in the run folder. With `held_s` they wait
    so long at most until they may start."""
    spec, wanted = facts.spec, wanted_of(facts, claim)
    is_emulated = bool(facts.options.get("emulate"))
    return {
        "version": 1,
        "run": claim.run,
        "name": spec.name,
        "attempt": claim.attempt,
        "claim": claim.id,
        "nodes": node_count_of(facts, claim),
        "ranks_per_node": ranks_per_node(spec, wanted),
        "launch": str(spec.launch),
        "command": spec.run,
        "setup": spec.setup,
        "source": facts.options.get("source"),
        "env": dict(spec.env),
        "notice_s": notice_s,
        "held_s": held_s,
        "secrets": sorted(spec.secrets),
        "emulate_devices": devices_per_node(wanted) if is_emulated else None,
        "accelerator": wanted.name if wanted and not is_emulated else None,
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
