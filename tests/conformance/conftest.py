"""The stores that the suite runs over: an SQLite file, and a schema of a private PostgreSQL.

Must not hold tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance.postgres import PostgresServer, binaries, running_server
from windlass.state.open_store import open_store
from windlass.state.store import Store


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    programs = binaries()
    if programs is None:
        reason = "PostgreSQL's programs (initdb, postgres) are not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with running_server(programs) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def fresh_urls(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[int], list[str]]:
    """Gives URLs of stores that nobody has opened yet, once for each kind of store."""
    if request.param == "sqlite":
        return lambda count: [f"sqlite://{tmp_path}/{n}/store.db" for n in range(count)]
    server = request.getfixturevalue("postgres_server")
    return lambda count: [server.fresh_url() for _ in range(count)]


@pytest.fixture
def store_url(fresh_urls: Callable[[int], list[str]]) -> str:
    """The URL of a store that nobody has opened yet."""
    return fresh_urls(1)[0]


@pytest.fixture
def connect(store_url: str) -> Iterator[Callable[[], Store]]:
    """Opens the store once more, as another process would; closed at the end of the test."""
    opened: list[Store] = []

    def open_once_more() -> Store:
        opened.append(open_store(store_url))
        return opened[-1]

    yield open_once_more
    for store in opened:
        store.close()


@pytest.fixture
def store(connect: Callable[[], Store]) -> Store:
    return connect()
