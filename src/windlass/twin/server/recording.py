"""Every call and its answer as a line of JSON, for whoever wants to check them later.

Must not write tokens: a record may be shown to others.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from windlass.twin.messages import Request, Response

MOST_BYTES = 1 << 20
SECRET = frozenset({"authorization", "proxy-authorization", "x-goog-iam-authorization-token"})


class Recorder:
    """Is a door.Watcher."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def __call__(self, request: Request, body: Any, response: Response, method: str) -> None:
        """One call."""
        line = json.dumps(
            {
                "id": method,
                "method": request.method,
                "host": request.host,
                "path": request.path,
                "query": request.query,
                "headers": {
                    name: value for name, value in request.headers.items() if name not in SECRET
                },
                "body": body,
                "status": response.status,
                "response": _shown(response),
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
