"""A twin in this process behind httpx: our own Google clients ask it, and no socket is opened.

Must not know a test.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from doors import TOKEN, House
from windlass.google.credentials import FixedBearer
from windlass.google.session import Session


def session_of(house: House, *, token: str = TOKEN) -> Session:
    """A session whose every call the house answers."""
    return Session(client_of(house), FixedBearer(token))


def client_of(house: House) -> httpx.Client:
    """The transport alone."""

    def answer(request: httpx.Request) -> httpx.Response:
        query = request.url.query.decode()
        path = request.url.raw_path.decode().partition("?")[0]
        headers = {
            name: value
            for name, value in request.headers.items()
            if name not in ("host", "authorization", "content-length", "accept-encoding")
        }
        response = house.send(
            request.method,
            request.url.host,
            f"{path}?{query}" if query else path,
            request.content or None,
            token=request.headers["authorization"].removeprefix("Bearer "),
            **headers,
        )
        content = response.content
        return httpx.Response(
            response.status, content=content if isinstance(content, bytes) else b"".join(content)
        )

    return httpx.Client(transport=httpx.MockTransport(answer))


def make_bucket(house: House, name: str, **fields: Any) -> None:
    """A bucket of the project; needs a house with a folder."""
    body = {"name": name, **fields}
    path = "/storage/v1/b?project=twin-project"
    response = house.send(
        "POST",
        "storage.googleapis.com",
        path,
        json.dumps(body).encode(),
        content_type="application/json",
    )
    assert response.status == 200, response


def furnished(folder: Path) -> House:
    """A house with buckets."""
    return House(folder=folder)
