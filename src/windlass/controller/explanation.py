"""What an explanation may look at, and what it consists of.

Must not hold words of its own: explain.py finds them.
"""

from __future__ import annotations

from dataclasses import dataclass

from windlass.controller.report import Loss
from windlass.state.model import Attempt, Claim, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """What a node of the newest attempt last said."""

    index: int
    address: str = ""
    state: str = ""
    """What its agent does, or how it ended."""
    beat_age_s: float | None = None
    """Since it last said something; None when it never did."""
    has_ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything an explanation may look at."""

    run: Run
    now: float
    attempts: tuple[Attempt, ...] = ()
    claims: tuple[Claim, ...] = ()
    nodes: tuple[NodeFacts, ...] = ()
    last_lines: tuple[str, ...] = ()
    """The last lines of the rank that failed first (or of `setup`, when that failed)."""
    early_lines: tuple[str, ...] = ()
    """What machines said, when no agent of theirs was heard."""
    others: tuple[Run, ...] = ()
    """The other live runs on the same engine, oldest first."""
    restarts_max: int | None = None
    losses: tuple[Loss, ...] = ()
    """Work that was done in vain, by attempt."""
    is_controller_alive: bool = True

    @property
    def evidence(self) -> tuple[str, ...]:
        """What ranks printed, or else what their machines said."""
        return self.last_lines or self.early_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The answer: one headline, the reasons in order, what was printed, what to type next."""

    headline: str
    why: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    remedy: str = ""
    next_commands: tuple[str, ...] = ()
