"""The local engine's own folder: one folder a claim, so that a new controller finds everything.

Must not start or end processes. A claim is waiting, then placed, then ended; each move is one
atomic file operation.

    <home>/local/live/<claim>/request.json      it was asked for
                             /placed.json       it may start, on these GPUs
                             /cancelled.json    its end was asked for
                             /node-<k>.json     what the agent of node k reads
                             /node-<k>.lock     held by node k while it lives; filled at start
    <home>/local/ended/<claim>                  it is gone, and can never be started again
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from windlass.agent.processes import start_ticks

CANCELLED = b'{"cancelled": true}\n'


class Desk:
    """Where claims are written down."""

    def __init__(self, root: Path) -> None:
        self._live = root / "live"
        self._ended = root / "ended"
        for folder in (self._live, self._ended):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def claims(self) -> list[str]:
        """Every claim that has not ended, in the order they were asked for.

        What a kill in the middle of a submit or of an end has left is cleared away: folders that
        are being deleted, that have no request yet, or that have a tombstone already.
        """
        found = []
        for path in self._live.iterdir():
            if not path.is_dir():
                continue  # Not ours: a file manager's, say.
            if self.has_ended(path.name):
                self.end(path.name)
                continue
            try:
                asked_at = (path / "request.json").stat().st_mtime_ns
            except FileNotFoundError:
                asked_at = None
            if asked_at is None or path.name.startswith("."):
                shutil.rmtree(path, ignore_errors=True)
            else:
                found.append((asked_at, path.name))
        return [name for _, name in sorted(found)]

    def has_ended(self, claim: str) -> bool:
        """Whether the claim has been here and is gone for ever."""
        return (self._ended / claim).exists()

    def write(self, claim: str, name: str, value: Mapping[str, Any]) -> None:
        """Write one of a claim's files, whole or not at all."""
        path = self._live / claim / name
        path.parent.mkdir(exist_ok=True, mode=0o700)
        staged = path.with_name(f".{name}.{os.getpid()}")
        with open(staged, "w", encoding="utf-8", opener=_private) as file:
            json.dump(value, file)
        staged.replace(path)

    def read(self, claim: str, name: str) -> dict[str, Any] | None:
        """One of a claim's files; None when it is not there, or was torn by a loss of power."""
        try:
            found = json.loads((self._live / claim / name).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def mark(self, claim: str) -> str:
        """What every process of the claim carries in its environment: the folder of its locks."""
        return str(self._live / claim)

    def path(self, claim: str, name: str) -> Path:
        """Where one of a claim's files is."""
        return self._live / claim / name

    def end(self, claim: str) -> None:
        """The claim is gone: it leaves a tombstone, so that a late submit starts nothing."""
        (self._ended / claim).touch(mode=0o600)
        # Renamed first: a folder that is half deleted must not look like a claim.
        doomed = self._live / f".{claim}"
        with contextlib.suppress(FileNotFoundError):
            (self._live / claim).rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)

    def forget(self, claim: str) -> None:
        """Remove the tombstone of a claim whose run was removed."""
        (self._ended / claim).unlink(missing_ok=True)

    # ---- locks of nodes --------------------------------------------------------------------

    def has_started(self, claim: str, node: int) -> bool:
        """Whether the node's agent has ever taken its lock."""
        try:
            return self._lock(claim, node).stat().st_size > 0
        except FileNotFoundError:
            return False

    def is_alive(self, claim: str, node: int) -> bool:
        """Whether the node holds its lock. Only asked after it has started: see `has_started`."""
        try:
            lock = os.open(self._lock(claim, node), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False

    def keeper(self, claim: str, node: int) -> int | None:
        """The process id that the node wrote into its lock; None when that process has ended.

        Its agent holds the lock too and may outlive it, so the number alone could be another's.
        """
        said = self.read(claim, f"node-{node}.lock") or {}
        pid = said.get("pid")
        if not isinstance(pid, int) or start_ticks(pid) != said.get("started"):
            return None
        return pid

    def forbid_start(self, claim: str, node: int) -> None:
        """Take the lock of a node that has not started yet, so that it never will."""
        lock = os.open(self._lock(claim, node), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_size == 0:
                os.write(lock, CANCELLED)
        except BlockingIOError:
            return  # It has started at this very moment; it is told by signal the next time.
        finally:
            os.close(lock)

    def _lock(self, claim: str, node: int) -> Path:
        return self._live / claim / f"node-{node}.lock"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
