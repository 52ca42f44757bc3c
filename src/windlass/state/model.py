"""What the store remembers: runs, attempts, claims, events, charges, and changes of them.

Must not know how they are stored. Times are seconds since 1970, UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from windlass.state.phases import AttemptPhase, ClaimPhase, Outcome, RunPhase, Wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One spec being carried out."""

    id: str
    name: str
    """As the user wrote it; the id is made from it and is safe in every shell and file system."""
    spec: str
    """The checked spec as canonical JSON (never a secret's value)."""
    owner: str
    engine: str
    created_at: float
    phase: RunPhase = RunPhase.QUEUED
    wanted: Wanted = Wanted.RUN
    attempt: int = 0
    """Number of the newest attempt; 0 before the first."""
    restarts: int = 0
    """How often it was started again, counted against `limits.restarts`."""
    quick_losses: int = 0
    """Losses in a row that came soon after the start; feeds the back-off."""
    next_attempt_at: float = 0.0
    started_at: float | None = None
    """When ranks first started."""
    ended_at: float | None = None
    expires_at: float | None = None
    """When `limits.ttl` stops the run and its machines."""
    outcome: Outcome | None = None
    """Decided once the run will end; its phase follows when its claims are gone."""
    code: str = ""
    """Why it is where it is, for programs (kebab-case)."""
    reason: str = ""
    """The same for people, in one sentence."""
    options: str = "{}"
    """JSON of what the caller chose beside the spec, such as {"emulate": true}."""
    version: int = 0
    """Counts writes; a write names the version it read, so that none is lost."""
    market: str = "{}"
    """JSON of what was learnt while renting: which offers are blocked, until when and why."""
    spent_usd: float = 0.0
    """What machines cost that are gone; those that are held are in the claims."""
    race_usd: float = 0.0
    """The part of it that went to claims which lost a race."""
    cloud: str = ""
    """The one that it was submitted to; empty for a run that needs none, and for older ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One start of a run's gang."""

    run: str
    number: int
    phase: AttemptPhase
    created_at: float
    started_at: float | None = None
    ended_at: float | None = None
    outcome: Outcome | None = None
    exit_status: int | None = None
    failed_node: int | None = None
    failed_rank: int | None = None
    code: str = ""
    reason: str = ""
    winner: str = ""
    """Id of the claim whose ranks may run, once seen."""
    given_up: bool = False
    """The fence is ours: no claim of this attempt can ever start ranks."""
    step_s: float | None = None
    """Median seconds of a step, as its ranks reported them; known when the attempt has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An attempt's ask to one engine for one offer. Its id is the idempotency key."""

    id: str
    run: str
    attempt: int
    index: int
    engine: str
    phase: ClaimPhase
    created_at: float
    handle: str = ""
    """The engine's name for it; empty until an answer to submit was received."""
    tries: int = 0
    retry_at: float = 0.0
    error: str = ""
    """What the engine last said when it did not take the claim."""
    offer: str = ""
    """What is rented, such as `us-central1-a/a3-highgpu-8g/spot`; empty where nothing is."""
    buy: str = ""
    """How it is bought, as the spec writes it: `spot`, `reservation/my-block`."""
    accelerators: str = ""
    """Those of each node, such as `H100:8`, or a slice, such as `v5e-16`; empty for none."""
    nodes: int = 0
    """How many of them; slices, for TPUs. 0 in claims of a Windlass that did not record it."""
    usd_per_h: float = 0.0
    """What all of its machines cost while they are held; 0 where nothing is rented."""
    expires_at: float | None = None
    """When nothing of it may be left, whatever happened to us."""
    refused: str = ""
    """Code of the error with which it was refused for good: it never had a machine."""
    held_from: float | None = None
    """Since when its machines are paid for; None before there are any."""
    held_until: float | None = None
    is_extra: bool = False
    """It lost a race, or was asked for ahead and not used: what it costs, the race costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a run, kept for `windlass events`."""

    run: str
    attempt: int
    at: float
    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    sequence: int = 0
    """Given by the store; grows with every event of the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one claim's machines cost, with all that costs are added up by. Outlives its run."""

    claim: str
    run: str
    name: str
    """The run's, as the user wrote it."""
    owner: str
    team: str
    """The run's labels `team` and `env`; empty when it has none."""
    env: str
    offer: str
    buy: str
    usd_per_h: float
    from_at: float
    until_at: float | None = None
    """None while its machines are held."""
    is_extra: bool = False
    """Of a claim that lost a race."""
    cloud: str = ""
    """The run's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write as the controller. `epoch` grows each time it changes hands."""

    holder: str
    epoch: int
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Everything one step writes, in one transaction.

    `run.version` is the version that was read; the store adds one. Attempts and claims are
    inserted or replaced by key, charges too; events are appended.
    """

    run: Run
    attempts: tuple[Attempt, ...] = ()
    claims: tuple[Claim, ...] = ()
    events: tuple[Event, ...] = ()
    charges: tuple[Charge, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """A run that has not ended, with what a step needs of it."""

    run: Run
    attempt: Attempt | None
    """The newest attempt."""
    claims: tuple[Claim, ...]
    """Every claim of the run that is not GONE, and all of the newest attempt's and of one that is
    held for after it."""
