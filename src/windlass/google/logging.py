"""Cloud Logging: what a service has said about a resource.

Must not be asked for what agents write: their logs are in the run's folder.
"""

from __future__ import annotations

from typing import Any

from windlass.google.session import Session

URL = "https://logging.googleapis.com/v2/entries:list"


class Logging:
    """Log entries of one project."""

    def __init__(self, session: Session, project: str) -> None:
        self._session = session
        self._project = project

    def newest(self, where: str, *, most: int) -> list[dict[str, Any]]:
        """The newest entries that match a filter, the oldest of them first."""
        answer = self._session.call(
            "POST",
            URL,
            what="reading logs",
            body={
                "resourceNames": [f"projects/{self._project}"],
                "filter": where,
                "orderBy": "timestamp desc",
                "pageSize": most,
            },
            is_repeatable=True,
        )
        return list(reversed(answer.get("entries", [])))


def text_of(entry: dict[str, Any]) -> str:
    """What an entry says, in plain words."""
    if "textPayload" in entry:
        return str(entry["textPayload"])
    payload = entry.get("jsonPayload") or {}
    return str(payload.get("message", ""))
