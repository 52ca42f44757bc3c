"""Benches of the engines that rent from Google: over a real twin, whose machines really run.

Must not outlive the tests: `stop_twin` is called at the end of the session.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from conformance.engines import Bench
from windlass.agent.bucket import BucketFolder
from windlass.agent.pack import build
from windlass.agent.storage import Ask, Storage
from windlass.catalog.load import load_catalog
from windlass.engines.base import ClaimRequest, Engine
from windlass.engines.site import EngineSite, GoogleSite
from windlass.google.credentials import FixedBearer
from windlass.google.session import Session
from windlass.ports.world import World
from windlass.twin.server import control
from windlass.twin.server.home import TwinHome
from windlass.twin.server.variables import variables

BUCKET = "windlass-runs"
PROJECT = "twin-project"


class SessionTwin:
    """One twin for all tests of a process; each test has run folders of its own."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="windlass-twin-"))
        self.home = TwinHome(self.folder / "twin")
        control.start(self.home, control.Wish(live=32), environment=os.environ)
        running = self.home.running()
        assert running is not None
        found = variables(self.home, running, mode="proxy", caller=os.environ)
        self._before = {name: os.environ.get(name) for name in ("HTTPS_PROXY", "SSL_CERT_FILE")}
        for name in self._before:
            os.environ[name] = str(found[name])
        self.token = self.home.token()
        self.client = httpx.Client()
        self.storage = Storage(lambda _: self.token)
        self._make_bucket()
        self.agent_url = f"gs://{BUCKET}/agents/agent.pyz"
        agent = build(self.folder / "agent")
        self.open_folder(f"gs://{BUCKET}/agents").write("agent.pyz", agent.read_bytes())

    def open_folder(self, url: str) -> BucketFolder:
        return BucketFolder(url, storage=self.storage)

    def stop(self) -> None:
        control.stop(self.home)
        self.client.close()
        self.storage.close()
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make_bucket(self) -> None:
        body = json.dumps({"name": BUCKET, "location": "us-central1"}).encode()
        headers = {"Content-Type": "application/json"}
        self.storage.ask(Ask("POST", "/storage/v1/b", {"project": PROJECT}, body, headers))


class GoogleBench(Bench):
    """An engine over the twin, with its run folders in a bucket."""

    def __init__(
        self, make: Callable[[EngineSite], Engine[Any]], home: Path, *, offer: str
    ) -> None:
        self._twin = session_twin()
        self._offer = offer
        self._mark = home.name.replace("_", "-").lower()[-20:]
        super().__init__(make, home)

    def restart(self) -> Engine[Any]:
        """See Bench."""
        world = World(
            clock=self.world.clock,
            entropy=self.world.entropy,
            open_folder=self._twin.open_folder,
        )
        google = GoogleSite(
            project=lambda: PROJECT,
            session=lambda: Session(self._twin.client, FixedBearer(self._twin.token)),
            catalog=load_catalog,
            agent_url=lambda: self._twin.agent_url,
            defaults=lambda _: {},
        )
        site = EngineSite(
            home=self.home,
            world=world,
            processes=self.processes,
            agent=lambda: self.home / "agent",
            secrets=lambda run: None,
            wake=self.home / "wake",
            google=google,
        )
        self.engine = self._make(site)
        return self.engine

    def claim(self, claim_id: str, command: str, *, nodes: int = 1, **fields: Any) -> ClaimRequest:
        """See Bench."""
        now = self.world.clock.now()
        rented = {"offer": self._offer, "made_at": now, "expires_at": now + 3600, **fields}
        return super().claim(claim_id, command, nodes=nodes, **rented)

    def folder(self, run: str) -> Any:
        return self._twin.open_folder(f"gs://{BUCKET}/{self._mark}/{run}")

    def folder_url(self, run: str) -> str:
        return f"gs://{BUCKET}/{self._mark}/{run}"


_twin: list[SessionTwin] = []


def session_twin() -> SessionTwin:
    """The one twin, started when it is first needed."""
    if not _twin:
        _twin.append(SessionTwin())
    return _twin[0]


def stop_twin() -> None:
    """The tests are over."""
    while _twin:
        _twin.pop().stop()
