"""What a budget allows: when to warn, when to stop, how long machines may be held at most.

Must not stop anything: the controller does. Pure.

A stop begins one save before the budget is used up, so that spending ends between the budget less
one save and the budget plus one billing tick. Machines are given an end of their own as well, half
a tick after the budget is used up: they end in time also when nobody is left to stop them.
"""

from __future__ import annotations

from typing import NamedTuple

from windlass.policy.meter import HOUR_S, TICK_S, Meter

WARN_SHARE = 0.8
SAVE_S = 30.0
"""How long a save is taken to last before one was measured: the shortest notice there is."""
LOSER_S = 300.0
"""How long a claim that loses a race is taken to hold its machines."""
RACE_SHARE, RACE_USD = 0.05, 10.0
"""What losers of races may cost in all: a share of the budget, or so much without one."""
GRACE_S = TICK_S / 2


class Verdict(NamedTuple):
    """What is to be done about a budget now."""

    is_warned: bool
    """So much is spent that the user should know."""
    is_over: bool
    """What is left is what a save costs: stop."""
    look_at: float | None
    """When the answer may change; None while nothing is spent."""


def judge(
    budget_usd: float, meter: Meter, *, save_s: float | None, now: float, kept_usd: float = 0.0
) -> Verdict:
    """What this spending means, where a part of the budget is kept for something else."""
    lead_s = SAVE_S if save_s is None else save_s
    usable_usd = budget_usd - kept_usd
    is_over = meter.after(lead_s if meter.usd_per_h else 0.0) >= usable_usd
    look_at = None
    if meter.usd_per_h and not is_over:
        left_s = (usable_usd - meter.spent_usd) / meter.usd_per_h * HOUR_S - lead_s
        warn_s = (WARN_SHARE * budget_usd - meter.spent_usd) / meter.usd_per_h * HOUR_S
        look_at = now + (warn_s if warn_s > 0 else left_s)
    return Verdict(
        is_warned=meter.spent_usd >= WARN_SHARE * budget_usd, is_over=is_over, look_at=look_at
    )


def lasts_s(left_usd: float, usd_per_h: float) -> float:
    """How long machines at this price may be held, at the very most."""
    return max(left_usd, 0.0) / usd_per_h * HOUR_S + GRACE_S


def is_enough(left_usd: float, usd_per_h: float) -> bool:
    """Whether a start is worth it: for the least that is billed, and for a save."""
    return left_usd > usd_per_h * (TICK_S + SAVE_S) / HOUR_S


def loser_usd(usd_per_h: float) -> float:
    """What one more claim is expected to cost if it loses the race."""
    return usd_per_h * LOSER_S / HOUR_S


def race_cap_usd(budget_usd: float | None) -> float:
    """What losers may cost in all."""
    return RACE_USD if budget_usd is None else RACE_SHARE * budget_usd
