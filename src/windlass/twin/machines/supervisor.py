"""The one process of a machine that stays on the host: starts it, keeps its console, sees its end.

Must not be imported by the twin, which starts it as a program without threads and site packages;
must not hand the machine any open file but its console, its socket and its ready pipe.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from windlass.twin.machines import boot, cgroups, console, kernel, layout, records
from windlass.twin.machines.inside import channel

PLAN = "plan.json"
LAYERS = "layers.json"
DISK = "disk"
CONTROL = "control"
NICENESS = 5
CHUNK = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipes:
    """What the machine speaks into: its console, and whether it is up."""

    console_in: int
    console_out: int
    ready_in: int
    ready_out: int


def main() -> NoReturn:
    """`supervisor FOLDER`, with a pipe as standard output that is told `ok` or why not."""
    folder = Path(sys.argv[1])
    try:
        is_privileged = _enter()
        told = _prepare(folder, is_privileged=is_privileged)
        status = _supervise(folder, told, is_privileged=is_privileged)
    except (OSError, ValueError, KeyError) as exc:
        _tell(f"{exc}")
        os._exit(1)
    records.write_exit(folder, status)
    os._exit(0)


def _tell(text: str) -> None:
    """Tell the twin, once; it does not listen any more afterwards."""
    try:
        os.write(1, text.encode())
        null = os.open("/dev/null", os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    except OSError:
        # The twin has gone: the machine stays, and the next twin finds it.
        pass


def _enter() -> bool:
    """Namespaces for the machine to come: with privileges if there are any, else without."""
    try:
        kernel.unshare(kernel.CLONE_NEWPID)
        return True
    except OSError:
        uid, gid = os.getuid(), os.getgid()
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
        return False


def _prepare(folder: Path, *, is_privileged: bool) -> dict[str, Any]:
    """The plan, with the layers of its disk, which is made at the first start."""
    told: dict[str, Any] = json.loads((folder / PLAN).read_text())
    listing = folder / LAYERS
    if not listing.exists():
        seen = layout.View(hidden=tuple(told["hidden"]), kept=tuple(told["kept"]))
        chosen = layout.layers(seen, is_privileged=is_privileged)
        boot.make_disk(folder / DISK, chosen, seen=seen, is_privileged=is_privileged)
        beside = folder / "layers.new"
        value = {"is_privileged": is_privileged, "layers": [each.to_json() for each in chosen]}
        beside.write_text(json.dumps(value))
        beside.replace(listing)
    known = json.loads(listing.read_text())
    if known["is_privileged"] != is_privileged:
        raise OSError("this disk was made by another user of the host; delete the machine")
    told["layers"] = known["layers"]
    return told


def _supervise(folder: Path, told: dict[str, Any], *, is_privileged: bool) -> int:
    os.nice(NICENESS)
    os.chdir(folder)
    (folder / records.EXITED).unlink(missing_ok=True)
    pipes = Pipes(
        **dict(zip(("console_in", "console_out"), os.pipe(), strict=True)),
        **dict(zip(("ready_in", "ready_out"), os.pipe(), strict=True)),
    )
    listener = channel.listen(CONTROL)
    name = f"{told['id']}-{os.getpid()}"
    group = cgroups.make(name, told["processes_max"]) if is_privileged else None
    pid = os.fork()
    if pid == 0:
        machine = boot.Machine(folder=folder, told=told, is_privileged=is_privileged)
        boot.become_init(machine, pipes.console_out, pipes.ready_out, listener, group)
    listener.close()
    os.close(pipes.console_out)
    os.close(pipes.ready_out)
    try:
        _report(folder, told, pid, pipes.ready_in)
        _pump(folder, pipes.console_in)
    finally:
        _kill(pid)
        _, waited = os.waitpid(pid, 0)
        cgroups.remove(group)
        (folder / CONTROL).unlink(missing_ok=True)
    return records_status(waited)


def _report(folder: Path, told: dict[str, Any], pid: int, ready_in: int) -> None:
    said = b""
    while chunk := os.read(ready_in, CHUNK):
        said += chunk
        if said == b"ok":
            break
    os.close(ready_in)
    if said != b"ok":
        raise OSError(said.decode(errors="replace") or "its first process ended at once")
    record = records.Record(
        supervisor=records.identity(os.getpid()),
        init=records.identity(pid),
        address=told["address"],
    )
    records.write(folder, record)
    _tell("ok")


def _pump(folder: Path, console_in: int) -> None:
    """Keep what the machine says until nobody in it can say anything more."""
    writer = console.Writer(folder)
    try:
        while content := os.read(console_in, CHUNK):
            writer.write(content)
    finally:
        writer.close()


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def records_status(waited: int) -> int:
    """A shell's status for what `wait` said: 128 and the signal for one that was killed."""
    status = os.waitstatus_to_exitcode(waited)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    main()
