"""Opens the store that a URL names.

Must not choose a URL: that is configuration, and its caller's.
"""

from __future__ import annotations

from pathlib import PurePath

from windlass.errors import OptionRefused, ToolMissing
from windlass.state.sqlite_store import MEMORY, open_sqlite
from windlass.state.store import Store

SQLITE = "sqlite://"
POSTGRES = ("postgresql://", "postgres://")


def open_store(url: str) -> Store:
    """Open the store, and make it when it is not there.

    `sqlite:///path/to/file` is taken as it is written: no sign in the path has a meaning.
    """
    if url.startswith(SQLITE):
        return _open_file(url.removeprefix(SQLITE))
    if url.startswith(POSTGRES):
        return _open_server(url)
    # The rest of the URL may hold a password.
    raise OptionRefused(
        f"a store's URL cannot begin with {url.partition(':')[0][:20]!r}",
        remedy="Use sqlite:///path/to/file or postgresql://USER@HOST/DATABASE.",
    )


def _open_file(path: str) -> Store:
    if path != MEMORY and not PurePath(path).is_absolute():
        raise OptionRefused(
            f"the path of the store, {path!r}, is not absolute",
            remedy="Write three slashes: sqlite:///path/to/file.",
        )
    return open_sqlite(path)


def _open_server(url: str) -> Store:
    try:
        # Late: it takes 16 times as long to import as Python to start.
        from windlass.state.postgres_store import open_postgres  # noqa: PLC0415
    except ImportError as exc:
        raise ToolMissing(
            "a PostgreSQL store needs the package psycopg",
            remedy="Run `pip install 'windlass[postgres]'`.",
        ) from exc
    return open_postgres(url)
