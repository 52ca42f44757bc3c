"""How many processes a machine may have, where the host lets us say so with a control group.

Must not fail a machine: where there is no such group, a limit of the user's processes has to do.
"""

from __future__ import annotations

import os
import resource
from pathlib import Path

# The unified hierarchy, a hybrid's, and the old one with a tree for each controller.
PLACES = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup/pids"))


def make(name: str, processes_max: int) -> Path | None:
    """A control group that holds at most so many processes, or None."""
    for place in PLACES:
        group = place / f"windlass-twin-{name}"
        if not (place / "cgroup.procs").exists():
            continue
        try:
            group.mkdir(exist_ok=True)
            (group / "pids.max").write_text(str(processes_max))
        except OSError:
            remove(group)
            continue
        return group
    return None


def join(group: Path | None, processes_max: int) -> None:
    """Put this process, and all that it will start, into the group."""
    if group is not None:
        try:
            (group / "cgroup.procs").write_text("0")
            return
        except OSError:
            pass
    if os.getuid() != 0:
        _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        most = processes_max if hard == resource.RLIM_INFINITY else min(processes_max, hard)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def remove(group: Path | None) -> None:
    """Give the group back, once nothing is in it."""
    if group is not None:
        try:
            group.rmdir()
        except OSError:
            # It was never there, or something in it is still ending; an empty group costs nothing.
            pass


def forget(name: str) -> None:
    """Give back the group of a supervisor that was killed and could not do so itself."""
    for place in PLACES:
        remove(place / f"windlass-twin-{name}")
