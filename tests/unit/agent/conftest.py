"""A bucket on a real socket, to which the environment leads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bucket_server
from bucket_server import URL, BucketServer
from windlass.agent.bucket import BucketFolder


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BucketServer]:
    with bucket_server.serving(tmp_path / "cloud") as serving:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", serving.url)
        yield serving


@pytest.fixture
def bucket(server: BucketServer) -> BucketFolder:
    return BucketFolder(URL, storage=bucket_server.storage())
