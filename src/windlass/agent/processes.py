"""Finding and ending processes, wherever they hide.

Must not start any. Python 3.9, standard library only; also used by the local engine.
"""

from __future__ import annotations

import os
import signal
from typing import Callable, Dict, List, NamedTuple, Optional

MARK = "WINDLASS_MARK"
"""In the environment of everything a node starts: the folder of its lock, which no other claim
of any home on this machine has."""
_PROC = "/proc"


class Process(NamedTuple):
    """A living process. `started` tells it from a later one with the same number."""

    pid: int
    parent: int
    group: int
    started: str


def has_proc() -> bool:
    """Whether this system tells about processes under /proc."""
    return os.path.exists(f"{_PROC}/self/stat")


def start_ticks(pid: int) -> Optional[int]:
    """When a process was started, in the kernel's ticks since boot; None if it cannot be told."""
    process = _read_stat(pid)
    return None if process is None else int(process.started)


def snapshot() -> Dict[int, Process]:
    """Every process that lives, by its number; zombies have ended."""
    if not has_proc():
        from windlass.agent import ps  # Only where there is no /proc: it starts a program.

        return ps.snapshot()
    found = {}
    for name in os.listdir(_PROC):
        if name.isdigit():
            process = _read_stat(int(name))
            if process is not None:
                found[process.pid] = process
    return found


def descendants(of: int, *, living: Optional[Dict[int, Process]] = None) -> List[Process]:
    """Children, their children and so on, parents first; without `of` itself."""
    living = snapshot() if living is None else living
    children: Dict[int, List[Process]] = {}
    for process in living.values():
        children.setdefault(process.parent, []).append(process)
    found: List[Process] = []
    parents = [of]
    while parents:
        born = children.pop(parents.pop(), [])
        found += born
        parents += [process.pid for process in born]
    return found


def kill_descendants(of: int) -> int:
    """SIGKILL to every descendant of `of`; how many there were. Call it until there are none:
    a process may fork between the look and the signal."""
    found = descendants(of)
    for process in found:
        send(process, signal.SIGKILL)
    return len(found)


def find_marked(mark: str) -> List[int]:
    """Processes that carry the mark in their environment, and their descendants.

    The last resort, for when both keeper and agent were killed at once.
    """
    return [process.pid for process in _marked(mark)]


def kill_marked(mark: str) -> int:
    """SIGKILL to what `find_marked` finds; how many there were. Call it until there are none."""
    found = _marked(mark)
    for process in found:
        send(process, signal.SIGKILL)
    return len(found)


def send(process: Process, number: signal.Signals) -> bool:
    """Send a signal to exactly this process; False when it has ended.

    Where the kernel has handles for processes, the signal cannot reach a later process that was
    given the same number.
    """
    opener: Optional[Callable[[int], int]] = getattr(os, "pidfd_open", None)
    handle = None
    try:
        if opener is not None and has_proc():
            handle = opener(process.pid)
            if not _is_still(process):
                return False
            signal.pidfd_send_signal(handle, number)
            return True
        os.kill(process.pid, number)
        return True
    except OSError:
        return False
    finally:
        if handle is not None:
            os.close(handle)


def _is_still(process: Process) -> bool:
    """Its parent may have ended meanwhile; its number and its start stay the same."""
    found = _read_stat(process.pid)
    return found is not None and found.started == process.started


def _marked(mark: str) -> List[Process]:
    marked = _pids_marked(f"{MARK}={mark}")
    if not marked:
        return []  # The usual case: nothing else need be read of every process.
    living = snapshot()
    found = {pid: living[pid] for pid in marked if pid in living}
    for root in list(found):
        found.update((process.pid, process) for process in descendants(root, living=living))
    found.pop(os.getpid(), None)
    return [found[pid] for pid in sorted(found)]


def _pids_marked(mark: str) -> List[int]:
    if not has_proc():
        from windlass.agent import ps

        return ps.marked(mark)
    wanted = os.fsencode(mark)
    pids = [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    return [pid for pid in pids if wanted in _environment(pid)]


def _environment(pid: int) -> List[bytes]:
    try:
        with open(f"{_PROC}/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []  # It has ended, or it is somebody else's.


def _read_stat(pid: int) -> Optional[Process]:
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            said = file.read()
    except OSError:
        return None
    # The name, in brackets, may hold spaces and brackets of its own.
    fields = said[said.rfind(b")") + 2 :].split()
    if fields[0] in (b"Z", b"X"):
        return None
    return Process(
        pid=pid, parent=int(fields[1]), group=int(fields[2]), started=fields[19].decode()
    )
