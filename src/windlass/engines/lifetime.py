"""When machines of a claim end by themselves, whatever has become of us.

Must not read a clock: it counts from the claim's own times, so that a request that is rendered
again is the same. Pure.
"""

from __future__ import annotations

from typing import NamedTuple

from windlass.engines.base import ClaimRequest

WEEK_S = 7 * 86_400
"""How long machines of a run without `ttl` live; and more than Google gives most of them."""


class Lifetime(NamedTuple):
    """Two ends, of which the first one counts."""

    ends_at: float
    """By the time of day, however late they came: the end of the run's time to live."""
    lasts_s: int
    """So long after they came: the rest of the run's budget, or of its time to live."""


def lifetime(claim: ClaimRequest, *, shortest_s: int) -> Lifetime:
    """The ends of a claim's machines."""
    until = claim.expires_at if claim.expires_at is not None else claim.made_at + WEEK_S
    lasts_s = int(max(until - claim.made_at, shortest_s))
    ends_at = claim.ends_at if claim.ends_at is not None else claim.made_at + lasts_s
    return Lifetime(ends_at, lasts_s)


def waits_s(claim: ClaimRequest, *, shortest_s: int) -> int:
    """How long it may wait in a queue: nobody wants what is granted later."""
    ends_at = lifetime(claim, shortest_s=shortest_s).ends_at
    return int(max(ends_at - claim.made_at, shortest_s))
