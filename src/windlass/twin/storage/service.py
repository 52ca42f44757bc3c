"""Cloud Storage of the twin, whole: its JSON API, its uploads and its XML API.

Must not know sockets, tokens or other services: who asks has been settled before.
"""

from __future__ import annotations

import functools
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from windlass.ports.clock import Clock
from windlass.ports.entropy import Entropy
from windlass.twin.messages import Request, Response
from windlass.twin.refusals import Refusal
from windlass.twin.storage import lifecycle, sessions
from windlass.twin.storage.blobs import Blobs
from windlass.twin.storage.database import Database, Transaction
from windlass.twin.storage.faults import StorageRefusal
from windlass.twin.storage.progress import Progress
from windlass.twin.storage.routes import find_route
from windlass.twin.storage.vault import Ask, Vault
from windlass.twin.storage.xml_api import answer_xml, xml_refusal

JSON_PREFIXES = (
    "/storage/v1/",
    "/upload/storage/v1/",
    "/resumable/upload/storage/v1/",
    "/download/storage/v1/",
)
HOST = "storage.googleapis.com"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
# The second part of a path to another service: /compute/v1/projects/...
_VERSION = re.compile(r"v\d\w*|alpha|beta")


class Storage:
    """Everything that is stored lies in `folder`; a second one must not use it at the same time."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock,
        chance: Entropy,
        project_number: Callable[[str], str] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._vault = Vault(
            database=Database(folder / "storage.db"),
            blobs=Blobs(folder / "blobs", chance=chance),
            clock=clock,
            chance=chance,
            progress=Progress(),
            project_number=project_number or _some_number,
        )
        self._tidy()

    def handles(self, request: Request) -> bool:
        """Whether a request is for Cloud Storage."""
        if request.path.startswith(JSON_PREFIXES):
            return True
        if request.host.endswith(HOST):
            return request.host == HOST or request.host.endswith(f".{HOST}")
        if request.host not in LOOPBACK:
            return False
        bucket, _, rest = request.path[1:].partition("/")
        if not bucket or _VERSION.fullmatch(rest.partition("/")[0]):
            return False
        found = self._vault.database.one("SELECT 1 FROM buckets WHERE name = ?", unquote(bucket))
        return found is not None

    def answer(self, request: Request, *, principal: str) -> Response:
        """What Cloud Storage says. Whoever asks owns every bucket."""
        if not request.path.startswith(JSON_PREFIXES):
            return self._answer_xml(request)
        try:
            route = find_route(request)
            ask = Ask(request=request, params=route.params, query=request.queries())
            return route.handler(self._vault, ask)
        except Refusal as refusal:
            if refusal.code == 304:
                return Response(status=304)
            return refusal.response(with_status=False)

    def bindings(self, bucket: str) -> list[dict[str, Any]] | None:
        """Who may do what with a bucket; None where there is none of that name."""
        row = self._vault.database.one("SELECT policy FROM buckets WHERE name = ?", bucket)
        return json.loads(row[0]).get("bindings", []) if row is not None else None

    def refused(self, request: Request, refusal: Refusal) -> Response:
        """A refusal in the language of the request."""
        words = StorageRefusal(refusal.code, refusal.message, reason=refusal.reason)
        if not request.path.startswith(JSON_PREFIXES):
            return xml_refusal(words, method=request.method)
        return words.response()

    def _answer_xml(self, request: Request) -> Response:
        try:
            return answer_xml(self._vault, request)
        except StorageRefusal as refusal:
            return xml_refusal(refusal, method=request.method)

    def sweep(self, now: float) -> int:
        """Let objects grow old: apply every bucket's lifecycle; how many it changed."""
        self._expire(now)
        return lifecycle.sweep(self._vault, now=now)

    def _expire(self, now: float) -> None:
        """Forget sessions that nobody finished within a week."""

        def work(transaction: Transaction) -> None:
            before = now - sessions.LIFE_S
            for (file,) in transaction.all(
                "SELECT file FROM sessions WHERE created < ? AND file IS NOT NULL", before
            ):
                transaction.afterwards.append(functools.partial(self._vault.blobs.condemn, file))
            transaction.run("DELETE FROM sessions WHERE created < ?", before)

        self._vault.database.write(work)

    def _tidy(self) -> None:
        """Remove what a crash left: blobs that nothing refers to."""
        self._expire(self._vault.clock.now())
        rows = self._vault.database.all(
            "SELECT file FROM contents WHERE file IS NOT NULL "
            "UNION SELECT file FROM sessions WHERE file IS NOT NULL"
        )
        self._vault.blobs.keep_only({row[0] for row in rows})

    def close(self) -> None:
        """Let go of the files."""
        self._vault.database.close()
        self._vault.blobs.close()


def _some_number(project: str) -> str:
    """A project's number, when nobody knows better: twelve digits that follow from its name."""
    return str(100_000_000_000 + zlib.crc32(project.encode()) * 100 % 900_000_000_000)
