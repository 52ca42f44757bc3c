"""Names of secrets and versions, and the words in which Secret Manager refuses.

Must not know what exists.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.call import Call

ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
LATEST = "latest"


def parent_of(call: Call) -> str:
    """The project or location that secrets are made in; named by the project's number."""
    return _numbered(call, call.params["parent"])


def secret_of(call: Call) -> str:
    """The secret that a call is about, or that its version belongs to."""
    given = next(call.params[key] for key in ("name", "parent", "resource") if key in call.params)
    return _numbered(call, given).partition("/versions/")[0]


def version_of(call: Call) -> str:
    """The version that a call names: a number, `latest` or another alias."""
    return call.params["name"].rpartition("/")[2]


def _numbered(call: Call, name: str) -> str:
    settings = call.cloud.settings
    _, project, *rest = name.split("/")
    if project not in (settings.project, settings.project_number):
        message = f"Permission denied on resource project {project}."
        raise Refusal(403, message, reason="CONSUMER_INVALID")
    return "/".join(["projects", settings.project_number, *rest])


def check_id(secret_id: str) -> None:
    """Google's rule for ids."""
    if not ID.fullmatch(secret_id):
        message = (
            "The provided Secret ID does not match the expected format "
            f"[{ID.pattern}]: {secret_id!r}."
        )
        raise Refusal(400, message)


def no_secret(name: str) -> Refusal:
    """There is no such secret."""
    return Refusal(404, f"Secret [{name}] not found.")


def no_version(name: str, version: str) -> Refusal:
    """There is no such version."""
    if version == LATEST:
        return Refusal(404, f"Secret [{name}] not found or has no versions.")
    return Refusal(404, f"Secret Version [{name}/versions/{version}] not found.")


def already_exists(name: str) -> Refusal:
    """There is one of that name."""
    return Refusal(409, f"Secret [{name}] already exists.")


def wrong_state(name: str, state: str) -> Refusal:
    """A version cannot be used or changed as it is."""
    message = f"Secret Version [{name}] is in {state} state."
    return Refusal(400, message, status="FAILED_PRECONDITION", reason="failedPrecondition")


def wrong_etag(given: str, present: str) -> Refusal:
    """Somebody else changed it meanwhile."""
    message = f"The etag provided ({given}) does not match the current etag ({present})."
    return Refusal(400, message, status="FAILED_PRECONDITION", reason="failedPrecondition")
