"""Cloud Storage on a real socket for tests: the twin's, which can be told to behave badly.

Must not know a test.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from buckets import Client, open_storage
from windlass.agent.storage import Storage
from windlass.ports.clock import SystemClock
from windlass.twin.faults.door_faults import CutBody
from windlass.twin.messages import Request, Response, json_response
from windlass.twin.server.certificates import tls_context
from windlass.twin.server.listener import Server

Answers = Callable[[Request], Response]
Trouble = Callable[[Request, Answers], Response]
BUCKET = "runs"
URL = f"gs://{BUCKET}/home"


def lost_request(request: Request, answer: Answers) -> Response:
    raise ConnectionResetError("nobody has heard it")


def lost_reply(request: Request, answer: Answers) -> Response:
    answer(request)
    raise ConnectionResetError("nobody will hear the answer")


def refusal(status: int) -> Trouble:
    return lambda request, answer: json_response(
        {"error": {"code": status, "message": "not now"}}, status=status
    )


def cut_after(count: int) -> Trouble:
    """The connection breaks in the middle of what is sent."""

    def act(request: Request, answer: Answers) -> Response:
        whole = CutBody(request.body, count)
        cut = Request(
            method=request.method,
            host=request.host,
            path=request.path,
            query=request.query,
            headers=request.headers,
            body=whole,
            base=request.base,
        )
        return answer(cut)

    return act


class BucketServer:
    """Answers like Cloud Storage, with one bucket; keeps what it was asked."""

    def __init__(self, folder: Path, *, tls: bool = False) -> None:
        self._storage = open_storage(folder / "storage", clock=SystemClock())
        self.client = Client(self._storage)
        self.client.make_bucket(BUCKET)
        self.tokens: set[str] = {"good"}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._troubles: list[tuple[str, Trouble]] = []
        self.hanging = threading.Event()
        self.hanging.set()
        self._server = Server(
            self._answer, tls=tls_context(folder) if tls else None, log=io.StringIO()
        )
        self.port = self._server.port
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self.hanging.set()
        self._server.stop(patience_s=0.5)
        self._storage.close()

    def next(self, *troubles: Trouble, method: str = "") -> None:
        """What happens to the next requests (of this method), in order."""
        self._troubles += [(method, trouble) for trouble in troubles]

    @contextmanager
    def hung(self) -> Iterator[None]:
        """Nobody gets an answer meanwhile."""
        self.hanging.clear()
        try:
            yield
        finally:
            self.hanging.set()

    def names(self) -> list[str]:
        return self.client.names(bucket=BUCKET)

    def _answer(self, request: Request) -> Response:
        self.asked.append(f"{request.method} {request.path}")
        self.headers.append(dict(request.headers))
        self.hanging.wait()
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return refusal(401)(request, self._pass_on)
        for index, (method, trouble) in enumerate(self._troubles):
            if method in ("", request.method):
                del self._troubles[index]
                return trouble(request, self._pass_on)
        return self._pass_on(request)

    def _pass_on(self, request: Request) -> Response:
        return self._storage.answer(request, principal="ada@example.com")


@contextmanager
def serving(folder: Path, *, tls: bool = False) -> Iterator[BucketServer]:
    server = BucketServer(folder, tls=tls)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def good_token(is_anew: bool) -> str:
    return "good"


def storage(*, patience_s: float = 5.0) -> Storage:
    return Storage(good_token, patience_s=patience_s)
