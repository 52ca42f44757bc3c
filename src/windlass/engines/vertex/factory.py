"""Builds the vertex engine for a project.

Must not hold logic.
"""

from __future__ import annotations

from windlass.engines.marks import Marks
from windlass.engines.site import EngineSite
from windlass.engines.vertex.engine import VertexEngine
from windlass.google.logging import Logging
from windlass.google.vertex import Vertex


def build(site: EngineSite) -> VertexEngine:
    """The engine over Vertex AI in the configured project."""
    google = site.google
    assert google is not None, "this engine rents from Google"
    session, project = google.session(), google.project()
    return VertexEngine(
        Vertex(session, project),
        logs=Logging(session, project),
        catalog=google.catalog(),
        marks=Marks("vertex", clock=site.world.clock, open_folder=site.world.open_folder),
        agent_url=google.agent_url,
        defaults=google.defaults("vertex"),
    )
