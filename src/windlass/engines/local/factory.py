"""Builds the local engine for a home folder.

Must not hold logic.
"""

from __future__ import annotations

from windlass.engines.local.engine import LocalEngine
from windlass.engines.site import EngineSite


def build(site: EngineSite) -> LocalEngine:
    """The engine over this machine."""
    return LocalEngine(
        site.home / "local",
        clock=site.world.clock,
        processes=site.processes,
        agent=site.agent,
        secrets=site.secrets,
        wake=site.wake,
    )
