"""Finding the processes of a home by what they are, and killing exactly the one that was found.

Must not ask Windlass: what it believes about processes is under test. Linux only.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CONTROLLER = "controller"
KEEPER = "keeper"
AGENT = "agent"
RANK = "rank"
OTHER = "other"


class Victim(NamedTuple):
    """A living process of Windlass; `began` tells it from a later one with the same id."""

    pid: int
    began: int
    role: str
    node: int = -1
    rank: int = -1


def controllers(home: Path) -> list[Victim]:
    """Every process that is, or is about to become, the controller of this home."""
    return [
        Victim(found.pid, found.began, CONTROLLER)
        for found in _living()
        if _is_controller(found, home)
    ]


def gang(claim: str) -> list[Victim]:
    """Every process that carries the claim's mark."""
    living = {found.pid: found for found in _living()}
    marked = {
        pid: found
        for pid, found in living.items()
        if found.environment.get("WINDLASS_CLAIM") == claim
    }
    return [
        Victim(
            found.pid,
            found.began,
            _role(found, marked),
            node=int(found.environment.get("WINDLASS_NODE", -1)),
            rank=int(found.environment.get("WINDLASS_RANK", -1)),
        )
        for found in marked.values()
    ]


def kill(victim: Victim) -> bool:
    """SIGKILL to this very process; False when it had ended already."""
    try:
        handle = os.pidfd_open(victim.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_alive(victim):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)


def is_alive(victim: Victim) -> bool:
    """Whether this very process lives."""
    found = _look(victim.pid)
    return found is not None and found.began == victim.began


class _Process(NamedTuple):
    pid: int
    parent: int
    began: int
    command: list[str]
    environment: dict[str, str]


def _living() -> Iterator[_Process]:
    for folder in Path("/proc").iterdir():
        found = _look(int(folder.name)) if folder.name.isdecimal() else None
        if found is not None:
            yield found


def _look(pid: int) -> _Process | None:
    folder = Path("/proc", str(pid))
    try:
        stat = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        command = (folder / "cmdline").read_bytes()
        environment = (folder / "environ").read_bytes()
    except OSError:
        return None  # It has ended meanwhile, or it is somebody else's.
    if stat[0] in "ZX":
        return None
    pairs = (entry.partition("=") for entry in os.fsdecode(environment).split("\0"))
    return _Process(
        pid=pid,
        parent=int(stat[1]),
        began=int(stat[19]),
        command=os.fsdecode(command).rstrip("\0").split("\0"),
        environment={name: value for name, _, value in pairs},
    )


def _is_controller(found: _Process, home: Path) -> bool:
    is_ours = found.environment.get("WINDLASS_HOME") == str(home)
    return is_ours and found.command[-2:] == ["up", "--on-demand"]


def _role(found: _Process, marked: dict[int, _Process]) -> str:
    """The agent is a fork of the keeper, and forks itself: only who the parent is tells."""
    if not found.command[-1].endswith(".json"):
        return RANK if "WINDLASS_RANK" in found.environment else OTHER
    parent = marked.get(found.parent)
    if parent is None:
        return KEEPER
    return AGENT if parent.parent not in marked else OTHER
