"""Cloud Storage over HTTPS with nothing but the standard library: one connection that is kept open.

Must not know what is stored. Python 3.9. What fails and may work next time is tried again for as
long as the caller says; what is left is an OSError, as of a disk.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import random
import ssl
import time
from typing import Callable, Dict, NamedTuple, Optional, Tuple, Union
from urllib.parse import quote, unquote, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

HOST = "storage.googleapis.com"
PATIENCE_S = 5.0
"""How long one request may take, all tries together. An agent beats between two of them, and must
notice in time that its lease runs out."""
TRY_S = 5.0
SHORTEST_TRY_S = 1.0
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 8.0
REST_S = 1.0
"""After a request that got no answer in all its time, others fail at once for this long: a loop
that has ten things to write must not wait ten times."""
RETRIED = frozenset({408, 429, 500, 502, 503, 504})

Token = Callable[[bool], str]
"""A bearer token; a new one when asked anew."""


class BucketError(OSError):
    """Cloud Storage said no, or nothing."""

    def __init__(self, what: str, *, status: int = 0) -> None:
        super().__init__(what)
        self.status = status
        """What it said; 0 when it said nothing."""


class Answer(NamedTuple):
    """What Cloud Storage said."""

    status: int
    headers: Dict[str, str]
    body: bytes
    is_repeated: bool = False
    """Whether an earlier try may have been carried out though its answer was lost."""


class Ask(NamedTuple):
    """One request."""

    method: str
    path: str
    query: Dict[str, str]
    body: Union[bytes, memoryview] = b""
    headers: Optional[Dict[str, str]] = None


class Storage:
    """Requests to Cloud Storage, one after the other."""

    def __init__(self, token: Token, *, patience_s: float = PATIENCE_S) -> None:
        self.patience_s = patience_s
        self._token = token
        # Whoever has time to wait, waits longer for a single answer too.
        self._line = _Line(max(TRY_S, patience_s / 3))
        self._rests_until = float("-inf")
        self._trouble = ""

    def ask(self, ask: Ask, *, fine: Tuple[int, ...] = (200,), is_once: bool = False) -> Answer:
        """The answer, if its status is one of the fine ones; with `is_once`, of a single try.

        Raises:
            BucketError: another status, or no answer in the time there is.
        """
        if time.monotonic() < self._rests_until:
            raise BucketError(self._trouble)
        until = time.monotonic() + self.patience_s
        pause = FIRST_PAUSE_S
        is_anew = is_repeated = False
        while True:
            answer, problem = self._try(ask, until=until, is_anew=is_anew)
            if answer is not None and answer.status in fine:
                return answer._replace(is_repeated=is_repeated or answer.is_repeated)
            if problem.status == 401 and not is_anew:
                is_anew = True
                continue
            if problem.status and problem.status not in RETRIED:
                raise problem
            if is_once:
                raise problem
            if time.monotonic() + pause > until:
                self._give_up(problem)
                raise problem
            is_repeated = True
            # Nodes of a gang fail together; they should not all come back at the same moment.
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, LONGEST_PAUSE_S)

    def close(self) -> None:
        """Hang up; the next request calls again."""
        self._line.close()

    def _try(
        self, ask: Ask, *, until: float, is_anew: bool
    ) -> "Tuple[Optional[Answer], BucketError]":
        what = f"{ask.method} {ask.path}"
        try:
            headers = {"Authorization": f"Bearer {self._token(is_anew)}", **(ask.headers or {})}
            answer = self._line.send(ask, headers, until=until)
        except (OSError, http.client.HTTPException) as exc:
            self._line.close()
            return None, BucketError(f"{what}: {exc!s} ({type(exc).__name__})")
        return answer, BucketError(f"{what}: {_said(answer)}", status=answer.status)

    def _give_up(self, problem: BucketError) -> None:
        if problem.status == 0:
            self._trouble = str(problem)
            self._rests_until = time.monotonic() + REST_S


class _Line:
    """The connection, which is opened again when it has gone."""

    def __init__(self, try_s: float) -> None:
        self._try_s = try_s
        self._connection: Optional[http.client.HTTPConnection] = None
        self._owner = 0
        self._context: Optional[ssl.SSLContext] = None

    def __del__(self) -> None:
        self._leave_to_parent()
        self.close()

    def send(self, ask: Ask, headers: Dict[str, str], *, until: float) -> Answer:
        target = ask.path
        if ask.query:
            target += ("&" if "?" in target else "?") + urlencode(ask.query)
        self._leave_to_parent()
        is_kept = self._connection is not None
        try:
            return self._exchange(ask._replace(path=target), headers, until=until)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # A connection that was kept open too long is closed without a word; whether a
            # request on it was carried out is for the caller's preconditions to settle.
            self.close()
            if not is_kept:
                raise
        answer = self._exchange(ask._replace(path=target), headers, until=until)
        return answer._replace(is_repeated=True)

    def _exchange(self, ask: Ask, headers: Dict[str, str], *, until: float) -> Answer:
        if self._connection is None:
            if self._context is None:
                self._context = ssl.create_default_context()
            self._connection = connect(self._context, timeout_s=self._left(until))
            self._owner = os.getpid()
        connection = self._connection
        if connection.sock is not None:
            connection.sock.settimeout(self._left(until))
        connection.request(ask.method, ask.path, body=ask.body or None, headers=headers)
        response = connection.getresponse()
        body = response.read()
        found = {name.lower(): value for name, value in response.getheaders()}
        if response.will_close:
            self.close()
        return Answer(response.status, found, body)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _left(self, until: float) -> float:
        return min(self._try_s, max(SHORTEST_TRY_S, until - time.monotonic()))

    def _leave_to_parent(self) -> None:
        """After a fork the connection is the parent's: two that talk on one would garble it. Its
        number may by now be another file of ours, so that it must not be closed either."""
        connection = self._connection
        if connection is not None and self._owner != os.getpid():
            if connection.sock is not None:
                connection.sock.detach()
            self._connection = None


def object_path(bucket: str, name: str, *, prefix: str = "/storage/v1") -> str:
    """The path of an object in the JSON API."""
    return f"{prefix}/b/{quote(bucket, safe='')}/o/{quote(name, safe='')}"


def connect(context: ssl.SSLContext, *, timeout_s: float = TRY_S) -> http.client.HTTPConnection:
    """A connection to Cloud Storage, or its emulator, through the proxy that the environment
    names."""
    emulator = os.environ.get("STORAGE_EMULATOR_HOST")
    if emulator:
        split = urlsplit(emulator if "://" in emulator else f"http://{emulator}")
        if split.scheme == "http":
            return http.client.HTTPConnection(split.netloc, timeout=timeout_s)
        return http.client.HTTPSConnection(split.netloc, timeout=timeout_s, context=context)
    proxy = getproxies().get("https")
    if not proxy or proxy_bypass(HOST):
        return http.client.HTTPSConnection(HOST, timeout=timeout_s, context=context)
    split = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    connection = http.client.HTTPSConnection(
        split.hostname or "", split.port or 3128, timeout=timeout_s, context=context
    )
    connection.set_tunnel(HOST, 443, headers=_proxy_login(split.username, split.password))
    return connection


def _proxy_login(user: Optional[str], password: Optional[str]) -> Dict[str, str]:
    if user is None:
        return {}
    pair = f"{unquote(user)}:{unquote(password or '')}".encode()
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair).decode()}"}


def _said(answer: Answer) -> str:
    try:
        message = json.loads(answer.body)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = answer.body[:200].decode("utf-8", "replace")
    return f"{answer.status} {message}".strip()
