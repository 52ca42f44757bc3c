"""The twin's one port: takes clients in, each in a thread of its own, and lets them go at the end.

Must not listen anywhere but on loopback.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import ssl
import sys
import threading
import time
from typing import TextIO

from windlass.errors import OptionRefused, TwinPortTaken
from windlass.twin.server.connection import Admits, Connection, Handler, Site
from windlass.twin.server.stream import Limits

BACKLOG = 512
FULL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Server:
    """Listens on one loopback address and port."""

    def __init__(
        self,
        handler: Handler,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        limits: Limits | None = None,
        log: TextIO | None = None,
    ) -> None:
        self.admits: Admits | None = None
        """Whom to let in, by where they are and where they came; everybody unless it is set."""
        self._socket = _listen(address, port)
        self.port: int = self._socket.getsockname()[1]
        self._site = Site(
            handler=handler,
            tls=tls,
            limits=limits or Limits(),
            log=log or sys.stderr,
            own=f"[{address}]:{self.port}" if ":" in address else f"{address}:{self.port}",
        )
        self._connections: set[Connection] = set()
        self._lock = threading.Lock()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._accept, name="twin-accept", daemon=True)

    def start(self) -> None:
        """Take clients in from now on."""
        self._thread.start()

    def stop(self, *, patience_s: float = 5.0) -> None:
        """Take nobody in any more, and wait for the answers that are under way."""
        self._is_stopping = True
        with contextlib.suppress(OSError):  # Some systems wake accept when it is closed instead.
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        deadline = time.monotonic() + patience_s
        while True:
            with self._lock:
                left = list(self._connections)
            if not left or time.monotonic() > deadline:
                return
            for connection in left:  # All know it before the first of them notices.
                connection.is_ending = True
            for connection in left:
                connection.end()
            time.sleep(0.01)

    def _accept(self) -> None:
        while not self._is_stopping:
            try:
                sock, _ = self._socket.accept()
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    time.sleep(0.1)  # Somebody will hang up; until then nobody else fits in.
                    continue
                if error.errno == errno.ECONNABORTED:
                    continue
                return
            self._take_in(sock)

    def _take_in(self, sock: socket.socket) -> None:
        connection = Connection(sock, self._site)
        with self._lock:
            is_full = len(self._connections) >= self._site.limits.connections
            if not is_full:
                self._connections.add(connection)
        if is_full:
            _turn_away(sock)
            return
        thread = threading.Thread(
            target=self._serve, args=(connection,), name="twin-client", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # The system has no room for another thread.
            with self._lock:
                self._connections.discard(connection)
            _turn_away(sock)

    def _serve(self, connection: Connection) -> None:
        try:
            if self.admits is None or connection.is_admitted(self.admits):
                connection.serve()
        finally:
            with self._lock:
                self._connections.discard(connection)


def _turn_away(sock: socket.socket) -> None:
    """There is no room; nothing that goes wrong with this client may hurt the others."""
    with sock, contextlib.suppress(OSError):
        sock.settimeout(1.0)
        sock.send(FULL)


def _listen(address: str, port: int) -> socket.socket:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        parsed = None
    if parsed is None or not parsed.is_loopback:
        raise OptionRefused(
            f"the twin cannot listen on {address}: it is no loopback address",
            remedy="Use 127.0.0.1 or ::1. The twin is for this machine alone.",
        )
    family = socket.AF_INET6 if parsed.version == 6 else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise TwinPortTaken(
            f"port {port} of {address} cannot be had: {error.strerror}",
            remedy="Give another one with `--port`, or none: the twin finds a free one.",
        ) from error
    return listening
