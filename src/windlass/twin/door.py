"""The door: every request comes in here, and leaves as Google would have answered it.

Must not know what a service does: it says who asks, which method that is, whether the body is one
that Google would take, and hands the call on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from windlass.twin.batch import answer_batch, is_batch
from windlass.twin.call import Call, Route
from windlass.twin.discovery.check import Finding, check, check_params, check_query
from windlass.twin.discovery.enums import enum_names, enum_numbers, plain_numbers
from windlass.twin.discovery.fields import select
from windlass.twin.discovery.names import field_names
from windlass.twin.messages import Request, Response, json_response
from windlass.twin.refusals import Refusal
from windlass.twin.tokens import Tokens, bearer, unauthenticated
from windlass.twin.watching import Overheard

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.discovery.model import Found
    from windlass.twin.discovery.router import Router

MOST_BODY = 32 << 20
LOST = Response(status=0)
"""An answer that never arrives: the server hangs up."""


class Surface(Protocol):
    """A part of Google that discovery documents do not describe: uploads, XML, OAuth."""

    def handles(self, request: Request) -> bool:
        """Whether a request is for it."""

    def answer(self, request: Request, *, principal: str) -> Response:
        """What it says. `principal` is empty for a stranger, if the surface lets them in."""


class Guard(Protocol):
    """Decides whether a call may be made: is the API on, may the caller."""

    def check(self, call: Call, route: Route) -> None:
        """Raise a Refusal when it may not."""


class Faults(Protocol):
    """Makes Google behave badly."""

    def before(self, request: Request, *, method: str) -> Request | Response:
        """The request as it arrives, or an answer instead of the true one. `method` is empty for
        a surface's."""

    def after(self, request: Request, response: Response, *, method: str) -> Response:
        """The answer as the client gets it; it may be LOST."""


Watcher = Callable[[Request, Any, Response, str], None]
"""Is shown each request, its body, the answer and the method's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What is behind the door."""

    routes: Mapping[str, Route]
    guard: Guard
    surfaces: Sequence[Surface] = ()
    open_surfaces: Sequence[Surface] = ()
    """Those that see to it themselves who asks, such as the one that hands out tokens."""


class Door:
    """Answers requests."""

    def __init__(
        self,
        cloud: Cloud,
        *,
        router: Router,
        tokens: Tokens,
        services: Services,
        faults: Faults | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self._cloud = cloud
        self._router = router
        self._tokens = tokens
        self._guard = services.guard
        self._routes = services.routes
        self._surfaces = services.surfaces
        self._open_surfaces = services.open_surfaces
        self._faults = faults
        self._watcher = watcher
        self.served = 0

    def answer(self, request: Request) -> Response:
        """What Google would say."""
        self.served += 1
        for surface in self._open_surfaces:
            if surface.handles(request):
                return surface.answer(request, principal="")
        try:
            principal = self._principal(request)
            if is_batch(request):
                return answer_batch(request, self.answer)
        except Refusal as refusal:
            return refusal.response()
        for surface in self._surfaces:
            if surface.handles(request):
                answer = partial(surface.answer, principal=principal)
                return self._watched(request, partial(self._with_faults, answer=answer, method=""))
        return self._call(request, principal=principal)

    def _principal(self, request: Request) -> str:
        token = bearer(request.headers.get("authorization", ""))
        token = token or request.queries().get("access_token")
        principal = self._tokens.principal(token) if token else None
        if principal is None:
            raise unauthenticated()
        return principal

    def _call(self, request: Request, *, principal: str) -> Response:
        found = self._router.find(request.host, request.method, request.path)
        if found.match is None:
            return self._unknown(request)
        body: Any = None

        def carry_out(arrived: Request) -> Response:
            nonlocal body
            try:
                body = _json_body(arrived)
                return self._carry_out(arrived, found, body=body, principal=principal)
            except Refusal as refusal:
                # Compute Engine's own errors have no status; those of the front end before it do.
                is_plain = found.api.name == "compute" and not refusal.details
                return refusal.response(with_status=not is_plain)

        response = self._with_faults(request, carry_out, method=found.match.method.id)
        if self._watcher is not None:
            self._watcher(request, body, response, found.match.method.id)
        return response

    def _unknown(self, request: Request) -> Response:
        response = _no_such_path(request).response()
        if self._watcher is not None:
            self._watcher(request, None, response, "")
        return response

    def _watched(self, request: Request, answer: Callable[[Request], Response]) -> Response:
        """Show a watcher what a surface is asked; its bodies are too long to be read first."""
        if self._watcher is None:
            return answer(request)
        body = Overheard(request.body)
        response = answer(replace(request, body=body))
        match = self._router.find(request.host, request.method, request.path).match
        document = body.document(request.headers.get("content-type", ""))
        self._watcher(request, document, response, match.method.id if match else "")
        return response

    def _with_faults(
        self, request: Request, answer: Callable[[Request], Response], *, method: str
    ) -> Response:
        if self._faults is None:
            return answer(request)
        arrived = self._faults.before(request, method=method)
        if isinstance(arrived, Response):
            return arrived
        return self._faults.after(request, answer(arrived), method=method)

    def _carry_out(self, request: Request, found: Found, *, body: Any, principal: str) -> Response:
        assert found.match is not None
        method = found.match.method
        query = request.queries()
        _refuse_findings([*check_params(found.match), *check_query(method, query)])
        if method.request is not None and body is not None:
            body = field_names(found.api, method.request, body)
            body = enum_names(found.api, method.request, body)
            _refuse_findings(check(found.api, method.request, body))
            body = plain_numbers(found.api, method.request, body)
        call = Call(
            cloud=self._cloud,
            method=method,
            params=found.match.params,
            query=query,
            body=body if isinstance(body, dict) else {},
            request=request,
            principal=principal,
        )
        route = self._routes.get(method.id)
        if route is None:
            raise Refusal(501, f"The twin does not model {method.id}.", reason="notImplemented")
        return self._run(route, call, found)

    def _run(self, route: Route, call: Call, found: Found) -> Response:
        if not route.is_locked:
            self._guarded(route, call)
            return self._rendered(route.handler(call), found, query=call.query)
        with self._cloud.lock:
            try:
                self._cloud.advance()
                self._guard.check(call, route)
                # Answers are records as they stand: the next call may change them.
                return self._rendered(route.handler(call), found, query=call.query)
            finally:
                self._cloud.commit()

    def _guarded(self, route: Route, call: Call) -> None:
        with self._cloud.lock:
            self._guard.check(call, route)

    def _rendered(
        self, answer: dict[str, Any] | Response, found: Found, *, query: Mapping[str, str]
    ) -> Response:
        if isinstance(answer, Response):
            return answer
        assert found.match is not None
        schema = found.match.method.response
        if schema is not None and "enum-encoding=int" in query.get("$alt", query.get("alt", "")):
            answer = enum_numbers(found.api, schema, answer)
        if "fields" in query:
            answer = select(query["fields"], answer)
        return json_response(answer)


def _json_body(request: Request) -> Any:
    raw = request.body.read(MOST_BODY + 1)
    if len(raw) > MOST_BODY:
        raise Refusal(413, "Request payload size exceeds the limit.", reason="uploadTooLarge")
    if not raw.strip():
        return None
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as exc:
        message = "Invalid JSON payload received. Parser error: the body is not JSON."
        raise Refusal(400, message, reason="parseError") from exc


def _refuse_findings(findings: Sequence[Finding]) -> None:
    """All that is wrong with a body, in Google's words."""
    if not findings:
        return
    violations = [
        {"field": finding.path.removeprefix("$."), "description": finding.description}
        for finding in findings
    ]
    lines = [finding.description for finding in findings]
    detail = {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": violations,
    }
    raise Refusal(400, "\n".join(lines), reason="invalid", details=[detail])


def _no_such_path(request: Request) -> Refusal:
    return Refusal(404, f"The requested URL {request.path} was not found on this server.")
