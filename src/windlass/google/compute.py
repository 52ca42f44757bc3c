"""Compute Engine: the calls that engines, networks and reaping need, and nothing else.

Must not decide anything. Every insert carries a request id, so that a call whose answer was lost
can be made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windlass.google.session import Missing, Session

BASE = "https://compute.googleapis.com/compute/v1"
PAGE = "500"


class Compute:
    """Compute Engine of one project."""

    def __init__(self, session: Session, project: str) -> None:
        self.session = session
        self.project = project
        self._root = f"{BASE}/projects/{project}"

    def insert(
        self, scope: str, collection: str, body: Mapping[str, Any], *, request_id: str
    ) -> dict[str, Any]:
        """Make a resource; its operation. `scope` is `zones/Z`, `regions/R` or `global`."""
        return self.session.call(
            "POST",
            f"{self._root}/{scope}/{collection}",
            what=f"making {collection} in {scope}",
            body=body,
            query={"requestId": request_id},
            is_repeatable=True,
        )

    def bulk_insert(self, zone: str, body: Mapping[str, Any], *, request_id: str) -> dict[str, Any]:
        """Make several instances alike, or none; the operation."""
        return self.session.call(
            "POST",
            f"{self._root}/zones/{zone}/instances/bulkInsert",
            what=f"asking for instances in {zone}",
            body=body,
            query={"requestId": request_id},
            is_repeatable=True,
        )

    def get(self, scope: str, collection: str, name: str) -> dict[str, Any] | None:
        """A resource, or None."""
        try:
            return self.session.get(
                f"{self._root}/{scope}/{collection}/{name}", what=f"looking at {name} in {scope}"
            )
        except Missing:
            return None

    def delete(self, scope: str, collection: str, name: str) -> dict[str, Any] | None:
        """Delete a resource; its operation, or None when it is not there."""
        try:
            return self.session.call(
                "DELETE",
                f"{self._root}/{scope}/{collection}/{name}",
                what=f"deleting {name} in {scope}",
            )
        except Missing:
            return None

    def delete_instance(self, zone: str, name: str, *, at_once: bool) -> None:
        """Delete an instance; at once means without waiting for what runs in it."""
        query = {"noGracefulShutdown": "true"} if at_once else None
        try:
            self.session.call(
                "DELETE",
                f"{self._root}/zones/{zone}/instances/{name}",
                what=f"deleting {name} in {zone}",
                query=query,
            )
        except Missing:
            return

    def act(
        self,
        scope: str,
        collection: str,
        name: str,
        verb: str,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Do something to a resource, such as `setLabels`."""
        return self.session.call(
            "POST",
            f"{self._root}/{scope}/{collection}/{name}/{verb}",
            what=f"{verb} of {name} in {scope}",
            body=body,
            is_repeatable=True,
        )

    def everywhere(
        self, collection: str, *, where: str = ""
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Resources of all zones or regions that match a filter, each with its scope."""
        query = {"maxResults": PAGE, "returnPartialSuccess": "true"}
        if where:
            query["filter"] = where
        url = f"{self._root}/aggregated/{collection}"
        for page in self.session.pages(url, what=f"listing {collection}", query=query):
            for scope, found in (page.get("items") or {}).items():
                for one in found.get(collection, ()):
                    yield scope, one

    def listed(self, scope: str, collection: str, *, where: str = "") -> Iterator[dict[str, Any]]:
        """Resources of one place that match a filter."""
        query = {"maxResults": PAGE}
        if where:
            query["filter"] = where
        url = f"{self._root}/{scope}/{collection}"
        for page in self.session.pages(url, what=f"listing {collection} in {scope}", query=query):
            yield from page.get("items", ())

    def console(self, zone: str, name: str, *, most: int) -> str:
        """The last bytes that an instance has printed on its serial port; none without one."""
        url = f"{self._root}/zones/{zone}/instances/{name}/serialPort"
        query = {"port": "1", "start": str(-most)}
        try:
            said = self.session.get(url, what=f"reading the console of {name}", query=query)
        except Missing:
            return ""
        return str(said.get("contents", ""))

    def operation(self, scope: str, name: str) -> dict[str, Any] | None:
        """How far an operation is; None when Google has forgotten it."""
        return self.get(scope, "operations", name)


def operation_errors(operation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an operation has failed with; empty while it runs and when it did not fail."""
    return list((operation.get("error") or {}).get("errors") or ())
