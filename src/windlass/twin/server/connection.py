"""One client from its first byte to its last: plain or TLS, direct or through CONNECT.

Must not open a connection to anywhere: a client that takes us for a proxy talks to the twin,
whatever host it names. Must not know what is asked.
"""

from __future__ import annotations

import socket
import ssl
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from windlass.twin.messages import Request, Response, json_response
from windlass.twin.refusals import Refusal
from windlass.twin.server.bodies import body_of, drain
from windlass.twin.server.head import Head, address, parse, split_authority
from windlass.twin.server.replies import CONTINUE, ESTABLISHED, Reply
from windlass.twin.server.stream import Gone, Limits, Malformed, Stream, set_patience

TLS_HELLO = b"\x16"
LINGER_S = 2.0
LINGER_BYTES = 64 << 20

Handler = Callable[[Request], Response]
Admits = Callable[[tuple[str, int], tuple[str, int]], bool]
"""Whether a client may ask, by its address and the one it came to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What all connections of a server share."""

    handler: Handler
    tls: ssl.SSLContext | None
    limits: Limits
    log: TextIO
    own: str
    """Our own `host:port`, for clients that do not say which host they mean."""


class Connection:
    """Serves one client."""

    def __init__(self, sock: socket.socket, site: Site) -> None:
        self._sock = sock
        self._site = site
        self._scheme = "http"
        self._fallback = site.own
        self._can_tunnel = True
        self.is_ending = False
        self.is_busy = False

    def serve(self) -> None:
        """Until the client has no more to ask."""
        try:
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            set_patience(self._sock, self._site.limits.silence_s)
            stream = self._open()
            while stream is not None:
                stream = self._next(stream)
        except OSError:
            pass  # The client has gone; there is nobody left to tell.
        finally:
            self._sock.close()

    def is_admitted(self, admits: Admits) -> bool:
        """Whether the client may ask at all; one that may not is hung up on."""
        try:
            if admits(self._sock.getpeername()[:2], self._sock.getsockname()[:2]):
                return True
        except OSError:
            pass  # It has gone already.
        self._sock.close()
        return False

    def end(self) -> None:
        """Take no more requests; the one that is being answered is answered."""
        self.is_ending = True
        if not self.is_busy:
            try:
                self._sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # It has ended by itself.

    def _open(self) -> Stream | None:
        """Start to read, behind TLS when that is what the client begins with."""
        try:
            first = self._sock.recv(1, socket.MSG_PEEK)
        except OSError:
            return None
        if first == TLS_HELLO:
            if self._site.tls is None:
                return None
            # The wrapped socket takes over; a kernel's timeout would look like a broken pipe to it.
            self._sock.settimeout(self._site.limits.head_s)
            self._sock = self._site.tls.wrap_socket(self._sock, server_side=True)
            set_patience(self._sock, self._site.limits.silence_s)
            self._scheme = "https"
            self._can_tunnel = False  # TLS inside TLS is nobody's way to Google.
        return Stream(self._sock, self._site.limits) if first else None

    def _next(self, stream: Stream) -> Stream | None:
        """Answer one request; the stream to read the next one from, or None."""
        try:
            data = stream.head()
            if data is None or self.is_ending:
                return None
            self.is_busy = True
            head = parse(data)
            if head.method == "CONNECT":
                return self._tunnel(head, stream)
            return stream if self._answer(head, stream) else None
        except Malformed as wrong:
            self._refuse(wrong)
            return None
        finally:
            self.is_busy = False

    def _tunnel(self, head: Head, stream: Stream) -> Stream | None:
        """The client takes us for a proxy: the host it wants is played by the twin, right here."""
        if not self._can_tunnel or stream.has_early:
            raise Malformed("CONNECT cannot be used like this")
        host, port = split_authority(head.target)
        self._can_tunnel = False
        self._fallback = f"[{host}]:{port or 443}" if ":" in host else f"{host}:{port or 443}"
        self._sock.sendall(ESTABLISHED)
        return self._open()

    def _answer(self, head: Head, stream: Stream) -> bool:
        """Whether the client may ask again."""
        where = address(head, scheme=self._scheme, fallback=self._fallback)
        body = body_of(head, stream, go_on=lambda: self._sock.sendall(CONTINUE))
        request = Request(
            method=head.method,
            host=where.host,
            path=where.path,
            query=where.query,
            headers=head.headers,
            body=body,
            base=where.base,
        )
        response = self._handled(request)
        if response is None or response.status == 0:
            return False
        is_drained = body.is_over or drain(body, self._site.limits.drain_bytes)
        stays = head.stays_open and is_drained and not self.is_ending
        reply = Reply(self._sock, method=head.method, stays_open=stays, is_old=head.is_old)
        stays = self._sent(reply, response, request)
        if not is_drained:
            self._linger()
        return stays

    def _handled(self, request: Request) -> Response | None:
        """The answer; None when the client has gone meanwhile, or shall get none."""
        try:
            return self._site.handler(request)
        except (Malformed, ConnectionError) as error:
            if isinstance(error, Malformed):
                raise
            return None
        except Refusal as refusal:
            return refusal.response()
        except Exception as bug:  # noqa: BLE001 - a bug in one answer must not end the server.
            self._report(request, bug)
            text = f"The twin has a bug: {type(bug).__name__}: {bug}. Its log has the traceback."
            return Refusal(500, text).response()

    def _sent(self, reply: Reply, response: Response, request: Request) -> bool:
        try:
            return reply.send(response)
        except Gone:
            return False
        except Exception as bug:  # noqa: BLE001 - half an answer is sent: all we can do is hang up.
            self._report(request, bug)
            return False

    def _report(self, request: Request, bug: Exception) -> None:
        log = self._site.log
        log.write(f"{request.method} {request.base}{request.path} went wrong\n")
        traceback.print_exception(bug, file=log)
        log.flush()

    def _refuse(self, wrong: Malformed) -> None:
        """Say what is wrong with a request, and hang up: nobody knows where the next begins."""
        body = {"error": {"code": wrong.status, "message": f"Bad request: {wrong}."}}
        reply = Reply(self._sock, method="", stays_open=False, is_old=False)
        reply.send(json_response(body, status=wrong.status))
        self._linger()

    def _linger(self) -> None:
        """Read on for a moment: hanging up on a client that still sends would destroy the answer
        on its way to it."""
        self._sock.settimeout(LINGER_S)
        if not isinstance(self._sock, ssl.SSLSocket):
            self._sock.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + LINGER_S
        left = LINGER_BYTES
        while left > 0 and time.monotonic() < deadline:
            data = self._sock.recv(1 << 16)
            if not data:
                return
            left -= len(data)
