"""The way from a controller and from machines to the twin: requests and answers get lost on it.

Must not change what an answer says, but for a list, which may be as old as an engine says it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import httpx

from windlass.simulation.luck import Luck
from windlass.simulation.provider import Caller
from windlass.simulation.timeline import Timeline
from windlass.twin.door import Door
from windlass.twin.faults.words import refused
from windlass.twin.messages import Bytes, Request, Response

STALE_S = 10.0
"""As the engines say of themselves."""
TIMEOUT_S = 30.0
PROJECT_NUMBER = "415926535897"
WRITES = frozenset({"POST", "DELETE", "PATCH", "PUT"})


class Seen(NamedTuple):
    """An answer that was true once."""

    at: float
    response: Response


class Wire:
    """What everybody's requests pass through."""

    def __init__(
        self, timeline: Timeline, luck: Luck, *, door: Door, arm: Callable[[], None]
    ) -> None:
        self._timeline = timeline
        self._luck = luck
        self._door = door
        self._arm = arm
        self._seen: dict[str, deque[Seen]] = {}
        self._down_until = float("-inf")

    @property
    def is_down(self) -> bool:
        """Whether Google answers nobody."""
        return self._timeline.monotonic() < self._down_until

    def fail_for(self, seconds: float) -> None:
        """Google's APIs are down for so long; its machines go on."""
        self._down_until = self._timeline.monotonic() + seconds

    def ask(self, request: Request) -> Response:
        """What the twin says; nothing is lost."""
        response = self._door.answer(request)
        self._arm()
        return response

    def listed(self, request: Request) -> Response:
        """What it says now, or to the same question a little while ago."""
        at = self._timeline.monotonic()
        response = self.ask(request)
        if response.status != 200:
            return response
        known = self._seen.setdefault(f"{request.host}{request.path}?{request.query}", deque())
        while known and known[0].at < at - STALE_S:
            known.popleft()
        known.append(Seen(at, response))
        if len(known) > 1 and self._luck.strikes("stale-list", 0.2):
            return known[self._luck.whole(0, len(known) - 1)].response
        return response


class Line:
    """One controller's: it may die before or after each call, and time passes while it waits.

    Stands in for httpx.Client, of which a session uses nothing but `request`: what the real one
    does besides takes longer than the whole twin.
    """

    def __init__(self, wire: Wire, luck: Luck, *, caller: Caller) -> None:
        self._wire = wire
        self._luck = luck
        self._caller = caller

    def request(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None,
        params: Mapping[str, str],
        headers: Mapping[str, str],
        timeout: httpx.Timeout,
    ) -> httpx.Response:
        """See httpx.Client."""
        luck, is_write = self._luck, method in WRITES
        parts = urlsplit(url)
        asked = Request(
            method=method,
            host=parts.netloc,
            path=parts.path,
            query=urlencode(params),
            headers={name.lower(): value for name, value in headers.items()},
            body=Bytes(content or b""),
        )
        if is_write:
            self._caller.hazard("before-call")
        if luck.strikes("lost-request", 0.04):
            raise httpx.ConnectError("no route to host")
        response = self._answer(asked, is_write=is_write)
        if luck.strikes("lost-reply", 0.04):
            self._caller.wait(TIMEOUT_S)
            raise httpx.ReadTimeout("no answer")
        if is_write:
            self._caller.hazard("after-call")
        assert isinstance(response.content, bytes)
        return httpx.Response(
            response.status, headers=list(response.headers), content=response.content
        )

    def _answer(self, request: Request, *, is_write: bool) -> Response:
        if self._wire.is_down or self._luck.strikes("refused-call", 0.04):
            return _refused(request, self._luck.whole(0, 2))
        if is_write or not _is_list(request):
            return self._wire.ask(request)
        return self._wire.listed(request)


def _is_list(request: Request) -> bool:
    """Whether it asks for what there is, rather than for one thing."""
    last = request.path.rpartition("/")[2]
    return "/aggregated/" in request.path or last in (
        "instances",
        "queuedResources",
        "nodes",
        "customJobs",
    )


def _refused(request: Request, kind: int) -> Response:
    api = request.host.partition(".")[0].rpartition("-")[2]
    return refused((429, 500, 503)[kind], api=api, project_number=PROJECT_NUMBER)
