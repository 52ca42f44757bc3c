"""Builds the tpu engine for a project.

Must not hold logic.
"""

from __future__ import annotations

from windlass.engines.marks import Marks
from windlass.engines.site import EngineSite
from windlass.engines.tpu.engine import TpuEngine
from windlass.google.tpu import Tpu


def build(site: EngineSite) -> TpuEngine:
    """The engine over Cloud TPU in the configured project."""
    google = site.google
    assert google is not None, "this engine rents from Google"
    return TpuEngine(
        Tpu(google.session(), google.project()),
        catalog=google.catalog(),
        marks=Marks("tpu", clock=site.world.clock, open_folder=site.world.open_folder),
        agent_url=google.agent_url,
        defaults=google.defaults("tpu"),
    )
