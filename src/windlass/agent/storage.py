"""Cloud Storage over HTTPS with nothing but the standard library: one connection that is kept open.

Must not know what is stored. Python 3.9. What fails and may work next time is tried again for as
long as the caller says; what is left is an OSError, as of a disk.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import ssl
import time
from typing import Callable, Dict, NamedTuple, Optional
from urllib.parse import quote, urlencode, urlsplit

HOST = "storage.googleapis.com"
METADATA = "metadata.google.internal"
TOKEN_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"
TIMEOUT_S = 20.0
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 8.0
RETRIED = frozenset({408, 429, 500, 502, 503, 504})

Token = Callable[[bool], str]
"""A bearer token; a new one when asked anew."""


class BucketError(OSError):
    """Cloud Storage said no, or nothing."""

    def __init__(self, what: str, *, status: int = 0) -> None:
        super().__init__(what)
        self.status = status


class Answer(NamedTuple):
    """What Cloud Storage said."""

    status: int
    headers: Dict[str, str]
    body: bytes


class Ask(NamedTuple):
    """One request."""

    method: str
    path: str
    query: Dict[str, str]
    body: bytes = b""
    headers: Optional[Dict[str, str]] = None


class Storage:
    """Requests to Cloud Storage, in order."""

    def __init__(self, token: Token, *, patience_s: float = 0.0) -> None:
        self._token = token
        self._patience_s = patience_s
        self._connection: Optional[http.client.HTTPConnection] = None

    def ask(self, ask: Ask, *, fine: "tuple[int, ...]" = (200,)) -> Answer:
        """The answer, if its status is one of the fine ones.

        Raises:
            BucketError: another status, or no answer in the time there is.
        """
        until = time.monotonic() + self._patience_s
        pause = FIRST_PAUSE_S
        is_anew = False
        while True:
            try:
                answer = self._once(ask, is_anew=is_anew)
            except (OSError, http.client.HTTPException) as exc:
                self.close()
                problem = BucketError(f"{ask.method} {ask.path}: {exc!s} ({type(exc).__name__})")
            else:
                if answer.status in fine:
                    return answer
                problem = BucketError(
                    f"{ask.method} {ask.path}: {_said(answer)}", status=answer.status
                )
                if answer.status == 401 and not is_anew:
                    is_anew = True
                    continue
                if answer.status not in RETRIED:
                    raise problem
            if time.monotonic() + pause > until:
                raise problem
            # Nodes of a gang fail together; they should not all come back at the same moment.
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, LONGEST_PAUSE_S)

    def close(self) -> None:
        """Hang up; the next request calls again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(self, ask: Ask, *, is_anew: bool) -> Answer:
        target = ask.path + (f"?{urlencode(ask.query)}" if ask.query else "")
        headers = {"Authorization": f"Bearer {self._token(is_anew)}", **(ask.headers or {})}
        for is_last in (False, True):
            is_new = self._connection is None
            if self._connection is None:
                self._connection = connect()
            try:
                self._connection.request(ask.method, target, body=ask.body or None, headers=headers)
                response = self._connection.getresponse()
                body = response.read()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                # A connection that was kept open too long is closed without a word; whether a
                # request on it was carried out is for the caller's preconditions to settle.
                self.close()
                if is_last or is_new:
                    raise
                continue
            found = {name.lower(): value for name, value in response.getheaders()}
            if response.will_close:
                self.close()
            return Answer(response.status, found, body)
        raise AssertionError("unreachable")


def object_path(bucket: str, name: str, *, prefix: str = "/storage/v1") -> str:
    """The path of an object in the JSON API."""
    return f"{prefix}/b/{quote(bucket, safe='')}/o/{quote(name, safe='')}"


def connect() -> http.client.HTTPConnection:
    """A connection to Cloud Storage, through the proxy that the environment names."""
    proxy = os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy")
    context = ssl.create_default_context()
    if not proxy:
        return http.client.HTTPSConnection(HOST, timeout=TIMEOUT_S, context=context)
    split = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    connection = http.client.HTTPSConnection(
        split.hostname or "", split.port or 3128, timeout=TIMEOUT_S, context=context
    )
    connection.set_tunnel(HOST, 443)
    return connection


class MachineToken:
    """The token of the machine's own service account, from its metadata server."""

    EARLY_S = 60.0

    def __init__(self) -> None:
        self._value = ""
        self._until = float("-inf")

    def __call__(self, is_anew: bool) -> str:
        """See Token."""
        if is_anew or time.monotonic() > self._until:
            self._renew()
        return self._value

    def _renew(self) -> None:
        host = os.environ.get("GCE_METADATA_HOST") or METADATA
        connection = http.client.HTTPConnection(host, timeout=TIMEOUT_S)
        try:
            connection.request("GET", TOKEN_PATH, headers={"Metadata-Flavor": "Google"})
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status != 200:
            raise BucketError(f"the metadata server gave no token: {response.status}")
        said = json.loads(body)
        self._value = said["access_token"]
        self._until = time.monotonic() + float(said["expires_in"]) - self.EARLY_S


def _said(answer: Answer) -> str:
    try:
        message = json.loads(answer.body)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = answer.body[:200].decode("utf-8", "replace")
    return f"{answer.status} {message}".strip()
