"""Cloud Storage of the twin for tests: a service in a folder, and a client without sockets.

Must not know a test.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from windlass.ports.entropy import SeededEntropy
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.check import check
from windlass.twin.messages import Body, Bytes, FilePart, Request, Response
from windlass.twin.storage.service import Storage

START = 1_800_000_000.0
BASE = "http://127.0.0.1:8080"


class HandClock:
    """Time that passes when a test says so."""

    def __init__(self, at: float = START) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


class CutBody:
    """A body whose sender hangs up on the way."""

    def __init__(self, content: bytes) -> None:
        self._bytes = Bytes(content)

    def read(self, size: int = -1) -> bytes:
        piece = self._bytes.read(size)
        if len(piece) < size or not piece:
            raise ConnectionResetError("the client hung up")
        return piece


def open_storage(folder: Path, *, clock: HandClock | None = None, seed: int = 1) -> Storage:
    return Storage(folder, clock=clock or HandClock(), chance=SeededEntropy(seed))


def content(response: Response) -> bytes:
    """The bytes that a server would send."""
    sent = response.content
    if isinstance(sent, bytes):
        return sent
    if isinstance(sent, FilePart):
        with sent.path.open("rb") as file:
            file.seek(sent.offset)
            return file.read(sent.length)
    return b"".join(sent)


def headers(response: Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers}


class Client:
    """Asks a service as a client's library would."""

    def __init__(self, storage: Storage, *, host: str = "127.0.0.1") -> None:
        self.storage = storage
        self.host = host

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: bytes | dict[str, Any] | Body = b"",
        sent: dict[str, str] | None = None,
        **query: Any,
    ) -> Response:
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        request = Request(
            method=method,
            host=self.host,
            path=path,
            query=urlencode({key: _text(value) for key, value in query.items()}),
            headers=sent or {},
            body=Bytes(body) if isinstance(body, bytes) else body,
            base=BASE,
        )
        return self.storage.answer(request, principal="ada@example.com")

    def json(self, method: str, path: str, *, status: int = 200, **more: Any) -> Any:
        response = self.ask(method, path, **more)
        assert response.status == status, content(response)
        raw = content(response)
        answer = json.loads(raw) if raw else None
        if response.status == 200 and "fields" not in more:
            _check_answer(method, path, answer)
        return answer

    def refused(self, method: str, path: str, status: int, **more: Any) -> str:
        """The words of a refusal."""
        error = self.json(method, path, status=status, **more)["error"]
        assert error["code"] == status
        assert "status" not in error
        return error["message"]

    def make_bucket(self, name: str = "shelf", **more: Any) -> Any:
        return self.json("POST", "/storage/v1/b", project="twin", body={"name": name, **more})

    def put(
        self, name: str, body: bytes | Body = b"", *, bucket: str = "shelf", **more: Any
    ) -> Any:
        return self.json("POST", uploads(bucket), uploadType="media", name=name, body=body, **more)

    def get(self, name: str, *, bucket: str = "shelf", **more: Any) -> Any:
        return self.json("GET", place(name, bucket), **more)

    def bytes(self, name: str, *, bucket: str = "shelf", **more: Any) -> bytes:
        response = self.ask("GET", place(name, bucket), alt="media", **more)
        assert response.status in (200, 206), content(response)
        return content(response)

    def delete(self, name: str, *, bucket: str = "shelf", **query: Any) -> None:
        self.json("DELETE", place(name, bucket), status=204, **query)

    def names(self, *, bucket: str = "shelf", **query: Any) -> list[str]:
        page = self.json("GET", f"/storage/v1/b/{bucket}/o", **query)
        return [item["name"] for item in page.get("items", [])]

    def start_session(self, name: str, *, bucket: str = "shelf", **query: Any) -> str:
        """The session's id."""
        response = self.ask("POST", uploads(bucket), uploadType="resumable", name=name, **query)
        assert response.status == 200, content(response)
        return urlsplit(headers(response)["location"]).query.rpartition("upload_id=")[2]

    def send(
        self, session: str, body: bytes | Body = b"", *, span: str = "", **more: Any
    ) -> Response:
        sent = {**more.pop("sent", {}), **({"content-range": span} if span else {})}
        return self.ask("PUT", uploads("shelf"), upload_id=session, body=body, sent=sent, **more)


def _check_answer(method: str, path: str, answer: Any) -> None:
    """Every answer is what Google's own document says that it is."""
    api = load_api("storage", "v1")
    match = api.match(method, path)
    assert match is not None, f"Google has no {method} {path}"
    schema = match.method.response
    if schema is not None and answer is not None:
        assert check(api, schema, answer, answer=True) == []


def place(name: str, bucket: str = "shelf") -> str:
    return f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}"


def uploads(bucket: str = "shelf") -> str:
    return f"/upload/storage/v1/b/{bucket}/o"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
