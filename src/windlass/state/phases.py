"""The phases of runs, attempts and claims, and which moves between them are legal.

Must not read the clock or the store: a table and the questions asked of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from windlass.errors import PhaseIllegal


class RunPhase(StrEnum):
    """Where a run is."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


class AttemptPhase(StrEnum):
    """Where an attempt is. HELD: machines are asked for ahead, while the attempt before it goes
    on; it has not begun. ENDING: decided, but its claim may still have live ranks."""

    HELD = "held"
    STARTING = "starting"
    RUNNING = "running"
    ENDING = "ending"
    ENDED = "ended"


class ClaimPhase(StrEnum):
    """Where a claim is. ASKED: intent written, the engine may or may not have heard of it."""

    ASKED = "asked"
    SUBMITTED = "submitted"
    CANCELLING = "cancelling"
    GONE = "gone"


class Wanted(StrEnum):
    """What the user wants of a run. STOP gives ranks their notice, KILL does not."""

    RUN = "run"
    STOP = "stop"
    KILL = "kill"


class Outcome(StrEnum):
    """How an attempt ended: the exit classes."""

    SUCCEEDED = "succeeded"
    PREEMPTED = "preempted"
    LOST = "lost"
    USER_ERROR = "user-error"
    REJECTED = "rejected"
    REFUSED = "refused"
    """There was nothing to be had anywhere: it is asked for again."""
    MOVED = "moved"
    """It was left for machines that nobody takes away: it goes on there."""
    STOPPED = "stopped"


RUN_MOVES: Mapping[RunPhase, frozenset[RunPhase]] = {
    RunPhase.QUEUED: frozenset(
        {RunPhase.STARTING, RunPhase.STOPPING, RunPhase.FAILED, RunPhase.STOPPED}
    ),
    RunPhase.STARTING: frozenset(
        {
            RunPhase.QUEUED,
            RunPhase.RUNNING,
            RunPhase.STOPPING,
            RunPhase.SUCCEEDED,
            RunPhase.FAILED,
            RunPhase.STOPPED,
        }
    ),
    RunPhase.RUNNING: frozenset(
        {
            RunPhase.QUEUED,
            RunPhase.STOPPING,
            RunPhase.SUCCEEDED,
            RunPhase.FAILED,
            RunPhase.STOPPED,
        }
    ),
    RunPhase.STOPPING: frozenset({RunPhase.SUCCEEDED, RunPhase.FAILED, RunPhase.STOPPED}),
    RunPhase.SUCCEEDED: frozenset(),
    RunPhase.FAILED: frozenset({RunPhase.QUEUED}),  # `windlass retry`
    RunPhase.STOPPED: frozenset({RunPhase.QUEUED}),  # `windlass retry`
}

ATTEMPT_MOVES: Mapping[AttemptPhase, frozenset[AttemptPhase]] = {
    AttemptPhase.HELD: frozenset({AttemptPhase.STARTING}),
    AttemptPhase.STARTING: frozenset(
        {AttemptPhase.RUNNING, AttemptPhase.ENDING, AttemptPhase.ENDED}
    ),
    AttemptPhase.RUNNING: frozenset({AttemptPhase.ENDING, AttemptPhase.ENDED}),
    AttemptPhase.ENDING: frozenset({AttemptPhase.ENDED}),
    AttemptPhase.ENDED: frozenset(),
}

CLAIM_MOVES: Mapping[ClaimPhase, frozenset[ClaimPhase]] = {
    ClaimPhase.ASKED: frozenset({ClaimPhase.SUBMITTED, ClaimPhase.CANCELLING, ClaimPhase.GONE}),
    ClaimPhase.SUBMITTED: frozenset({ClaimPhase.CANCELLING, ClaimPhase.GONE}),
    ClaimPhase.CANCELLING: frozenset({ClaimPhase.GONE}),
    ClaimPhase.GONE: frozenset(),
}

ENDED_RUNS = frozenset({RunPhase.SUCCEEDED, RunPhase.FAILED, RunPhase.STOPPED})


def is_ended(phase: RunPhase) -> bool:
    """Whether a run in this phase needs nothing more from the controller."""
    return phase in ENDED_RUNS


def check_run_move(before: RunPhase, after: RunPhase) -> None:
    """Raise PhaseIllegal unless a run may go from one phase to the other (or stays)."""
    if before is not after and after not in RUN_MOVES[before]:
        raise PhaseIllegal(f"a run cannot go from {before} to {after}")


def check_attempt_move(before: AttemptPhase, after: AttemptPhase) -> None:
    """Raise PhaseIllegal unless an attempt may go from one phase to the other (or stays)."""
    if before is not after and after not in ATTEMPT_MOVES[before]:
        raise PhaseIllegal(f"an attempt cannot go from {before} to {after}")


def check_claim_move(before: ClaimPhase, after: ClaimPhase) -> None:
    """Raise PhaseIllegal unless a claim may go from one phase to the other (or stays)."""
    if before is not after and after not in CLAIM_MOVES[before]:
        raise PhaseIllegal(f"a claim cannot go from {before} to {after}")
