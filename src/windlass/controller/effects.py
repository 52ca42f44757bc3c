"""What a decision asks to be done, after it was written down.

Must not do anything: step.py carries these out. Each may be done twice without harm.
"""

from __future__ import annotations

from dataclasses import dataclass

from windlass.state.model import Change, Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Submit:
    """Ask the engine for the claim; the claim's id is the idempotency key."""

    claim: Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """Take the fence of the attempt for nobody, so that a late claim can never start ranks."""

    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Let claims win their attempt that were held until the attempt before had ended."""

    attempt: int
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Tell the engine to end the claim."""

    claim: str
    handle: str
    now: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepEarly:
    """Keep what the claim's machines have said so far: none of their agents has reported."""

    claim: str
    handle: str


Effect = Submit | GiveUp | Open | Cancel | KeepEarly


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One write, then effects in order, then nothing before `wake_at`."""

    change: Change | None
    effects: tuple[Effect, ...]
    wake_at: float | None
    """By the wall clock; None when only a new observation can bring news."""
