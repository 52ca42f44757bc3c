"""Which processes a machine is, written beside its disk so that a later twin finds it again.

Must not trust a process id alone: ids are used again, so the time it began and the boot count too.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

RUNNING = "running.json"
EXITED = "exited.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One process of this boot of the host, for ever."""

    pid: int
    began: int
    boot: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A started machine."""

    supervisor: Identity
    init: Identity
    address: str


def identity(pid: int) -> Identity:
    """Who has this process id now."""
    return Identity(pid=pid, began=_stat(pid)[1], boot=_boot())


def is_running(who: Identity) -> bool:
    """Whether it is still that process, and not a dead one nobody has asked about."""
    try:
        state, began = _stat(who.pid)
    except (OSError, ValueError, IndexError):
        return False
    return began == who.began and state not in ("Z", "X") and who.boot == _boot()


def _stat(pid: int) -> tuple[str, int]:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[19])


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def write(folder: Path, record: Record) -> None:
    """Remember a machine."""
    _replace(folder / RUNNING, json.dumps(asdict(record)))


def read(folder: Path) -> Record | None:
    """The machine that was started last in this folder, if one ever was."""
    try:
        value = json.loads((folder / RUNNING).read_text())
        return Record(
            supervisor=Identity(**value["supervisor"]),
            init=Identity(**value["init"]),
            address=value["address"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_exit(folder: Path, status: int) -> None:
    """Remember how it ended."""
    _replace(folder / EXITED, json.dumps({"status": status}))


def read_exit(folder: Path) -> int | None:
    """How the last start ended, if it did."""
    try:
        return int(json.loads((folder / EXITED).read_text())["status"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _replace(path: Path, text: str) -> None:
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)
