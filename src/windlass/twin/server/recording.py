"""Every call and its answer as a line of JSON, for whoever wants to check them later.

Must not write tokens: a record may be shown to others.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from windlass.twin.messages import Request, Response

MOST_BYTES = 1 << 20
SECRET = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "x-goog-iam-authorization-token",
        "x-goog-api-key",
        "cookie",
    }
)
SECRET_FIELDS = frozenset(
    {"accessToken", "access_token", "privateKeyData", "refresh_token", "id_token", "key"}
)
SECRET_METHODS = ("iamcredentials.", "secretmanager.")
"""Their answers, and what they are sent, are secrets."""
GONE = "[not recorded]"


class Recorder:
    """Is a door.Watcher."""

    def __init__(self, path: Path) -> None:
        # What was asked is nobody else's business, tokens or not.
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._file = os.fdopen(number, "a", encoding="utf-8")
        self._lock = threading.Lock()

    def __call__(self, request: Request, body: Any, response: Response, method: str) -> None:
        """One call."""
        line = json.dumps(
            {
                "id": method,
                "method": request.method,
                "host": request.host,
                "path": request.path,
                "query": _masked(request.query),
                "headers": {
                    name: value for name, value in request.headers.items() if name not in SECRET
                },
                "body": _without_secrets(body, method),
                "status": response.status,
                "response": _without_secrets(_shown(response), method),
            },
            ensure_ascii=False,
        )
        with self._lock:
            self._file.write(f"{line}\n")
            self._file.flush()


def _shown(response: Response) -> Any:
    content = response.content
    if not isinstance(content, bytes) or len(content) > MOST_BYTES:
        return None
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None


def _masked(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    if not SECRET_FIELDS.intersection(name for name, _ in pairs):
        return query
    return urlencode([(name, GONE if name in SECRET_FIELDS else value) for name, value in pairs])


def _without_secrets(value: Any, method: str) -> Any:
    """The same, less what would let somebody in. Only documents whose fields hide something are
    changed: the rest is recorded as it was."""
    if isinstance(value, list):
        return [_without_secrets(one, method) for one in value]
    if not isinstance(value, dict):
        return value
    is_secret = method.startswith(SECRET_METHODS)
    hidden = SECRET_FIELDS | {"data"} if is_secret else frozenset({"privateKeyData"})
    return {
        name: GONE if name in hidden and isinstance(one, str) else _without_secrets(one, method)
        for name, one in value.items()
    }
