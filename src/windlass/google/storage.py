"""Cloud Storage's buckets as things that are owned: where they are, who may read them.

Must not touch objects: agents and the run folder do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windlass.google.session import Missing, Session

BASE = "https://storage.googleapis.com/storage/v1/b"


class Buckets:
    """The buckets of one project."""

    def __init__(self, session: Session, project: str) -> None:
        self._session = session
        self._project = project

    def listed(self) -> Iterator[dict[str, Any]]:
        """All of them."""
        query = {"project": self._project, "maxResults": "500"}
        for page in self._session.pages(BASE, what="listing buckets", query=query):
            yield from page.get("items", ())

    def get(self, name: str) -> dict[str, Any] | None:
        """A bucket, or None."""
        try:
            return self._session.get(f"{BASE}/{name}", what=f"looking at the bucket {name}")
        except Missing:
            return None

    def create(self, body: Mapping[str, Any]) -> None:
        """Make a bucket; Taken when anybody has one of that name."""
        self._session.call(
            "POST",
            BASE,
            what=f"making the bucket {body['name']}",
            body=body,
            query={"project": self._project},
        )

    def delete(self, name: str) -> None:
        """Delete a bucket; Taken while something is in it."""
        try:
            self._session.call("DELETE", f"{BASE}/{name}", what=f"deleting the bucket {name}")
        except Missing:
            return
