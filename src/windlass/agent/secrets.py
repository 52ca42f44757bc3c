"""Secrets that a node reads for itself: from Secret Manager, as its machine's own account.

Must not keep a value anywhere but in memory, nor let one into a message. Python 3.9, standard
library only.
"""

from __future__ import annotations

import base64
import http.client
import json
import random
import time
import urllib.error
import urllib.request
from typing import Dict, Mapping

from windlass.agent.storage import FIRST_PAUSE_S, LONGEST_PAUSE_S, RETRIED, Token
from windlass.agent.tokens import MachineSource

GLOBAL = "secretmanager.googleapis.com"
PATIENCE_S = 120.0
"""How long one secret is asked for again and again; nothing else waits yet."""
TRY_S = 10.0
GRANT = "roles/secretmanager.secretAccessor"


class SecretRefused(Exception):
    """A secret cannot be had; why, and what to do, in plain words."""

    def __init__(self, why: str, *, is_passing: bool) -> None:
        super().__init__(why)
        self.is_passing = is_passing
        """Whether another attempt may have it."""


def fetch(
    references: Mapping[str, str], token: Token, *, patience_s: float = PATIENCE_S
) -> Dict[str, str]:
    """The values, by their names in the environment; `references` are full names of versions."""
    return {
        name: _decoded(name, _access(name, reference, token, until=time.monotonic() + patience_s))
        for name, reference in references.items()
    }


def _access(name: str, reference: str, token: Token, *, until: float) -> bytes:
    pause, is_anew = FIRST_PAUSE_S, False
    while True:
        try:
            return _ask(reference, token(is_anew))
        except urllib.error.HTTPError as refusal:
            with refusal:
                said = _said(refusal)
            is_first, is_anew = not is_anew, refusal.code == 401  # A new token, once.
            if refusal.code not in RETRIED and not (is_anew and is_first):
                why = _refused(name, reference, refusal.code, said)
                raise SecretRefused(why, is_passing=False) from None
            trouble = f"{refusal.code} {said}"
        except (OSError, http.client.HTTPException) as problem:
            trouble = str(problem)
        if time.monotonic() + pause > until:
            raise SecretRefused(f"the secret {name} cannot be read: {trouble}", is_passing=True)
        time.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(pause * 2, LONGEST_PAUSE_S)


def _ask(reference: str, token: str) -> bytes:
    request = urllib.request.Request(
        f"https://{_host(reference)}/v1/{reference}:access",
        headers={"Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=TRY_S) as answer:
        body: bytes = answer.read()
    return body


def _host(reference: str) -> str:
    """Secrets of one region are kept, and asked for, in that region."""
    words = reference.split("/")
    return f"secretmanager.{words[3]}.rep.googleapis.com" if words[2] == "locations" else GLOBAL


def _decoded(name: str, body: bytes) -> str:
    try:
        value = base64.b64decode(json.loads(body)["payload"]["data"]).decode("utf-8")
    except (ValueError, KeyError, TypeError):
        value = "\0"
    if "\0" in value:
        # Not chained: what was decoded would be part of the message.
        why = f"the secret {name} is no text that an environment can hold"
        raise SecretRefused(why, is_passing=False) from None
    return value


def _refused(name: str, reference: str, status: int, said: str) -> str:
    why = f"the secret {name} ({reference}) cannot be read: {status} {said}."
    if status != 403:
        return why
    secret = reference.partition("/versions/")[0]
    return (
        f"{why} Allow the machines' account to: `gcloud secrets add-iam-policy-binding {secret} "
        f"--member=serviceAccount:{MachineSource().email() or 'ACCOUNT'} --role={GRANT}`"
    )


def _said(refusal: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(refusal.read())["error"]["message"]).rstrip(".")
    except (OSError, ValueError, KeyError, TypeError):
        return str(refusal.reason)
