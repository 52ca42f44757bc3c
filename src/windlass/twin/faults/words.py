"""What Google says when it is not well: the bodies of rate limits, outages and the like.

Must not decide who hears them. Where the words come from is in docs/concepts/twin-errors.md.
"""

from __future__ import annotations

import math
from typing import Any

from windlass.twin.messages import Response
from windlass.twin.refusals import Refusal, error_info

MESSAGES = {
    400: "Request contains an invalid argument.",
    401: "Request had invalid authentication credentials. Expected OAuth 2 access token, login "
    "cookie or other valid authentication credential.",
    403: "The caller does not have permission",
    404: "Requested entity was not found.",
    408: "Request timed out.",
    409: "The operation was aborted.",
    412: "At least one of the pre-conditions you specified did not hold.",
    500: "Internal error encountered.",
    502: "Bad Gateway",
    503: "The service is currently unavailable.",
    504: "Deadline expired before operation could complete.",
}
STORAGE_MESSAGES = {
    429: "The rate of change requests to the object exceeds the rate limit. Please reduce the rate "
    "of create, update, and delete requests.",
    500: "We encountered an internal error. Please try again.",
    503: "We encountered an internal error. Please try again.",
}


def refused(
    status: int,
    *,
    api: str,
    project_number: str,
    retry_after_s: float | None = None,
    message: str = "",
) -> Response:
    """An answer with that status, in the words of that API."""
    headers = []
    if retry_after_s is not None:
        headers.append(("Retry-After", str(math.ceil(retry_after_s))))
    if api == "storage":
        words = message or STORAGE_MESSAGES.get(status, MESSAGES.get(status, "Error"))
        return Refusal(status, words, headers=headers).response(with_status=False)
    if status != 429:
        words = message or MESSAGES.get(status, "Error")
        return Refusal(status, words, headers=headers).response()
    service = f"{api}.googleapis.com"
    words = message or (
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service "
        f"'{service}' for consumer 'project_number:{project_number}'."
    )
    return Refusal(
        429, words, headers=headers, details=[_limit(service, project_number)]
    ).response()


def _limit(service: str, project_number: str) -> dict[str, Any]:
    return error_info(
        "RATE_LIMIT_EXCEEDED",
        "googleapis.com",
        consumer=f"projects/{project_number}",
        service=service,
        quota_metric=f"{service}/default",
        quota_limit="defaultPerMinutePerProject",
        quota_location="global",
    )
