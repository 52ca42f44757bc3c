"""What engines are built from, where nothing is to be asked of anybody.

Must not reach a network.
"""

from __future__ import annotations

from pathlib import Path

import httpx

from windlass.agent.pack import build
from windlass.catalog.load import load_catalog
from windlass.engines.site import EngineSite, GoogleSite
from windlass.google.credentials import FixedBearer
from windlass.google.session import Session
from windlass.ports.process import Processes
from windlass.ports.world import system_world


def make_site(home: Path) -> EngineSite:
    """A site on which every registered engine can be built."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"nobody is to be asked: {request.method} {request.url}")

    client = httpx.Client(transport=httpx.MockTransport(refuse))
    return EngineSite(
        home=home,
        world=system_world(),
        processes=Processes(),
        agent=lambda: build(home / "agent"),
        secrets=lambda run: None,
        wake=home / "wake",
        google=GoogleSite(
            project=lambda: "lab",
            session=lambda: Session(client, FixedBearer("t")),
            catalog=load_catalog,
            agent_url=lambda: "gs://runs/agents/agent.pyz",
            defaults=lambda _: {},
        ),
    )
