"""The service account's key with which Google's SDKs come to the twin.

Must not open anything but this twin: Google has never heard of the key.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives import serialization

from windlass.twin.access.accounts import Rsa, credentials_file
from windlass.twin.server.files import write_private
from windlass.twin.server.home import TwinHome
from windlass.twin.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicHalf:
    """What the twin must know of the key to believe it."""

    email: str
    key_id: str
    pem: str


def ensure_credentials(home: TwinHome, settings: Settings, rsa: Rsa) -> PublicHalf:
    """The key in the home; made once, and again when the file was damaged."""
    kept = _kept(home, settings)
    if kept is not None:
        return kept
    private, public = rsa.new_key()
    # Google names keys by forty hexadecimal digits.
    key_id = hashlib.sha256(public.encode()).hexdigest()[:40]
    email = settings.default_service_account
    document = credentials_file(email, key_id=key_id, private_pem=private, project=settings.project)
    write_private(home.credentials, json.dumps(document, indent=2) + "\n")
    return PublicHalf(email=email, key_id=key_id, pem=public)


def _kept(home: TwinHome, settings: Settings) -> PublicHalf | None:
    try:
        document: dict[str, Any] = json.loads(home.credentials.read_text())
        key = serialization.load_pem_private_key(document["private_key"].encode(), None)
        email, key_id = str(document["client_email"]), str(document["private_key_id"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if email != settings.default_service_account:
        return None
    pem = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return PublicHalf(email=email, key_id=key_id, pem=pem.decode())
