"""OAuth: tokens for a login's code, for a refresh token, and for a signed assertion.

Must not let strangers in: a login's code is the token of the twin's home, which only its owner can
read.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from windlass.twin.messages import Request, Response, json_response
from windlass.twin.refusals import Refusal
from windlass.twin.tokens import HOUR, REFRESH, bearer

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.tokens import Tokens

TOKEN_PATHS = frozenset({"/token", "/oauth2/token", "/oauth2/v4/token", "/o/oauth2/token"})
INFO_PATHS = frozenset({"/tokeninfo", "/oauth2/v3/tokeninfo", "/oauth2/v1/tokeninfo"})
USER_PATHS = frozenset({"/oauth2/v3/userinfo", "/v1/userinfo", "/oauth2/v2/userinfo"})
REVOKE_PATHS = frozenset({"/revoke", "/o/oauth2/revoke"})
HOSTS = ("oauth2.googleapis.com", "accounts.google.com", "www.googleapis.com", "openidconnect")
REFRESH_S = 365 * 24 * HOUR
MOST_BODY = 1 << 16
SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class OAuth:
    """The token endpoint and what belongs to it. Its callers have no token yet."""

    def __init__(self, cloud: Cloud, tokens: Tokens) -> None:
        self._cloud = cloud
        self._tokens = tokens

    def handles(self, request: Request) -> bool:
        """See door.Surface."""
        paths = TOKEN_PATHS | INFO_PATHS | USER_PATHS | REVOKE_PATHS
        return request.path in paths and (
            request.host.startswith(HOSTS) or request.path.startswith("/oauth2/")
        )

    def answer(self, request: Request, *, principal: str) -> Response:
        """See door.Surface."""
        # Strangers may take as long as they like to send it: nobody waits for them.
        raw = request.body.read(MOST_BODY).decode("utf-8", "replace")
        form = dict(parse_qsl(raw, keep_blank_values=True))
        try:
            with self._cloud.lock:
                try:
                    return json_response(self._answer(request, form))
                finally:
                    self._cloud.commit()
        except Refusal as refusal:
            error = {"error": refusal.reason, "error_description": refusal.message}
            return json_response(error, status=refusal.code)

    def _answer(self, request: Request, form: dict[str, str]) -> dict[str, Any]:
        if request.path in TOKEN_PATHS:
            return self._token(form)
        given = {**form, **request.queries()}
        if request.path in REVOKE_PATHS:
            return self._revoked(given.get("token", ""))
        token = given.get("access_token") or bearer(request.headers.get("authorization", ""))
        email = self._tokens.principal(token) if token else None
        if email is None:
            raise Refusal(400, "Invalid Value", reason="invalid_token")
        return {
            "email": email,
            "email_verified": True,
            "sub": "100000000000000000000",
            "expires_in": str(int(HOUR)),
            "scope": SCOPE,
        }

    def _token(self, form: dict[str, str]) -> dict[str, Any]:
        grant = form.get("grant_type", "")
        email: str | None = None
        if grant == "authorization_code" and self._tokens.is_home(form.get("code", "")):
            account = self._cloud.settings.account
            refresh = self._tokens.mint(account, seconds=REFRESH_S, opens=REFRESH)
            return {**self._granted(account), "refresh_token": refresh}
        if grant == "refresh_token":
            email = self._tokens.refreshed(form.get("refresh_token", ""))
        if grant == "urn:ietf:params:oauth:grant-type:jwt-bearer":
            email = self._tokens.signer(form.get("assertion", ""))
        if email is None:
            raise Refusal(400, "Bad Request", reason="invalid_grant")
        return self._granted(email)

    def _revoked(self, token: str) -> dict[str, Any]:
        if not self._tokens.is_home(token) and not self._tokens.revoke(token):
            raise Refusal(400, "Token expired or revoked", reason="invalid_token")
        return {}

    def _granted(self, email: str) -> dict[str, Any]:
        return {
            "access_token": self._tokens.mint(email),
            "expires_in": int(HOUR),
            "token_type": "Bearer",
            "id_token": id_token(email, now=self._cloud.clock.now()),
        }


def id_token(email: str, *, now: float, audience: str = "") -> str:
    """Says who somebody is; clients only read it, none checks the signature."""
    claims = {
        "iss": "https://accounts.google.com",
        "aud": audience or "windlass-twin",
        "sub": "100000000000000000000",
        "email": email,
        "email_verified": True,
        "iat": int(now),
        "exp": int(now + HOUR),
    }
    parts = ({"alg": "RS256", "typ": "JWT"}, claims)
    texts = [_encoded(json.dumps(part).encode()) for part in parts]
    return ".".join([*texts, _encoded(b"twin")])


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
