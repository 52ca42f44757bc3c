"""What holds for machines of Google's, whichever of its services rents them out.

Must not ask anything of Google.
"""

from __future__ import annotations

from windlass.engines.base import Limits

START_TIMEOUT_S = 900.0
"""Drivers, packages, a large image and `setup` come after the machine; only heartbeats count."""
STALE_S = 10.0
NOTICE_S = 25.0
"""Of the 30 that Google gives: the rest is for the agent to say how it ended. Where it cannot, the
next attempt waits until it is known to be gone."""


def limits(*, nodes_max: int, runs_containers: bool = False) -> Limits:
    """Of an engine that rents."""
    return Limits(
        nodes_max=nodes_max,
        start_timeout_s=START_TIMEOUT_S,
        stale_s=STALE_S,
        notice_s=NOTICE_S,
        is_rented=True,
        runs_containers=runs_containers,
    )
