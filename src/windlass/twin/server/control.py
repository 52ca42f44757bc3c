"""Starts, asks, stops and empties the twin of a home folder, from outside of it.

Must not be the twin: it runs in the command's process, and the twin in one of its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windlass.errors import OptionRefused, TwinFailed, TwinNotUp, TwinPortTaken
from windlass.ports.process import Processes
from windlass.twin.machines.machines import Machines
from windlass.twin.server.home import Options, Running, TwinHome, is_process

START_S = 60.0
STOP_S = 20.0
ANSWER_S = 10.0
TAIL_LINES = 20
STATE = ("state.db", "state.db-wal", "state.db-shm", "objects", "machines", "kubeconfig")
"""What `reset` removes. Token, certificates and clients' files stay: shells go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How a twin is wanted: only what was said."""

    port: int | None = None
    speed: float | None = None
    seed: int | None = None
    delays: str | None = None
    live: int | None = None
    scenario: str | None = None
    record: str | None = None

    def options(self, last: Options | None) -> Options:
        """All of it. A seed belongs to the state, so that it stays; the rest is said each time."""
        usual = Options(seed=last.seed if last else 0)
        said = {
            name: value for name in Options.__slots__ if (value := getattr(self, name)) is not None
        }
        return Options(**{name: said.get(name, getattr(usual, name)) for name in Options.__slots__})

    def differs(self, running: Running) -> list[str]:
        """What was said and is not so."""
        names = [
            name
            for name in Options.__slots__
            if getattr(self, name) not in (None, getattr(running.options, name))
        ]
        return names + (["port"] if self.port not in (None, running.port) else [])


def start(home: TwinHome, wish: Wish, *, environment: Mapping[str, str]) -> tuple[Running, bool]:
    """See to it that the twin is up; whether it was started just now."""
    home.make()
    with _one_at_a_time(home):
        if home.running() is not None:
            running = running_or_refuse(home)
            _refuse_change(wish, running)
            return running, False
        return _start(home, wish, environment), True


def _start(home: TwinHome, wish: Wish, environment: Mapping[str, str]) -> Running:
    argv = command(home, wish)
    processes = Processes()
    since = home.log.stat().st_size if home.log.exists() else 0
    pid = processes.spawn(argv, env=dict(environment), output=home.log)
    deadline = time.monotonic() + START_S
    while (running := _answering(home, pid)) is None:
        if not processes.is_running(pid):
            raise _failed(home, since, "the twin ended before it was up")
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            raise _failed(home, since, f"the twin did not answer within {START_S:.0f} s")
        time.sleep(0.02)
    return running


def command(home: TwinHome, wish: Wish) -> list[str]:
    """How the twin's process is called."""
    last = home.last()
    options = wish.options(last.options if last else None)
    argv = [sys.executable, "-m", "windlass.twin.server.main", "--home", str(home.path)]
    argv += ["--port", str(_port(wish, last))]
    for name in Options.__slots__:
        argv += [f"--{name}", str(getattr(options, name))]
    return argv


def running_or_refuse(home: TwinHome) -> Running:
    """The twin that runs and answers; TwinNotUp when there is none."""
    running = home.running()
    if running is not None and _listens(running.port):
        return running
    said = "is not up" if running is None else "runs, but does not answer"
    raise TwinNotUp(
        f"the twin of {home.path} {said}",
        remedy="Start it with `windlass twin up`."
        if running is None
        else f"See {home.log}; `windlass twin down` ends it.",
    )


def status(home: TwinHome, running: Running) -> dict[str, Any]:
    """What the twin says about itself."""
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=ANSWER_S)
    try:
        headers = {"Authorization": f"Bearer {home.token()}"}
        connection.request("GET", "/twin/v1/status", headers=headers)
        answer = connection.getresponse()
        document = json.loads(answer.read())
    except (OSError, ValueError, http.client.HTTPException) as exc:
        raise TwinNotUp(
            f"the twin of {home.path} does not answer: {exc}",
            remedy=f"See {home.log}; `windlass twin down` ends it.",
        ) from exc
    finally:
        connection.close()
    if answer.status != 200 or not isinstance(document, dict):
        raise TwinNotUp(
            f"the twin of {home.path} answers with status {answer.status}",
            remedy=f"See {home.log}; `windlass twin down` ends it.",
        )
    return document


def stop(home: TwinHome) -> bool:
    """End the twin and its machines; False when there was none."""
    running = home.running()
    if running is None:
        _end_survivors(home)
        return False
    os.kill(running.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_S
    while is_process(running.pid, running.began) and home.is_taken():
        if time.monotonic() > deadline:
            raise TwinFailed(
                f"the twin (process {running.pid}) does not end",
                remedy=f"See {home.log}; end it with `kill -9 {running.pid}`: it loses nothing.",
            )
        time.sleep(0.02)
    _end_survivors(home)
    return True


def reset(home: TwinHome, *, environment: Mapping[str, str]) -> Running | None:
    """Forget everything that the twin was told. If it was up, it is up again afterwards."""
    home.make()
    with _one_at_a_time(home):
        running = home.running()
        stop(home)
        machines = Machines(home.path)
        for folder in home.machines.glob("[!.]*"):
            machines.delete(folder.name)
        for name in STATE:
            path = home.path / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        if running is None:
            return None
        options = {name: getattr(running.options, name) for name in Options.__slots__}
        return _start(home, Wish(port=running.port, **options), environment)


def _end_survivors(home: TwinHome) -> None:
    """A twin that was killed leaves its machines running, for the next one to take over."""
    if home.is_taken():
        return  # One is just coming up, and they are its own.
    machines = Machines(home.path)
    for name in machines.live():
        machines.kill(name)


@contextlib.contextmanager
def _one_at_a_time(home: TwinHome) -> Iterator[None]:
    """Of two commands that start a twin, the second finds what the first has started."""
    lock = os.open(home.path / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _refuse_change(wish: Wish, running: Running) -> None:
    names = wish.differs(running)
    if names:
        said = ", ".join(f"--{name}" for name in names)
        raise OptionRefused(
            f"the twin is up already, with another {said}",
            remedy="Stop it with `windlass twin down` and start it again; it keeps its state.",
        )


def _port(wish: Wish, last: Running | None) -> int:
    """The one that was asked for, or the last one, so that shells of before go on."""
    if wish.port:
        if not _is_free(wish.port):
            raise TwinPortTaken(
                f"port {wish.port} of 127.0.0.1 is taken",
                remedy="Give another one with `--port`, or none: the twin finds a free one.",
            )
        return wish.port
    return last.port if last is not None and _is_free(last.port) else 0


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _answering(home: TwinHome, pid: int) -> Running | None:
    running = home.running()
    if running is None or running.pid != pid or not _listens(running.port):
        return None
    return running


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S).close()
    except OSError:
        return False
    return True


def _failed(home: TwinHome, since: int, what: str) -> TwinFailed:
    return TwinFailed(
        what,
        context=_tail(home.log, since),
        remedy=f"The whole log is {home.log}; `windlass twin up --foreground` shows it live.",
    )


def _tail(path: Path, since: int) -> str:
    """The last lines that were written after this."""
    try:
        with path.open("rb") as file:
            file.seek(max(since, path.stat().st_size - (1 << 16)))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-TAIL_LINES:])
