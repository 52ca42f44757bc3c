"""The machines of one twin: started, looked at, told, killed, and found again by a later twin.

Must not run anything of a machine's on the host: where there are no namespaces, nothing is started.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import sysconfig
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from windlass.twin.machines import cgroups, client, console, disposal, layout, records, sockets
from windlass.twin.machines.plan import CannotStart, Plan
from windlass.twin.machines.sockets import Address

START_TIMEOUT_S = 30.0
END_TIMEOUT_S = 10.0
LOG = "supervisor.log"

_SUPERVISOR = "windlass.twin.machines.supervisor"
_RUN = "import sys; sys.path.insert(0, {source!r}); from {module} import main; main()"


class Machines:
    """All machines below one folder, which is `machines` in a twin's home.

    `hide` beside what is always hidden from a machine: the twin's home, and whatever else holds
    secrets. `keep` what a machine needs though it lies in somebody's home.
    """

    def __init__(self, home: Path, *, hide: Iterable[Path] = (), keep: Iterable[Path] = ()) -> None:
        self._folder = Path(os.path.realpath(home)) / "machines"
        own = (home, Path.home())
        kept = (Path(sys.base_prefix), Path(sys.prefix), *keep)
        self._view = layout.view((*own, *hide), kept)
        self._lock = threading.RLock()
        self._children: set[int] = set()
        self._refusal: str | None = None
        self._is_probed = False

    # ---- whether it works here -------------------------------------------------------------------

    def can_run(self) -> bool:
        """Whether machines can be real on this host; tried once, with a machine of no use."""
        return self.refusal() is None

    def refusal(self) -> str | None:
        """Why machines cannot be real on this host, if so."""
        with self._lock:
            if not self._is_probed:
                self._refusal = self._probe()
                self._is_probed = True
            return self._refusal

    def _probe(self) -> str | None:
        if sys.platform != "linux":
            return "machines need the namespaces of Linux"
        name = f"probe-{os.getpid()}"
        try:
            self._start(Plan(id=name, hostname="probe", address="127.0.0.1", command=("true",)))
        except CannotStart as exc:
            return f"no namespaces, or no overlay of the root: {exc}"
        finally:
            self.delete(name)
        return None

    # ---- life ------------------------------------------------------------------------------------

    def start(self, plan: Plan) -> None:
        """Start a machine, on the disk it had before if it had one. Returns when it is up."""
        reason = self.refusal()
        if reason is not None:
            raise CannotStart(reason)
        self._start(plan)

    def _start(self, plan: Plan) -> None:
        folder = self.folder(plan.id)
        with self._lock:
            if self.is_alive(plan.id):
                raise CannotStart(f"{plan.id} runs already")
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            self._folder.chmod(0o700)
            (folder / "plan.json").write_text(json.dumps(self._told(plan)))
            (folder / "plan.json").chmod(0o600)
            (folder / records.RUNNING).unlink(missing_ok=True)
            pid, told = self._launch(folder)
            self._children.add(pid)
        answer = _heard(told, START_TIMEOUT_S)
        if answer != "ok":
            self._end(pid)
            raise CannotStart(answer or f"its supervisor ended at once; see {folder / LOG}")

    def _told(self, plan: Plan) -> dict[str, Any]:
        return {
            **plan.to_json(),
            "hidden": self._view.hidden,
            "kept": self._view.kept,
            "python": os.path.realpath(sys.executable),
            "prefix": sys.prefix,
            "packages": sysconfig.get_path("purelib"),
            "python_version": list(sys.version_info[:2]),
        }

    def _launch(self, folder: Path) -> tuple[int, int]:
        """Start a supervisor; its process id, and a pipe on which it will say how it went."""
        source = str(Path(__file__).parents[3])
        code = _RUN.format(source=source, module=_SUPERVISOR)
        near, far = os.pipe()
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            pid = os.posix_spawn(
                os.path.realpath(sys.executable),
                [sys.executable, "-I", "-S", "-c", code, str(folder)],
                {"PATH": os.defpath, "LANG": "C.UTF-8"},
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, far, 1),
                    (os.POSIX_SPAWN_OPEN, 2, str(folder / LOG), flags, 0o600),
                ],
                setsid=True,
            )
        finally:
            os.close(far)
        return pid, near

    def notice(self, name: str) -> None:
        """Press the power button: the machine shuts itself down, if it can."""
        try:
            client.ask(self.folder(name), {"do": "notice"})
        except client.Unreachable:
            # It is down already, or about to be.
            pass

    def kill(self, name: str) -> None:
        """Take it away at once, with all that runs in it. Nothing happens if it is not there."""
        record = records.read(self.folder(name))
        if record is None:
            return
        _kill(record.init)
        deadline = time.monotonic() + END_TIMEOUT_S
        while self._is_running(record.supervisor) and time.monotonic() < deadline:
            time.sleep(0.002)
        if self._is_running(record.supervisor):
            # It dies together with what it supervises.
            _kill(record.supervisor)
        while records.is_running(record.init) and time.monotonic() < deadline:
            time.sleep(0.002)
        cgroups.forget(f"{name}-{record.supervisor.pid}")

    def delete(self, name: str) -> None:
        """Take it away, and its disk."""
        self.kill(name)
        folder = self.folder(name)
        if folder.exists():
            disposal.remove(folder)

    def _end(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(pid, 0)
        with self._lock:
            self._children.discard(pid)

    def run(
        self, name: str, command: str, *, user: str = "root", stdin: bytes = b""
    ) -> client.Finished:
        """Run a command of the user's shell in it, to its end."""
        with contextlib.closing(self.reach(name)) as sock:
            session = client.spawn(sock, [command], user=user, is_command=True)
            return client.finish(session, stdin)

    def reach(self, name: str) -> socket.socket:
        """A connection over which a program can be started in it, with `client.spawn`."""
        return client.reach(self.folder(name))

    # ---- looking ---------------------------------------------------------------------------------

    def folder(self, name: str) -> Path:
        """Where a machine's disk and console are. No name leads out of the twin's home."""
        if not name or name.startswith(".") or "/" in name or "\0" in name:
            raise CannotStart(f"{name!r} cannot name a machine's folder")
        return self._folder / name

    def environment(self, name: str) -> dict[str, str]:
        """What everything that runs in it was given; empty for one that was never started."""
        try:
            told = json.loads((self.folder(name) / "plan.json").read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return dict(told["env"])

    def console(self, name: str, start: int = 0) -> bytes:
        """What it said on its serial port, from byte `start` on."""
        return console.read(self.folder(name), start)[1]

    def console_from(self, name: str, start: int = 0) -> tuple[int, bytes]:
        """The same, with the place of the first byte: a long console loses its beginning."""
        return console.read(self.folder(name), start)

    def is_alive(self, name: str) -> bool:
        """Whether it runs."""
        record = records.read(self.folder(name))
        return record is not None and self._is_running(record.supervisor)

    def exited(self, name: str) -> int | None:
        """How it ended: 0 after a power-off, a command's own status, 137 when it was killed."""
        record = records.read(self.folder(name))
        if record is None or self._is_running(record.supervisor):
            return None
        status = records.read_exit(self.folder(name))
        return 128 + signal.SIGKILL if status is None else status

    def live(self) -> list[str]:
        """The machines that run, also those that an earlier twin started."""
        if not self._folder.is_dir():
            return []
        return sorted(path.name for path in self._folder.iterdir() if self.is_alive(path.name))

    def at(self, address: str) -> str | None:
        """The running machine with that address."""
        for name in self.live():
            record = records.read(self.folder(name))
            if record is not None and record.address == address:
                return name
        return None

    def _is_running(self, who: records.Identity) -> bool:
        with self._lock:
            if who.pid in self._children:
                try:
                    if os.waitpid(who.pid, os.WNOHANG)[0]:
                        self._children.discard(who.pid)
                except ChildProcessError:
                    self._children.discard(who.pid)
        return records.is_running(who)

    def owner(self, peer: Address, local: Address) -> str | None:
        """The machine whose process is the far end of a connection that we accepted."""
        inode = sockets.inode_of(peer, local)
        if inode is None:
            return None
        namespaces = {}
        for name in self.live():
            record = records.read(self.folder(name))
            inside = sockets.namespace_of(record.init.pid) if record else None
            if inside is not None:
                namespaces[inside] = name
        return sockets.holder(inode, namespaces)

    def owns_socket(self, name: str, peer: Address, local: Address) -> bool:
        """Whether a connection comes from inside that machine."""
        return self.owner(peer, local) == name


def _heard(descriptor: int, timeout_s: float) -> str:
    """What the supervisor says, until it says no more."""
    said = b""
    deadline = time.monotonic() + timeout_s
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                return said.decode(errors="replace") or f"not up after {timeout_s:.0f} s"
            chunk = os.read(descriptor, 65536)
            if not chunk:
                return said.decode(errors="replace")
            said += chunk
    finally:
        os.close(descriptor)


def _kill(who: records.Identity) -> None:
    """Kill that very process: it is held before its identity is compared."""
    try:
        holder = os.pidfd_open(who.pid)
    except OSError:
        return
    try:
        if records.is_running(who):
            signal.pidfd_send_signal(holder, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        os.close(holder)
