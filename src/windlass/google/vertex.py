"""Vertex AI's custom training: the calls that engines and reaping need, and nothing else.

Must not decide anything. Vertex AI knows no request ids: whoever creates looks first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windlass.google.session import Missing, Session

PAGE = "100"


class Vertex:
    """Vertex AI of one project."""

    def __init__(self, session: Session, project: str) -> None:
        self.session = session
        self.project = project

    def create(self, region: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for a training; what was made. EngineAmbiguous when the answer was lost."""
        what = f"asking Vertex AI for machines in {region}"
        return self.session.call("POST", self._url(region), what=what, body=body)

    def listed(self, region: str, *, where: str) -> Iterator[dict[str, Any]]:
        """Trainings of a region that match a filter, the newest first."""
        query = {"filter": where, "pageSize": PAGE}
        what = f"listing custom trainings in {region}"
        for page in self.session.pages(self._url(region), what=what, query=query):
            yield from page.get("customJobs", ())

    def cancel(self, name: str) -> None:
        """End a training soon; `name` is Google's, in full. One that is over stays as it is."""
        region = name.split("/")[3]
        try:
            self.session.call(
                "POST",
                f"{_host(region)}/{name}:cancel",
                what=f"cancelling {name}",
                body={},
                is_repeatable=True,
            )
        except Missing:
            return

    def _url(self, region: str) -> str:
        return collection_url(self.project, region)


def collection_url(project: str, region: str) -> str:
    """Where the trainings of a region are."""
    return f"{_host(region)}/projects/{project}/locations/{region}/customJobs"


def _host(region: str) -> str:
    return f"https://{region}-aiplatform.googleapis.com/v1"
