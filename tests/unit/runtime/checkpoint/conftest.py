"""A bucket on a real socket, to which the environment leads the program that saves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bucket_server
from bucket_server import BucketServer


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BucketServer]:
    token = tmp_path / "token.json"
    token.write_text('{"access_token": "good", "expires_in": 300}')
    with bucket_server.serving(tmp_path / "cloud") as serving:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", serving.url)
        monkeypatch.setenv("WINDLASS_TOKEN_COMMAND", f"cat '{token}'")
        yield serving
