"""Who we are to Google: application default credentials, or an account that they may act for.

Must not print a token, nor keep one on disk.
"""

from __future__ import annotations

import json
from typing import Any, Protocol

import google.auth
import httpx
from google.auth import impersonated_credentials
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError, TransportError
from google.auth.transport import Request

from windlass.errors import CredentialsMissing, EngineTransient

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
IMPERSONATED_S = 3600
NOBODY = "default credentials were not found"
"""What google-auth says where there is nothing; else something is there and is no good."""
SOMEBODY = "user:YOU"
"""A login does not say whose it is."""


class Bearer(Protocol):
    """Gives tokens."""

    def token(self, *, anew: bool = False) -> str:
        """A token that is good now; a new one when the last was refused."""

    @property
    def quota_project(self) -> str:
        """The project whose quota the calls count against; empty for the resource's own."""

    @property
    def member(self) -> str:
        """Who it is, as policies name them; `user:YOU` where only the caller knows."""


class FixedBearer:
    """One token, for tests and simulations."""

    quota_project = ""
    member = SOMEBODY

    def __init__(self, value: str) -> None:
        self._value = value

    def token(self, *, anew: bool = False) -> str:
        """See Bearer."""
        return self._value


class AmbientBearer:
    """What the machine has: a login, a key file, or a metadata server."""

    def __init__(self, client: httpx.Client, *, impersonate: str = "") -> None:
        self._client = client
        self._impersonate = impersonate
        self._found: Any = None

    def token(self, *, anew: bool = False) -> str:
        """See Bearer."""
        # Threads may come here together; a token that is renewed twice does no harm.
        found = self._credentials()
        if anew or not found.valid:
            self._refresh(found)
        return str(found.token)

    @property
    def quota_project(self) -> str:
        """See Bearer."""
        return str(getattr(self._credentials(), "quota_project_id", None) or "")

    @property
    def member(self) -> str:
        """See Bearer. A machine's own account says who it is once it has given a token."""
        email = str(getattr(self._credentials(), "service_account_email", None) or "")
        return f"serviceAccount:{email}" if "@" in email else SOMEBODY

    def _credentials(self) -> Any:
        if self._found is None:
            self._found = self._look()
        return self._found

    def _look(self) -> Any:
        try:
            own, _ = google.auth.default(scopes=[SCOPE], request=HttpxRequest(self._client))
        except DefaultCredentialsError as exc:
            raise _none_here(exc) from exc
        if not self._impersonate:
            return own
        return impersonated_credentials.Credentials(  # type: ignore[no-untyped-call]  # google-auth has no types for it.
            own, self._impersonate, [SCOPE], lifetime=IMPERSONATED_S
        )

    def _refresh(self, found: Any) -> None:
        try:
            found.refresh(HttpxRequest(self._client))
        except GoogleAuthError as exc:
            if isinstance(exc, TransportError) or exc.retryable:
                raise EngineTransient(f"no token was to be had: {_first_line(exc)}") from exc
            raise self._refused(exc) from exc

    def _refused(self, exc: GoogleAuthError) -> CredentialsMissing:
        why = _first_line(exc)
        if not self._impersonate:
            return CredentialsMissing(
                f"the credentials for Google Cloud are not accepted: {why}",
                remedy="Log in again with `gcloud auth application-default login`.",
            )
        return CredentialsMissing(
            f"{self._impersonate} cannot be acted as: {why}",
            remedy="Whoever is logged in needs to be allowed to: `gcloud iam service-accounts "
            f"add-iam-policy-binding {self._impersonate} --member=user:YOU "
            "--role=roles/iam.serviceAccountTokenCreator`.",
        )


class HttpxRequest(Request):
    """google-auth's idea of a transport, over the client that everything else uses too."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> _Answer:
        """Ask, and give the answer in google-auth's form."""
        try:
            answer = self._client.request(
                method, url, content=body, headers=headers, timeout=timeout or 30.0
            )
        except httpx.HTTPError as exc:
            raise TransportError(exc) from exc  # type: ignore[no-untyped-call]  # google-auth has no types for it.
        return _Answer(answer)


class _Answer:
    """google-auth's idea of an answer."""

    def __init__(self, answer: httpx.Response) -> None:
        self.status = answer.status_code
        self.headers = answer.headers
        self.data = answer.content


def _first_line(exc: BaseException) -> str:
    """What is wrong, in a line. google-auth hands Google's answer on as it came."""
    for part in exc.args:
        try:
            return str(json.loads(part)["error"]["message"])
        except (TypeError, ValueError, KeyError):
            continue
    said = str(exc.args[0] if exc.args else "").strip()
    return said.splitlines()[0][:200] if said else type(exc).__name__


def _none_here(exc: DefaultCredentialsError) -> CredentialsMissing:
    """Nobody has logged in; or somebody has named a file that is none."""
    why = _first_line(exc)
    if NOBODY in why:
        return CredentialsMissing(
            "there are no credentials for Google Cloud here",
            remedy="Log in with `gcloud auth application-default login`; or, for the twin, give "
            "the command as `windlass twin exec -- windlass …`.",
        )
    return CredentialsMissing(
        f"the credentials for Google Cloud cannot be read: {why}",
        remedy="Mend or unset GOOGLE_APPLICATION_CREDENTIALS; `gcloud auth application-default "
        "login` makes new ones.",
    )
