"""What Google's refusals mean to us: the one place where its errors become ours, with a remedy.

Must not retry (session.py does) nor know which engine asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windlass.errors import (
    ApiDisabled,
    CredentialsMissing,
    EngineRejected,
    EngineTransient,
    OutOfStock,
    PermissionMissing,
    PlaceUnfit,
    QuotaExceeded,
    WindlassError,
)

TOO_FEW = "VM_MIN_COUNT_NOT_REACHED"
"""Of a bulk insert; why there are too few is told beside it, or else there is no room."""
STOCKOUT_CODES = (
    TOO_FEW,
    "ZONE_RESOURCE_POOL_EXHAUSTED",
    "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
    "RESOURCE_POOL_EXHAUSTED",
    "STOCKOUT",
    "INSUFFICIENT_CAPACITY",
)
STOCKOUT_WORDS = re.compile(
    r"does not have enough resources|no more capacity|currently unavailable in|"
    r"resources? (?:are|is) insufficient|insufficient (?:capacity|resources)|"
    r"not enough (?:resources|capacity)|stock ?out",
    re.IGNORECASE,
)
PLACE_WORDS = re.compile(
    r"(?:(?:regions|zones|locations)/[a-z0-9-]+/(?:subnetworks|machineTypes|acceleratorTypes)/"
    r"|networks/[a-z0-9-]+-rdma-).*(?:not found|cannot be found)"
    r"|(?:does not exist|not found|not (?:supported|available|offered)) in (?:the )?"
    r"(?:zone|region|location)|constraints/gcp\.resourceLocations",
    re.IGNORECASE | re.DOTALL,
)
"""What is wrong with one place and may be right in others. Resources of the whole project, such as
networks, are wrong everywhere."""
QUOTA_WORDS = re.compile(r"quota[^.]*exceed|exceed[^.]*quota|quota limit", re.IGNORECASE)
PERMISSION = re.compile(r"'([a-z][a-zA-Z]*(?:\.[a-zA-Z]+)+)'")
RATE_WORDS = re.compile(
    r"per (?:minute|second|day|user|\d+ seconds)|too many|\brate\b", re.IGNORECASE
)
RATE_REASONS = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error answer, taken apart."""

    code: int
    message: str
    reason: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    retry_after_s: float | None = None


def parsed(code: int, content: bytes, *, retry_after: str = "") -> Refusal:
    """An error answer of any of Google's APIs, or of something on the way to them."""
    error = _error(content)
    message = str(error.get("message") or content[:300].decode("utf-8", "replace")).strip()
    reason, metadata = _reason(error)
    seconds = float(retry_after) if retry_after.strip().isdecimal() else None
    return Refusal(
        code=code, message=message, reason=reason, metadata=metadata, retry_after_s=seconds
    )


def as_error(refusal: Refusal, *, what: str) -> WindlassError:
    """Ours for Google's. `what` was being done, in plain words."""
    if refusal.code == 401:
        return CredentialsMissing(
            f"Google does not accept the credentials ({what})",
            remedy="Log in again with `gcloud auth application-default login`.",
        )
    if refusal.reason == "SERVICE_DISABLED" or refusal.reason == "accessNotConfigured":
        return _api_disabled(refusal, what)
    if STOCKOUT_WORDS.search(refusal.message):
        return OutOfStock(f"{what}: {refusal.message}")
    if _is_rate(refusal) or refusal.code in (408, 500, 502, 503, 504):
        return EngineTransient(f"{what}: {refusal.message or refusal.code}")
    if refusal.code in (403, 429) and QUOTA_WORDS.search(refusal.message):
        return quota_exceeded(refusal.message, what=what)
    if refusal.code == 429:
        return EngineTransient(f"{what}: {refusal.message}")
    if refusal.code in (400, 404, 412) and PLACE_WORDS.search(refusal.message):
        return place_unfit(refusal.message, what=what)
    if refusal.code == 403:
        return _permission_missing(refusal, what)
    return EngineRejected(f"{what}: {refusal.message}", remedy=_remedy(refusal))


def operation_error(errors: Sequence[Mapping[str, Any]], *, what: str) -> WindlassError:
    """Ours for what an operation of Compute Engine ended with."""
    telling = [error for error in errors if error.get("code") != TOO_FEW] or errors
    first = telling[0] if telling else {}
    code, message = str(first.get("code", "")), str(first.get("message", ""))
    if code in STOCKOUT_CODES or STOCKOUT_WORDS.search(message):
        return OutOfStock(f"{what}: {_localized(first) or message}")
    if code.startswith("QUOTA_EXCEEDED") or QUOTA_WORDS.search(message):
        return quota_exceeded(message, what=what)
    if code in ("RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR", "RESOURCE_OPERATION_RATE_EXCEEDED"):
        return EngineTransient(f"{what}: {message or code}")
    if PLACE_WORDS.search(message):
        return place_unfit(message, what=what)
    return EngineRejected(f"{what}: {message or code}", remedy="Mend the spec and run it again.")


def quota_exceeded(message: str, *, what: str) -> QuotaExceeded:
    """A limit of the project is in the way."""
    return QuotaExceeded(
        f"{what}: {message}",
        remedy="Ask for more at https://console.cloud.google.com/iam-admin/quotas, or allow other "
        "regions in `where.regions`.",
    )


def place_unfit(message: str, *, what: str) -> PlaceUnfit:
    """Something that is needed is not there."""
    return PlaceUnfit(
        f"{what}: {message}",
        remedy="Make it there, such as a subnetwork with `windlass network up --region REGION`, "
        "or leave the place out of `where.regions`.",
    )


def _is_rate(refusal: Refusal) -> bool:
    """Whether calls come too fast. Google gives the same reason when a quota of machines is used
    up, which waiting does not help."""
    is_quota = QUOTA_WORDS.search(refusal.message) and not RATE_WORDS.search(refusal.message)
    return refusal.reason in RATE_REASONS and not is_quota


def _api_disabled(refusal: Refusal, what: str) -> ApiDisabled:
    service = refusal.metadata.get("service", "")
    consumer = refusal.metadata.get("consumer", "").removeprefix("projects/")
    project = f" --project {consumer}" if consumer else ""
    return ApiDisabled(
        f"{what}: {service or 'an API'} is not turned on in the project",
        remedy=f"Turn it on with `gcloud services enable {service or 'SERVICE'}{project}`.",
    )


def _permission_missing(refusal: Refusal, what: str) -> PermissionMissing:
    named = PERMISSION.search(refusal.message)
    permission = refusal.metadata.get("permission") or (named[1] if named else "")
    if not permission:
        return PermissionMissing(
            f"{what}: {refusal.message}",
            remedy="Check `project` in config.yaml, and ask its owner for a role that allows this; "
            "`windlass doctor --on gcp` lists what else is missing.",
        )
    return PermissionMissing(
        f"{what}: the permission {permission} is missing",
        remedy=f"Ask the project's owner for a role with {permission}; `windlass doctor --on gcp` "
        "lists everything that is missing.",
    )


def _remedy(refusal: Refusal) -> str:
    if refusal.code == 404:
        return "Check the names in the spec and in the configuration."
    return "Mend the spec and run it again."


def _error(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {}
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else {"message": error or ""}


def _reason(error: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    for detail in error.get("details") or ():
        if isinstance(detail, dict) and str(detail.get("@type", "")).endswith("ErrorInfo"):
            return str(detail.get("reason", "")), detail.get("metadata") or {}
    for one in error.get("errors") or ():
        if isinstance(one, dict) and one.get("reason"):
            return str(one["reason"]), {}
    return "", {}


def _localized(error: Mapping[str, Any]) -> str:
    for detail in error.get("errorDetails") or ():
        message = (detail.get("localizedMessage") or {}).get("message")
        if message:
            return str(message)
    return ""
