"""A service with one empty bucket, `shelf`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from buckets import Client, HandClock, open_storage
from windlass.twin.storage.service import Storage


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def storage(tmp_path, clock) -> Iterator[Storage]:
    opened = open_storage(tmp_path / "storage", clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def client(storage) -> Client:
    client = Client(storage)
    client.make_bucket()
    return client
