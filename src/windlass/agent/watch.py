"""Learning from the metadata server that this machine will be taken away, without waiting for it.

Must not decide what follows. Python 3.9, standard library only. A request hangs until the value
changes; the loop waits for the answer together with everything else.
"""

from __future__ import annotations

import selectors
import socket
from typing import Dict, NamedTuple, Optional, Tuple
from urllib.parse import quote

from windlass.agent.tokens import METADATA, PATH, metadata_host

HANG_S = 60
"""How long the server may keep a request; then it is asked again."""
SILENCE_S = 90.0
"""No answer for this long: the server has forgotten us."""
CONNECT_S = 1.0
AGAIN_S = 1.0
ANSWER_BYTES = 1 << 16


class Sign(NamedTuple):
    """A value of the metadata server that announces the end, and what it means."""

    path: str
    value: str
    reason: str


SIGNS = (
    Sign("instance/preempted", "TRUE", "the machine was preempted"),
    Sign(
        "instance/maintenance-event",
        "TERMINATE_ON_HOST_MAINTENANCE",
        "the machine's host goes into maintenance",
    ),
)


class Watches:
    """All signs of one machine. The loop calls `turn` when `due`, and `read` for its sockets."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._watches = [_Watch(sign, selector) for sign in SIGNS]

    def due(self) -> float:
        """When `turn` has something to do."""
        return min(watch.due for watch in self._watches)

    def turn(self, now: float) -> None:
        """Ask where nothing is asked at present."""
        for watch in self._watches:
            if now >= watch.due:
                watch.ask(now)

    def read(self, number: int, now: float) -> Optional[str]:
        """Take what a socket has; why the machine will be taken away, when it says so."""
        for watch in self._watches:
            if watch.holds(number):
                return watch.read(now)
        return None


class _Watch:
    def __init__(self, sign: Sign, selector: selectors.BaseSelector) -> None:
        self._sign = sign
        self._selector = selector
        self._socket: Optional[socket.socket] = None
        self._said = b""
        self._tag = ""
        self._asked_at = float("-inf")
        self.due = float("-inf")

    def holds(self, number: int) -> bool:
        return self._socket is not None and self._socket.fileno() == number

    def ask(self, now: float) -> None:
        self._hang_up()
        self._asked_at = now
        try:
            self._socket = socket.create_connection(_address(), timeout=CONNECT_S)
            self._socket.sendall(self._request())
            self._socket.setblocking(False)
        except OSError:
            self._hang_up()
            self.due = now + AGAIN_S
            return
        self._selector.register(self._socket, selectors.EVENT_READ)
        self.due = now + SILENCE_S

    def read(self, now: float) -> Optional[str]:
        assert self._socket is not None
        try:
            data = self._socket.recv(ANSWER_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        self._said += data
        if data and len(self._said) < ANSWER_BYTES:
            return None
        status, headers, body = _parsed(self._said)
        self._hang_up()
        if status == 200:
            self._tag = headers.get("etag", "")
            if body.strip() == self._sign.value:
                self.due = float("inf")  # There is no more to know.
                return self._sign.reason
        # At once when it has hung for a while; a server that does not know how to is not pestered.
        self.due = max(now, self._asked_at + AGAIN_S)
        return None

    def _request(self) -> bytes:
        query = ""
        if self._tag:  # The first time, the value as it is now.
            query = f"?wait_for_change=true&timeout_sec={HANG_S}&last_etag={quote(self._tag)}"
        return (
            f"GET {PATH}{self._sign.path}{query} HTTP/1.1\r\nHost: {METADATA}\r\n"
            "Metadata-Flavor: Google\r\nConnection: close\r\n\r\n"
        ).encode()

    def _hang_up(self) -> None:
        self._said = b""
        if self._socket is None:
            return
        try:
            self._selector.unregister(self._socket)
        except KeyError:
            pass  # It was never connected.
        self._socket.close()
        self._socket = None


def _address() -> Tuple[str, int]:
    host, _, port = metadata_host().partition(":")
    return host, int(port or 80)


def _parsed(said: bytes) -> Tuple[int, Dict[str, str], str]:
    """Status, headers and body; status 0 for what is no whole answer."""
    head, gap, body = said.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    words = first.split()
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in rest)
    }
    length = headers.get("content-length", str(len(body)))
    if not gap or len(words) < 2 or not words[1].isdecimal() or str(len(body)) != length:
        return 0, {}, ""
    return int(words[1]), headers, body.decode("utf-8", "replace")
