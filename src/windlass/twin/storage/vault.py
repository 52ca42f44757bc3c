"""What every part of Cloud Storage works on: tables, blobs, time and chance; and what is asked.

Must not decide anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from windlass.ports.clock import Clock
from windlass.ports.entropy import Entropy
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.check import check
from windlass.twin.messages import Request
from windlass.twin.storage import faults
from windlass.twin.storage.blobs import Blobs
from windlass.twin.storage.database import Database
from windlass.twin.storage.progress import Progress

JSON_BODY_MOST = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Vault:
    """The stored state."""

    database: Database
    blobs: Blobs
    clock: Clock
    chance: Entropy
    progress: Progress
    project_number: Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request, taken apart."""

    request: Request
    params: tuple[str, ...]
    """What the path names: a bucket, an object."""
    query: Mapping[str, str]

    def flag(self, name: str) -> bool:
        """Whether a parameter says true."""
        return self.query.get(name, "").lower() == "true"

    def number(self, name: str) -> int | None:
        """A parameter that is a whole number."""
        text = self.query.get(name)
        if text is None:
            return None
        try:
            return int(text)
        except ValueError as exc:
            message = f"Invalid value for {name}: {text}"
            raise faults.invalid(message, location=name) from exc

    def document(self, schema: str) -> dict[str, Any]:
        """The body, which is a JSON object of this kind or empty."""
        return parse_document(self.request.body.read(JSON_BODY_MOST), schema)


def parse_document(raw: bytes, schema: str) -> dict[str, Any]:
    """A JSON object from a client, whose fields have the types that Google's have.

    A field that Google does not know is left alone: Cloud Storage ignores it.
    """
    if not raw.strip():
        return {}
    try:
        document = json.loads(raw)
    except ValueError as exc:
        raise faults.StorageRefusal(400, "Parse Error", reason="parseError") from exc
    if document is None:  # Clients written in Go send it for an empty object.
        return {}
    if not isinstance(document, dict):
        raise faults.StorageRefusal(400, "Parse Error", reason="parseError")
    for finding in check(load_api("storage", "v1"), schema, document):
        if finding.message != "unknown field":
            raise faults.invalid(finding.description or finding.message)
    return document


def dumps(document: Mapping[str, Any]) -> str:
    """JSON as it is stored and sent."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
