"""The folder of a twin: what is where, who runs it, and the token that opens it.

Must not start or stop anything.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from windlass.errors import HomeUnusable
from windlass.twin.server.files import write_private
from windlass.twin.settings import Settings

PROJECT = Settings().project
ASKING_S = 1.0
"""Whoever asks whether a twin runs holds its lock for an instant; a new one waits that out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a twin was asked to be."""

    speed: float = 1.0
    seed: int = 0
    delays: str = "short"
    live: int = 16
    scenario: str = ""
    """The scenario's file."""
    record: str = ""
    """A file that every request and answer is written to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A twin that runs, or the last one that did."""

    pid: int
    began: float
    """When the process was born, as its system counts; with its id it names it for ever."""
    port: int
    started: float
    version: str
    options: Options
    project: str = PROJECT

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"


class TwinHome:
    """One twin's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @property
    def database(self) -> Path:
        """What the twin has promised."""
        return self.path / "state.db"

    @property
    def objects(self) -> Path:
        """Contents of buckets."""
        return self.path / "objects"

    @property
    def machines(self) -> Path:
        """Disks and consoles of machines."""
        return self.path / "machines"

    @property
    def gcloud(self) -> Path:
        """gcloud's own folder (CLOUDSDK_CONFIG)."""
        return self.path / "gcloud"

    @property
    def bin(self) -> Path:
        """Programs that stand before those of the machine."""
        return self.path / "bin"

    @property
    def authority(self) -> Path:
        """The certificate that clients are to trust."""
        return self.path / "ca.crt"

    @property
    def credentials(self) -> Path:
        """A service account's key for Google's SDKs."""
        return self.path / "adc.json"

    @property
    def kubeconfig(self) -> Path:
        """Where clusters are written to."""
        return self.path / "kubeconfig"

    @property
    def boto(self) -> Path:
        """gsutil's configuration."""
        return self.path / "boto"

    @property
    def log(self) -> Path:
        """What the twin had to say."""
        return self.path / "log"

    def make(self) -> None:
        """See to it that the folders are there."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.chmod(0o700)
            for folder in (self.objects, self.machines, self.gcloud, self.bin):
                folder.mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise HomeUnusable(
                f"the twin's folder {self.path} cannot be made: {error.strerror}",
                remedy="Set WINDLASS_HOME to a folder that you can write.",
            ) from error

    def token(self) -> str:
        """What every request must carry; made once, and not to be guessed."""
        path = self.path / "token"
        try:
            kept = path.read_text().strip()
        except FileNotFoundError:
            kept = ""
        if not kept:
            kept = f"twin-{secrets.token_urlsafe(32)}"
            write_private(path, f"{kept}\n")
        return kept

    # ---- who runs it -----------------------------------------------------------------------

    def take(self) -> bool:
        """Become this folder's twin; False when there is one. Ends with the process.

        A lock of the process, not of the file: programs that the twin starts do not share it, so
        what survives a killed twin does not keep the next one out.
        """
        lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + ASKING_S
        while not _try_lock(lock, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                os.close(lock)
                return False
            time.sleep(0.01)
        self._lock = lock
        return True

    def release(self) -> None:
        """Let the next one in."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def is_taken(self) -> bool:
        """Whether a twin runs, or starts or ends just now."""
        try:
            lock = os.open(self.path / "lock", os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            return not _try_lock(lock, fcntl.LOCK_SH)
        finally:
            os.close(lock)

    def announce(
        self, port: int, options: Options, *, version: str, project: str = PROJECT
    ) -> None:
        """Tell everybody where we listen."""
        document = {
            "pid": os.getpid(),
            "began": birth(os.getpid()),
            "port": port,
            "started": time.time(),
            "version": version,
            "project": project,
            **asdict(options),
        }
        write_private(self.path / "twin.json", json.dumps(document, indent=2) + "\n")

    def last(self) -> Running | None:
        """The twin that runs, or the last one that did."""
        try:
            document: dict[str, Any] = json.loads((self.path / "twin.json").read_text())
            return Running(
                pid=int(document["pid"]),
                began=float(document["began"]),
                port=int(document["port"]),
                started=float(document["started"]),
                version=str(document["version"]),
                project=str(document.get("project", PROJECT)),
                options=Options(
                    **{name: document[name] for name in Options.__slots__ if name in document}
                ),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def running(self) -> Running | None:
        """The twin that runs. A file that a killed one left behind is not believed."""
        last = self.last()
        if last is None or not self.is_taken():
            return None
        return last if is_process(last.pid, last.began) else None


def birth(pid: int) -> float:
    """When a process was born, as its system counts; 0 where that is not told or it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    return float(text.rpartition(")")[2].split()[19])


def is_process(pid: int, began: float) -> bool:
    """Whether that very process is alive: ids are used again."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # It is alive, and somebody else's.
    return not began or birth(pid) == began


def _try_lock(lock: int, kind: int) -> bool:
    try:
        fcntl.lockf(lock, kind | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
