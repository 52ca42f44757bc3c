"""How a run is brought to its end: its outcome is set, and its gang with it.

Must not decide whether: decide.py, starting.py and spending.py do.
"""

from __future__ import annotations

from windlass.controller.draft import Draft
from windlass.state.phases import AttemptPhase, Outcome, RunPhase

LIVE_ATTEMPTS = frozenset({AttemptPhase.STARTING, AttemptPhase.RUNNING})


def end_run(draft: Draft, outcome: Outcome, code: str, reason: str) -> None:
    """The run's outcome is final; it ends when nothing of it is left."""
    draft.set_run(outcome=outcome)
    draft.move_run(RunPhase.STOPPING, code, reason)
    end_attempt(draft, outcome, code, reason)


def end_attempt(draft: Draft, outcome: Outcome, code: str, reason: str) -> None:
    """The newest attempt is over, if it has not ended by itself."""
    attempt = draft.attempt
    if attempt is not None and attempt.phase in LIVE_ATTEMPTS:
        draft.set_attempt(
            phase=AttemptPhase.ENDING,
            outcome=outcome,
            code=code,
            reason=reason,
            ended_at=draft.now,
        )
