"""Calls to Google's APIs: authorised, as JSON, tried again where that is safe.

Must not sleep, nor know any API: a call that should be tried later says so by its error, and the
controller waits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from windlass.errors import (
    EngineAmbiguous,
    EngineRejected,
    EngineTransient,
    PlaceUnfit,
    WindlassError,
)
from windlass.google.refusals import Refusal, as_error, parsed

if TYPE_CHECKING:
    from windlass.google.credentials import Bearer

TIMEOUT = httpx.Timeout(30.0, connect=10.0)
SAFE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
"""Doing these twice is doing them once."""
PASSING = frozenset({500, 502, 503, 504})
"""Most of these are gone when one asks again; who asks too much (429) should not do so at once."""
USER_AGENT = "windlass"


class Missing(EngineRejected):
    """There is no such resource. Whoever asks knows whether that is an error."""


class Taken(EngineRejected):
    """There is one of that name already."""


class Unmet(EngineRejected):
    """A precondition did not hold."""


SAID_OTHERWISE = {404: Missing, 409: Taken, 412: Unmet}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request before it is authorised."""

    method: str
    url: str
    content: bytes | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


class Session:
    """Speaks to Google on behalf of one caller."""

    def __init__(self, client: httpx.Client, bearer: Bearer) -> None:
        self._client = client
        self._bearer = bearer

    @property
    def member(self) -> str:
        """Whoever calls, as policies name them."""
        return self._bearer.member

    def get(self, url: str, *, what: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Read something. Missing when it is not there."""
        return self.call("GET", url, what=what, query=query)

    def pages(
        self, url: str, *, what: str, query: Mapping[str, str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Every page of a list."""
        token = ""
        while True:
            more = {"pageToken": token} if token else {}
            page = self.get(url, what=what, query={**(query or {}), **more})
            yield page
            token = str(page.get("nextPageToken") or "")
            if not token:
                return

    def call(
        self,
        method: str,
        url: str,
        *,
        what: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        is_repeatable: bool | None = None,
    ) -> dict[str, Any]:
        """One call; its JSON answer. `is_repeatable` says whether doing it twice does no harm,
        which a request id makes true of an insert."""
        safe = method in SAFE if is_repeatable is None else is_repeatable
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if content is not None else {}
        ask = Ask(method=method, url=url, content=content, query=query or {}, headers=headers)
        answer = self.send(ask, what=what, is_safe=safe)
        if answer.is_error:
            raise error_of(answer, what=what, is_look=method != "POST")
        return dict(answer.json()) if answer.content.strip() else {}

    def send(self, ask: Ask, *, what: str, is_safe: bool) -> httpx.Response:
        """One request; the answer, whatever it says. What was lost, or what Google could not do at
        that moment, is tried once more where that is safe, and a token that is refused is renewed
        once."""
        try:
            answer = self._once(ask)
        except httpx.ConnectError as exc:
            raise EngineTransient(f"{what}: Google cannot be reached ({exc})") from exc
        except httpx.HTTPError as exc:
            if not is_safe:
                raise EngineAmbiguous(f"{what}: the answer was lost ({exc})") from exc
            answer = self._again(ask, what=what)
        if is_safe and answer.status_code in PASSING:
            answer = self._again(ask, what=what)
        if answer.status_code == 401:
            answer = self._again(ask, what=what, anew=True)
        return answer

    def _again(self, ask: Ask, *, what: str, anew: bool = False) -> httpx.Response:
        try:
            return self._once(ask, anew=anew)
        except httpx.HTTPError as exc:
            raise EngineTransient(f"{what}: Google cannot be reached ({exc})") from exc

    def _once(self, ask: Ask, *, anew: bool = False) -> httpx.Response:
        headers = {
            "User-Agent": USER_AGENT,
            **ask.headers,
            "Authorization": f"Bearer {self._bearer.token(anew=anew)}",
        }
        if self._bearer.quota_project:
            headers["X-Goog-User-Project"] = self._bearer.quota_project
        return self._client.request(
            ask.method,
            ask.url,
            content=ask.content,
            params=dict(ask.query),
            headers=headers,
            timeout=TIMEOUT,
        )


def error_of(answer: httpx.Response, *, what: str, is_look: bool = True) -> WindlassError:
    """What an answer that says no means. Who looks for something learns that it is not there; who
    asks for something, that the place will not do for it."""
    refusal = _refusal(answer)
    error = as_error(refusal, what=what)
    kind = SAID_OTHERWISE.get(refusal.code)
    is_plain = isinstance(error, EngineRejected) or (is_look and isinstance(error, PlaceUnfit))
    if kind is None or not is_plain:
        return error
    return kind(error.message, remedy=error.remedy)


def _refusal(answer: httpx.Response) -> Refusal:
    return parsed(
        answer.status_code, answer.content, retry_after=answer.headers.get("retry-after", "")
    )
