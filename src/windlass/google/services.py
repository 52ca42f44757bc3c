"""Service Usage: which of Google's APIs a project has turned on.

Must not turn any on.
"""

from __future__ import annotations

from collections.abc import Iterable

from windlass.google.session import Session

BASE = "https://serviceusage.googleapis.com/v1"


class Services:
    """The APIs of one project."""

    def __init__(self, session: Session, project: str) -> None:
        self._session = session
        self._project = project

    def enabled(self) -> frozenset[str]:
        """The names of those that are on, such as `compute.googleapis.com`."""
        url = f"{BASE}/projects/{self._project}/services"
        query = {"filter": "state:ENABLED", "pageSize": "200"}
        pages = self._session.pages(url, what="listing the APIs of the project", query=query)
        return frozenset(_names(page.get("services", ()) for page in pages))


def _names(pages: Iterable[Iterable[dict[str, object]]]) -> Iterable[str]:
    for services in pages:
        for service in services:
            yield str(service.get("name", "")).rpartition("/")[2]
