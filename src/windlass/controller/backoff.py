"""How long to wait before trying again.

Must not use chance or a clock: the same history gives the same wait. Pure.
"""

from __future__ import annotations

RESTART_FIRST_S = 1.0
RESTART_MAX_S = 120.0
LONG_ENOUGH_S = 300.0
"""An attempt that ran for this long was worth starting: its loss does not count as quick."""

SUBMIT_FIRST_S = 0.5
SUBMIT_MAX_S = 30.0
CANCEL_FIRST_S = 1.0
CANCEL_MAX_S = 30.0


def restart_delay_s(quick_losses: int) -> float:
    """The first loss is made good at once; losses that follow each other quickly wait longer."""
    if quick_losses <= 1:
        return 0.0
    return _doubled(RESTART_FIRST_S, quick_losses - 2, RESTART_MAX_S)


def submit_delay_s(tries: int) -> float:
    """Between two tries to submit one claim."""
    return _doubled(SUBMIT_FIRST_S, tries - 1, SUBMIT_MAX_S)


def cancel_delay_s(tries: int) -> float:
    """Between two tries to cancel one claim."""
    return _doubled(CANCEL_FIRST_S, tries - 1, CANCEL_MAX_S)


def _doubled(first_s: float, times: int, max_s: float) -> float:
    return min(first_s * 2.0 ** min(max(times, 0), 30), max_s)
