"""Cloud TPU: the calls that engines and reaping need, and nothing else.

Must not decide anything. A create carries a request id, so that a call whose answer was lost can
be made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windlass.google.session import Missing, Session

BASE = "https://tpu.googleapis.com"
PAGE = "500"
STABLE = "v2"
ALPHA = "v2alpha1"
"""The version that has flex-start."""
EVERYWHERE = "-"
"""A zone that stands for all of them, in lists."""


class Tpu:
    """Cloud TPU of one project."""

    def __init__(self, session: Session, project: str) -> None:
        self.session = session
        self.project = project

    def create_queued(
        self, zone: str, name: str, body: Mapping[str, Any], *, request_id: str, version: str
    ) -> str:
        """Ask for slices; the name of the operation. Taken when there is one of that name."""
        operation = self.session.call(
            "POST",
            self._url(version, zone, "queuedResources"),
            what=f"asking for TPUs in {zone}",
            body=body,
            query={"queuedResourceId": name, "requestId": request_id},
            is_repeatable=True,
        )
        return str(operation.get("name", ""))

    def get_queued(self, zone: str, name: str) -> dict[str, Any] | None:
        """A queued resource, or None."""
        try:
            return self.session.get(
                queued_url(self.project, zone, name), what=f"looking at {name} in {zone}"
            )
        except Missing:
            return None

    def delete_queued(self, zone: str, name: str) -> None:
        """Delete a queued resource with everything that it was granted."""
        try:
            self.session.call(
                "DELETE",
                queued_url(self.project, zone, name),
                what=f"deleting {name} in {zone}",
                query={"force": "true"},
            )
        except Missing:
            return

    def delete_node(self, zone: str, name: str) -> None:
        """Delete a slice that has lost its queued resource."""
        url = f"{self._url(STABLE, zone, 'nodes')}/{name}"
        try:
            self.session.call("DELETE", url, what=f"deleting {name} in {zone}")
        except Missing:
            return

    def queued(self, zone: str) -> Iterator[dict[str, Any]]:
        """Queued resources of a zone."""
        return self._listed(zone, "queuedResources")

    def nodes(self, zone: str) -> Iterator[dict[str, Any]]:
        """Slices of a zone."""
        return self._listed(zone, "nodes")

    def _listed(self, zone: str, collection: str) -> Iterator[dict[str, Any]]:
        url = self._url(STABLE, zone, collection)
        what = f"listing {collection} in {zone}"
        for page in self.session.pages(url, what=what, query={"pageSize": PAGE}):
            yield from page.get(collection, ())

    def _url(self, version: str, zone: str, collection: str) -> str:
        return f"{BASE}/{version}/{place(self.project, zone)}/{collection}"


def place(project: str, zone: str) -> str:
    """A zone as Cloud TPU names it."""
    return f"projects/{project}/locations/{zone}"


def queued_url(project: str, zone: str, name: str) -> str:
    """Where a queued resource is."""
    return f"{BASE}/{STABLE}/{place(project, zone)}/queuedResources/{name}"
