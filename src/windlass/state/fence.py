"""The fence of a write: which changes are refused, judged against the rows as they are stored.

Must not read the store or the clock: whoever asks holds the transaction and hands the rows in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windlass.errors import InternalError, LeaseLost, PhaseIllegal, RunChanged
from windlass.state.model import Attempt, Change, Charge, Claim, Event, Lease, Run
from windlass.state.phases import (
    AttemptPhase,
    ClaimPhase,
    RunPhase,
    check_attempt_move,
    check_claim_move,
    check_run_move,
    is_ended,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What the store holds of the rows that a change would replace; a new row is not in it."""

    version: int | None
    """None when there is no such run any more."""
    phase: RunPhase | None = None
    attempts: Mapping[int, AttemptPhase]
    claims: Mapping[str, tuple[str, int, ClaimPhase]]
    """By id: the run and the attempt that the claim belongs to, and its phase."""


def check_lease(lease: Lease, current: Lease) -> None:
    """LeaseLost unless the lease is the one that is held now. Its expiry does not matter: until
    somebody else takes it, its holder is the only one who could write."""
    if (lease.holder, lease.epoch) != (current.holder, current.epoch):
        raise LeaseLost(
            f"{lease.holder} held the lease in epoch {lease.epoch}; it is epoch {current.epoch}"
            f" and the lease is {current.holder or 'nobody'}'s"
        )


def check_version(run: Run, stored: int | None) -> None:
    """RunChanged unless the run was read as it is stored now."""
    if stored is None:
        raise RunChanged(f"{run.id} was removed meanwhile")
    if stored != run.version:
        raise RunChanged(f"{run.id} was changed meanwhile: {run.version} read, {stored} stored")


def check_requeue(phase: RunPhase) -> None:
    """PhaseIllegal unless a run may be queued again by its user. The controller may queue a run
    that has not ended; a user may not."""
    if not is_ended(phase):
        raise PhaseIllegal(f"a run that is {phase} has not ended and cannot be queued again")
    check_run_move(phase, RunPhase.QUEUED)


def check_change(change: Change, stored: Stored) -> None:
    """RunChanged for a stale version, PhaseIllegal for a forbidden move, InternalError for rows
    of another run, which the version would not protect."""
    check_version(change.run, stored.version)
    assert stored.phase is not None
    check_run_move(stored.phase, change.run.phase)
    _check_belongs(change, stored)
    for attempt in change.attempts:
        if attempt.number in stored.attempts:
            check_attempt_move(stored.attempts[attempt.number], attempt.phase)
    for claim in change.claims:
        if claim.id in stored.claims:
            check_claim_move(stored.claims[claim.id][2], claim.phase)


def _check_belongs(change: Change, stored: Stored) -> None:
    strangers: list[Attempt | Claim | Event | Charge] = []
    for part in (change.attempts, change.claims, change.events, change.charges):
        strangers.extend(row for row in part if row.run != change.run.id)
    strangers += [
        claim
        for claim in change.claims
        if claim.id in stored.claims and stored.claims[claim.id][:2] != (claim.run, claim.attempt)
    ]
    if strangers:
        raise InternalError(f"a change of {change.run.id} holds {strangers[0]!r}")
