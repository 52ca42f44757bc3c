"""The twin's own API, which Google does not have: what state it is in, and faults on demand.

Must not be reachable without the home's own token: other tokens are those of machines and robots.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from windlass.twin.messages import Request, Response, json_response
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

PREFIX = "/twin/v1/"
Act = Callable[[Mapping[str, Any]], dict[str, Any]]


class Admin:
    """Answers under /twin/v1/. Each act has a name and takes a JSON object."""

    def __init__(self, cloud: Cloud, acts: Mapping[str, Act]) -> None:
        self._cloud = cloud
        self._acts = acts

    def handles(self, request: Request) -> bool:
        """See door.Surface."""
        return request.path.startswith(PREFIX)

    def answer(self, request: Request, *, principal: str) -> Response:
        """See door.Surface."""
        try:
            if principal != self._cloud.settings.account:
                raise Refusal(403, "Only the owner of the twin may ask this.")
            return json_response(self._act(request))
        except Refusal as refusal:
            return refusal.response()

    def _act(self, request: Request) -> dict[str, Any]:
        act = self._acts.get(request.path.removeprefix(PREFIX))
        if act is None:
            raise Refusal(404, f"The twin has no {request.path}.")
        raw = request.body.read()
        try:
            given = json.loads(raw) if raw.strip() else {}
        except ValueError as exc:
            raise Refusal(400, "The body is not JSON.", reason="parseError") from exc
        if not isinstance(given, dict):
            raise Refusal(400, "The body is no JSON object.", reason="parseError")
        with self._cloud.lock:
            try:
                self._cloud.advance()
                return act(given)
            finally:
                self._cloud.commit()
