"""The owner's questions to a twin that runs: what it is doing, faults, its bill.

Must not start or stop it.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any

from windlass.errors import OptionRefused, TwinNotUp
from windlass.twin.server.home import Running, TwinHome

ANSWER_S = 10.0


def ask(
    home: TwinHome, running: Running, what: str, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The twin's answer under /twin/v1/. OptionRefused when it refuses what was given."""
    remedy = f"See {home.log}; `windlass twin down` ends it."
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=ANSWER_S)
    try:
        headers = {"Authorization": f"Bearer {home.token()}"}
        method, body = ("GET", None) if given is None else ("POST", json.dumps(given))
        connection.request(method, f"/twin/v1/{what}", body=body, headers=headers)
        answer = connection.getresponse()
        document = json.loads(answer.read())
    except (OSError, ValueError, http.client.HTTPException) as exc:
        raise TwinNotUp(f"the twin of {home.path} does not answer: {exc}", remedy=remedy) from exc
    finally:
        connection.close()
    if given is not None and answer.status in (400, 404):
        message, _, more = str(document["error"]["message"]).partition("\n")
        raise OptionRefused(
            message.rstrip("."),
            context=more,
            remedy="`windlass twin fault list` shows what there is; nothing was changed.",
        )
    if answer.status != 200 or not isinstance(document, dict):
        raise TwinNotUp(
            f"the twin of {home.path} answers with status {answer.status}", remedy=remedy
        )
    return document
