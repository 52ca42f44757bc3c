"""A twin of Google on simulated time: it answers, its agenda goes on, its machines are simulated.

Must not hold faults: the provider lets them happen.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import replace
from email.message import Message
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from windlass.ports.entropy import seeded
from windlass.simulation.disk import BUCKET, split_url
from windlass.simulation.provider import Ground
from windlass.simulation.twinned.host import Surroundings
from windlass.simulation.twinned.hosts import Hosts
from windlass.simulation.twinned.offers import catalog
from windlass.simulation.twinned.wire import Wire
from windlass.twin.assembly import Parts, Twin, build
from windlass.twin.billing import Billing
from windlass.twin.cloud import Cloud
from windlass.twin.market import Wanted
from windlass.twin.messages import Bytes, Request, Response
from windlass.twin.settings import Delays, Settings

TOKEN = "token-of-the-simulation"
AGENT_URL = f"gs://{BUCKET}/agent.pyz"
STORAGE = "storage.googleapis.com"
SOON_S = 1e-3


class Answer(NamedTuple):
    """Implements host.Told."""

    status: int
    headers: Any
    content: bytes

    def read(self) -> bytes:
        """The body."""
        return self.content


class Charged(NamedTuple):
    """What a machine has run for."""

    wanted: Wanted
    seconds: float
    labels: Mapping[str, str]
    is_managed: bool


class NoKeys:
    """Implements accounts.Rsa: nobody here has keys of a service account."""

    def new_key(self) -> tuple[str, str]:
        """See accounts.Rsa."""
        raise AssertionError("nobody asks for keys here")

    def is_signed(self, public_pem: str, *, message: bytes, signature: bytes) -> bool:
        """See accounts.Rsa."""
        return False


class SimulatedCloud:
    """The twin, whatever drives it, and the buckets beside it."""

    def __init__(self, ground: Ground, *, delays: Delays, hosts: Hosts) -> None:
        self._timeline = timeline = ground.timeline
        self._luck = luck = ground.luck
        self._disk = ground.disk
        self._armed_for = float("inf")
        settings = replace(Settings(), delays=delays, live=10_000)
        chance = seeded(luck.whole(0, 1 << 30))
        self._cloud = Cloud(clock=timeline, chance=chance, settings=settings)
        parts = Parts(token=TOKEN, rsa=NoKeys(), bodies=hosts)
        self.twin: Twin = build(self._cloud, catalog=catalog(), parts=parts)
        self.charged: list[Charged] = []
        """Everything that the twin has put on its bill: it does not keep which claim it is for."""
        self._overhear(self.twin.billing)
        self.wire = Wire(timeline, luck, door=self.twin.door, arm=self.arm)
        hosts.around = Surroundings(
            timeline=timeline,
            metadata=self._metadata,
            internet=self._internet,
            disk=ground.disk,
            enlist=hosts.enlist,
            on_exit=self._exited,
        )

    def _overhear(self, billing: Billing) -> None:
        charge = billing.charge

        def overheard(
            wanted: Wanted, *, seconds: float, labels: Mapping[str, str], is_managed: bool = False
        ) -> None:
            self.charged.append(Charged(wanted, seconds, labels, is_managed))
            charge(wanted, seconds=seconds, labels=labels, is_managed=is_managed)

        billing.charge = overheard  # type: ignore[method-assign]  # Nothing else hears of it.

    # ---- time ------------------------------------------------------------------------------

    def arm(self) -> None:
        """See to it that the twin is woken when something is due."""
        due = self._cloud.next_at()
        if due is None or due >= self._armed_for:
            return
        self._armed_for = due
        wait_s = max(due - self._timeline.now(), SOON_S)
        self._timeline.after(wait_s, lambda: self._tick(due))

    def change(self, act: Callable[[], object]) -> None:
        """Let something befall the twin."""
        act()
        self.arm()

    def _tick(self, due: float) -> None:
        if due == self._armed_for:
            self._armed_for = float("inf")
            self._cloud.advance()
            self.arm()

    def _exited(self, machine_id: str) -> None:
        self._timeline.after(0.0, self._poll)

    def _poll(self) -> None:
        self.twin.poll()
        self.arm()

    # ---- what machines ask -----------------------------------------------------------------

    def _metadata(self, machine_id: str, request: urllib.request.Request) -> Answer:
        found = self.twin.metadata.answer(machine_id, _as_twin_sees(request))
        self.arm()
        return _answer(found)

    def _internet(self, machine_id: str, request: urllib.request.Request) -> Answer:
        if self._luck.strikes("machine-call-lost", 0.1):
            raise OSError("no route to host")
        asked = _as_twin_sees(request)
        if asked.host == STORAGE:
            return self._stored(asked)
        answer = _answer(self.wire.ask(asked))
        if self._luck.strikes("machine-reply-lost", 0.1):
            raise OSError("no answer")
        return answer

    def _stored(self, request: Request) -> Answer:
        """An object of the bucket."""
        bucket, _, name = request.path.removeprefix("/storage/v1/b/").partition("/o/")
        url = f"gs://{bucket}/{unquote(name)}"
        if url == AGENT_URL:
            return Answer(200, Message(), b"the agent")
        folder, name = split_url(url)
        content = self._disk(folder).objects.get(name)
        if content is None:
            return Answer(404, Message(), b"")
        is_content = request.queries().get("alt") == "media"
        return Answer(200, Message(), content if is_content else json.dumps({}).encode())


def _as_twin_sees(request: urllib.request.Request) -> Request:
    parts = urlsplit(request.full_url)
    return Request(
        method=request.get_method(),
        host=parts.hostname or "",
        path=parts.path,
        query=parts.query,
        headers={name.lower(): value for name, value in request.header_items()},
        body=Bytes(request.data if isinstance(request.data, bytes) else b""),
    )


def _answer(response: Response) -> Answer:
    headers = Message()
    for name, value in response.headers:
        headers[name] = value
    assert isinstance(response.content, bytes)
    return Answer(response.status, headers, response.content)
