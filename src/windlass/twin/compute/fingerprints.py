"""Fingerprints: marks of what a client has seen, so that it changes nothing that it has not.

Must not be secret or strong: they only have to differ.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

from windlass.twin.refusals import Refusal

STALE_LABELS = "Labels fingerprint either invalid or resource labels have changed"


def fingerprint(value: Any) -> str:
    """A mark that changes with the value: base64, as clients decode it."""
    return base64.b64encode(hashlib.sha256(repr(value).encode()).digest()[:8]).decode()


def check_fingerprint(given: str | None, present: str, message: str) -> None:
    """Refuse a mark that is not the present one. Clients send bytes back in either alphabet of
    base64: compare what they stand for."""
    if given and _decoded(given) != _decoded(present):
        raise Refusal(412, message, reason="conditionNotMet").blaming("If-Match")


def _decoded(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "==")
    except (ValueError, binascii.Error):
        return text.encode()
