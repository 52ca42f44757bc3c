"""Builds the compute engine for a project.

Must not hold logic.
"""

from __future__ import annotations

from windlass.engines.compute.engine import ComputeEngine
from windlass.engines.marks import Marks
from windlass.engines.site import EngineSite
from windlass.google.compute import Compute


def build(site: EngineSite) -> ComputeEngine:
    """The engine over Compute Engine in the configured project."""
    google = site.google
    assert google is not None, "this engine rents from Google"
    return ComputeEngine(
        Compute(google.session(), google.project()),
        catalog=google.catalog(),
        marks=Marks("compute", clock=site.world.clock, open_folder=site.world.open_folder),
        agent_url=google.agent_url,
        defaults=google.defaults("compute"),
    )
