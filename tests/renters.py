"""Engines over a twin in this process, whose machines are modelled; answers get lost on demand.

Must not know a test.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from claims import make_claim_request
from doors import TOKEN, House
from houses import client_of
from windlass.agent.folder import DiskFolder
from windlass.catalog.load import load_catalog
from windlass.engines.base import ClaimRequest, Engine, Observation
from windlass.engines.marks import Marks
from windlass.google.credentials import FixedBearer
from windlass.google.session import Session

Make = Callable[[Session, Marks], Engine[Any]]


class Renter:
    """An engine, and the house that it asks."""

    def __init__(self, make: Make, home: Path, *, name: str, offer: str) -> None:
        self.house = House()
        self.asked: list[str] = []
        self.lost: set[str] = set()
        """Methods whose next answer gets lost."""
        self.is_cut = False
        self._inner = client_of(self.house)
        self._home = home
        self._offer = offer
        client = httpx.Client(transport=httpx.MockTransport(self._answer))
        self.session = Session(client, FixedBearer(TOKEN))
        marks = Marks(name, clock=self.house.clock, open_folder=self.folder)
        self.engine = make(self.session, marks)

    def folder(self, url: str) -> DiskFolder:
        return DiskFolder(self._home / url.removeprefix("gs://"))

    def claim(self, claim_id: str = "r-1-0", **fields: Any) -> ClaimRequest:
        now = self.house.clock.now()
        given = {"offer": self._offer, "made_at": now, "expires_at": now + 3600.0, **fields}
        run = claim_id.rsplit("-", 2)[0]
        return make_claim_request(claim_id, folder=f"gs://runs/{run}", **given)

    def submit(self, claim: ClaimRequest) -> Any:
        return self.engine.submit(self.engine.render(claim))

    def look(self, handle: Any) -> Observation:
        return self.engine.observe([handle])[handle]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if self.is_cut:
            raise httpx.ConnectError("the network is down")
        self.asked.append(request.method)
        content = request.read()
        answer = self._inner.request(
            request.method, request.url, content=content, headers=dict(request.headers)
        )
        if request.method in self.lost:
            self.lost.remove(request.method)
            raise httpx.ReadError("the answer was lost")
        return httpx.Response(answer.status_code, content=answer.content)


CATALOG = load_catalog()
