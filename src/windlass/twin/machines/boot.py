"""From a forked process to the first process of a machine: its root, its files, then init.

Must not come back: the process becomes init or ends, having said why.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from windlass.twin.machines import cgroups, confine, disk, furnish, kernel
from windlass.twin.machines.layout import Layer, View, loose_links

MOUNT_POINT = "root"
# The laptop's own programs are worth more than a machine's, when memory runs out.
OOM_SCORE = 500

_START = (
    "import sys; sys.path.insert(0, {library!r}); "
    "from windlass.twin.machines.inside.init import main; main()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What is about to boot."""

    folder: Path
    told: dict[str, Any]
    is_privileged: bool


def make_disk(folder: Path, layers: list[Layer], *, seen: View, is_privileged: bool) -> None:
    """A new disk. A start that failed may have left half of one, on which nothing ever ran."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    disk.make_disk(folder, layers, is_privileged=is_privileged)
    if layers[0].lower:
        return
    for link in loose_links(seen):
        copy = folder / "0" / "upper" / link.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.symlink_to(link.readlink())


def become_init(
    machine: Machine, console: int, ready: int, listener: socket.socket, group: Path | None
) -> NoReturn:
    """Build the machine around this process and run its init."""
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        cgroups.join(group, machine.told["processes_max"])
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
        # One byte, not none: a host that pipes core dumps to a program does so at zero too.
        resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
        os.umask(0o022)
        furniture = furnish.gather(machine.told, is_privileged=machine.is_privileged)
        _change_root(machine)
        furnish.place(furniture)
        _run_init(machine.told, console, ready, listener.fileno())
    except BaseException as exc:  # noqa: BLE001 - a forked process must end here, whatever happens
        os.write(ready, f"{type(exc).__name__}: {exc}".encode())
    finally:
        os._exit(1)


def _change_root(machine: Machine) -> None:
    flags = kernel.CLONE_NEWNS | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC
    kernel.unshare(flags | kernel.CLONE_NEWCGROUP)
    kernel.set_hostname(machine.told["hostname"])
    at = machine.folder / MOUNT_POINT
    at.mkdir(exist_ok=True)
    layers = [Layer.from_json(each) for each in machine.told["layers"]]
    root = disk.Root(at, machine.folder / "disk", is_privileged=machine.is_privileged)
    root.build(layers)


def _run_init(told: dict[str, Any], console: int, ready: int, listener: int) -> NoReturn:
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(console, 1)
    os.dup2(console, 2)
    # Above what may be closed below, then down to two numbers that init knows.
    high_listener, high_ready = (_moved_up(number) for number in (listener, ready))
    os.dup2(high_listener, 3)
    os.dup2(high_ready, 4)
    os.closerange(5, max(256, resource.getrlimit(resource.RLIMIT_NOFILE)[0]) % (1 << 20))
    for number in (signal.SIGPIPE, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    confine.confine()
    python = told["python"]
    start = _START.format(library=furnish.LIBRARY)
    os.execve(python, [python, "-I", "-S", "-c", start], {"PATH": os.defpath, "LANG": "C.UTF-8"})


def _moved_up(number: int) -> int:
    copy = os.dup(number)
    while copy < 10:
        copy = os.dup(copy)
    return copy
