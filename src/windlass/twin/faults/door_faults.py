"""Makes Google behave badly at the door: refusals, losses, delays and lies, by rule.

Must not do anything for the owner's own requests to the twin.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from windlass.twin.admin import PREFIX
from windlass.twin.door import LOST
from windlass.twin.faults.naming import storage_method
from windlass.twin.faults.rules import ON_THE_WAY_IN, FaultRule, FaultRules, Kind
from windlass.twin.faults.stale import OldLists
from windlass.twin.faults.words import refused
from windlass.twin.messages import Body, Request, Response, json_response

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud


class LateFailures(Protocol):
    """A service that has operations, and can let one fail that seemed to go well."""

    def fail_late(
        self, operation: dict[str, Any], *, seconds: float, code: str, message: str
    ) -> dict[str, Any] | None:
        """The operation as it is shown now; None when it is none of this service's."""


class DoorFaults:
    """Implements door.Faults."""

    def __init__(self, cloud: Cloud, rules: FaultRules) -> None:
        self._cloud = cloud
        self._rules = rules
        self._lists = OldLists()
        self.services: list[LateFailures] = []

    def before(self, request: Request, *, method: str) -> Request | Response:
        """See door.Faults."""
        if not self._rules or request.path.startswith(PREFIX):
            return request
        method = method or storage_method(request)
        with self._cloud.lock:
            striking = self._rules.striking(method, ON_THE_WAY_IN)
            self._cloud.commit()
        for rule in striking:
            self._wait(rule.latency_s)
            if rule.kind is Kind.LOST_REQUEST:
                return LOST
            if rule.kind is Kind.ERROR:
                return self._refused(rule, method)
            if rule.kind is Kind.CUT_UPLOAD:
                request = replace(request, body=CutBody(request.body, rule.after_bytes))
        return request

    def after(self, request: Request, response: Response, *, method: str) -> Response:
        """See door.Faults."""
        if not self._rules or request.path.startswith(PREFIX):
            return response
        method = method or storage_method(request)
        with self._cloud.lock:
            striking = self._rules.striking(method, frozenset(Kind) - ON_THE_WAY_IN)
            for rule in striking:
                response = self._changed(rule, request, response)
            self._cloud.commit()
        self._wait(sum(rule.latency_s for rule in striking))
        return response

    def _changed(self, rule: FaultRule, request: Request, response: Response) -> Response:
        if rule.kind is Kind.LOST_REPLY:
            return LOST
        if rule.kind is Kind.STALE_LIST:
            place = f"{request.path}?{request.query}"
            now = self._cloud.clock.now()
            return self._lists.aged(place, response, now=now, behind_s=rule.behind_s)
        return self._failing_late(rule, response)

    def _failing_late(self, rule: FaultRule, response: Response) -> Response:
        if response.status != 200 or not isinstance(response.content, bytes):
            return response
        operation = json.loads(response.content)
        message = rule.message or (
            f"Internal error. Please try again or contact Google Support. (Code: '{rule.code}')"
        )
        for service in self.services:
            shown = service.fail_late(
                operation, seconds=rule.after_s, code=rule.code, message=message
            )
            if shown is not None:
                return json_response(shown)
        return response

    def _refused(self, rule: FaultRule, method: str) -> Response:
        return refused(
            rule.status,
            api=method.partition(".")[0],
            project_number=self._cloud.settings.project_number,
            retry_after_s=rule.retry_after_s,
            message=rule.message,
        )

    def _wait(self, seconds: float) -> None:
        clock = self._cloud.clock
        until = clock.now() + seconds
        while (before := clock.now()) < until:
            self._cloud.waiting.until(until)
            if clock.now() <= before:
                return  # Nobody lets time pass here.


class CutBody:
    """A body whose connection breaks after so many bytes."""

    def __init__(self, body: Body, after_bytes: int) -> None:
        self._body = body
        self._left = after_bytes

    def read(self, size: int = -1) -> bytes:
        """See messages.Body."""
        if self._left <= 0:
            raise ConnectionResetError("the twin cut this upload")
        piece = self._body.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(piece)
        return piece
