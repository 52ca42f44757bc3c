"""Who asks, by the token they bring.

There are the home's own, those that the twin has handed out, and self-signed ones of service
accounts whose key the twin has made.

Must not take anybody's word: a request without a token that is known here has no principal.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any, Protocol

from windlass.twin.refusals import Refusal, error_info

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

HOUR = 3600.0
ACCESS = "access"
REFRESH = "refresh"
UNAUTHENTICATED = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie "
    "or other valid authentication credential. See "
    "https://developers.google.com/identity/sign-in/web/devconsole-project."
)


class Keys(Protocol):
    """The public keys of service accounts."""

    def is_signed(self, email: str, *, key_id: str, message: bytes, signature: bytes) -> bool:
        """Whether that account's key has signed that message (RS256)."""


class Tokens:
    """Knows every token of this twin."""

    def __init__(self, cloud: Cloud, *, home: str, keys: Keys) -> None:
        self._cloud = cloud
        self._home = home
        self._keys = keys
        self._minted = cloud.documents("tokens")

    def is_home(self, token: str) -> bool:
        """Whether it is the token of the twin's owner."""
        return hmac.compare_digest(token.encode(), self._home.encode())

    def mint(self, email: str, *, seconds: float = HOUR, opens: str = ACCESS) -> str:
        """A new token for somebody. Nobody can guess one: it is made from the home's token. One
        that opens `REFRESH` is good for new tokens and nothing else."""
        # The time is in it, too: numbers begin anew when the twin's state is thrown away.
        number = f"{email} {self._cloud.new_id()} {self._cloud.clock.now()!r}"
        mark = hmac.new(self._home.encode(), number.encode(), hashlib.sha256).digest()
        token = "ya29.twin-" + base64.urlsafe_b64encode(mark).decode().rstrip("=")
        until = self._cloud.clock.now() + seconds
        record = {"email": email, "until": until, "opens": opens}
        self._minted.put(_digest(token), record)
        self._cloud.later(seconds, "token.over", _digest(token))
        return token

    def forget(self, digest: str) -> None:
        """Its time is over."""
        record = self._minted.get(digest)
        if record is not None and record["until"] <= self._cloud.clock.now():
            self._minted.drop(digest)

    def principal(self, token: str) -> str | None:
        """Whose token it is; None when it is nobody's."""
        if self.is_home(token):
            return self._cloud.settings.account
        if _digest(token) in self._minted:
            return self._holder(token, opens=ACCESS)
        return self.signer(token)

    def refreshed(self, token: str) -> str | None:
        """Whose refresh token it is. Others are none: they would never grow old."""
        return self._holder(token, opens=REFRESH)

    def revoke(self, token: str) -> bool:
        """It opens nothing any more; False when it never did. The home's own stays."""
        return self._minted.drop(_digest(token)) is not None

    def signer(self, assertion: str) -> str | None:
        """The service account that has signed a JSON web token which is still good."""
        head, _, signature = assertion.rpartition(".")
        parts = head.split(".")
        if len(parts) != 2:
            return None
        header, claims = (_json(part) for part in parts)
        raw = _decoded(signature)
        if header is None or claims is None or raw is None or header.get("alg") != "RS256":
            return None
        email = str(claims.get("iss", ""))
        key_id = str(header.get("kid", ""))
        if not self._keys.is_signed(email, key_id=key_id, message=head.encode(), signature=raw):
            return None
        # Clients stamp it with the machine's clock, which the twin's may be far ahead of; what
        # protects a key is that it never leaves the home.
        return email

    def _holder(self, token: str, *, opens: str) -> str | None:
        record = self._minted.get(_digest(token))
        if record is None or record["opens"] != opens:
            return None
        return str(record["email"]) if record["until"] > self._cloud.clock.now() else None


def bearer(authorization: str) -> str | None:
    """The token of an Authorization header."""
    kind, _, token = authorization.partition(" ")
    return token.strip() if kind.lower() in ("bearer", "oauth") and token.strip() else None


def unauthenticated() -> Refusal:
    """What a stranger is told."""
    return Refusal(
        401,
        UNAUTHENTICATED,
        details=[error_info("CREDENTIALS_MISSING", "googleapis.com")],
        headers=[("WWW-Authenticate", 'Bearer realm="https://accounts.google.com/"')],
    )


def _digest(token: str) -> str:
    """What is kept of a token: nothing that lets one in."""
    return hashlib.sha256(token.encode()).hexdigest()


def _decoded(text: str) -> bytes | None:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None


def _json(part: str) -> dict[str, Any] | None:
    raw = _decoded(part)
    if raw is None:
        return None
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
