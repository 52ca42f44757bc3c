"""Google's refusals: the bodies that its APIs answer when they say no.

Must not know which service asks: the words of a service's own errors are in that service.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from windlass.twin.messages import Response, json_response

STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    412: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
REASONS = {
    400: "badRequest",
    401: "authError",
    403: "forbidden",
    404: "notFound",
    409: "alreadyExists",
    412: "conditionNotMet",
    429: "rateLimitExceeded",
    500: "backendError",
    501: "notImplemented",
    503: "backendError",
}


class Refusal(Exception):
    """A request that is answered with an error. Services raise it; the door renders it."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str = "",
        status: str = "",
        details: Sequence[dict[str, Any]] = (),
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason or REASONS.get(code, "badRequest")
        self.status = status or STATUSES.get(code, "UNKNOWN")
        self.details = tuple(details)
        self.headers = tuple(headers)
        self.location = ""
        """What is to blame: a header, or in Cloud Storage a parameter."""

    def blaming(self, location: str) -> Self:
        """The same, with what is to blame."""
        self.location = location
        return self

    def body(self, *, with_status: bool = True) -> dict[str, Any]:
        """As JSON. Cloud Storage's has no `status`, and its clients print it differently then."""
        error: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "errors": [{"message": self.message, "domain": "global", "reason": self.reason}],
        }
        if self.location:
            error["errors"][0] |= {"location": self.location, "locationType": "header"}
        if with_status:
            error["status"] = self.status
        if self.details:
            error["details"] = list(self.details)
        return {"error": error}

    def response(self, *, with_status: bool = True) -> Response:
        """As an answer."""
        plain = json_response(self.body(with_status=with_status), status=self.code)
        return Response(
            status=plain.status, headers=(*plain.headers, *self.headers), content=plain.content
        )


def error_info(reason: str, domain: str, **metadata: str) -> dict[str, Any]:
    """The machine-readable detail that Google adds to an error."""
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": domain,
        "metadata": metadata,
    }
