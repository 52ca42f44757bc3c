"""A private PostgreSQL server from the installed binaries, in a temporary folder.

Must not touch a server that runs already: its own folder, its own socket, no network.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg

SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "16MB",
    "max_connections": "40",
}
START_S = 30.0
PR_SET_PDEATHSIG = 1


class PostgresServer:
    """A server that is up; each test gets a schema of its own."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._numbers = itertools.count(1)

    def url(self, *, schema: str = "", database: str = "postgres") -> str:
        """The URL of a schema of a database."""
        url = f"postgresql://windlass@/{database}?host={quote(self.folder, safe='')}"
        return f"{url}&options={quote(f'-csearch_path={schema}')}" if schema else url

    def fresh_url(self) -> str:
        """The URL of a schema that nobody has used yet."""
        schema = f"s{next(self._numbers)}"
        self.execute(f"CREATE SCHEMA {schema}")
        return self.url(schema=schema)

    def execute(self, sql: str) -> list[tuple[object, ...]]:
        """Run a statement beside the stores, as an operator would."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []


def binaries() -> Path | None:
    """The folder that holds `initdb` and `postgres`; None where PostgreSQL is not installed."""
    on_path = shutil.which("initdb")
    # `postgres` looks for its files beside where it really is.
    candidates = [Path(on_path).resolve().parent] if on_path else []
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    candidates += sorted(Path("/usr").glob("pgsql-*/bin"), reverse=True)
    complete = (c for c in candidates if (c / "initdb").exists() and (c / "postgres").exists())
    return next(complete, None)


@contextlib.contextmanager
def running_server(programs: Path) -> Iterator[PostgresServer]:
    """Start a server; stop it and remove all of it at the end, however that comes."""
    # Not under pytest's folder: PostgreSQL's own user may not enter it, and the path of a Unix
    # socket has room for a hundred bytes.
    folder = Path(tempfile.mkdtemp(prefix="wl-pg-"))
    try:
        account = _unprivileged()
        if account is not None:
            os.chown(folder, account.pw_uid, account.pw_gid)
        _initialise(programs, folder, account)
        with _running(programs, folder, account):
            yield PostgresServer(str(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom to run as: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _options(folder: Path, account: pwd.struct_passwd | None) -> dict[str, object]:
    options: dict[str, object] = {
        "cwd": folder,
        # Nothing of the test's environment: the server outlives the test that starts it.
        "env": {"PATH": os.defpath, "LC_ALL": "C"},
        "stdin": subprocess.DEVNULL,
    }
    if account is not None:
        options.update(user=account.pw_uid, group=account.pw_gid, extra_groups=[])
    return options


def _initialise(programs: Path, folder: Path, account: pwd.struct_passwd | None) -> None:
    command = [programs / "initdb", "-D", folder / "data", "-U", "windlass", "-A", "trust"]
    command += ["--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C"]
    subprocess.run(command, check=True, capture_output=True, **_options(folder, account))


@contextlib.contextmanager
def _running(programs: Path, folder: Path, account: pwd.struct_passwd | None) -> Iterator[None]:
    command = [programs / "postgres", "-D", folder / "data", "-k", folder]
    command += [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
    log_path = folder / "log"
    with log_path.open("wb") as log:
        server = subprocess.Popen(
            command, stdout=log, stderr=log, preexec_fn=_end_with_us, **_options(folder, account)
        )
    try:
        _await(server, folder, log_path)
        yield
    finally:
        server.send_signal(signal.SIGINT)  # "Fast": does not wait for clients to leave.
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _end_with_us() -> None:
    """Let the kernel stop the server when pytest is killed and cannot."""
    if hasattr(ctypes.CDLL(None), "prctl"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def _await(server: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            psycopg.connect(PostgresServer(str(folder)).url()).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text(errors='replace')}")
