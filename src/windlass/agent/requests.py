"""Commands that people ask a node to run (`windlass exec`), through the run folder.

Must not run one twice: `taken.json` is created only if absent before it starts.
"""

from __future__ import annotations

import json
import os
import signal
from typing import Callable, Dict, List, NamedTuple, Optional, Set

from windlass.agent import processes, spawn
from windlass.agent.chunks import Chunks
from windlass.agent.folder import Folder
from windlass.agent.lines import Raw
from windlass.agent.logs import Log
from windlass.agent.mask import Mask

AT_ONCE = 8

Start = Callable[[str], spawn.Child]
Listen = Callable[[int, Log], None]


class _Running(NamedTuple):
    child: spawn.Child
    where: str


class Requests:
    """The requests of one node."""

    def __init__(self, folder: Folder, prefix: str, *, start: Start, mask: Mask) -> None:
        self._folder = folder
        self._prefix = prefix
        self._start = start
        self._mask = mask
        self._running: Dict[int, _Running] = {}
        self._known: Set[str] = set()

    def look(self, listen: Listen) -> None:
        """Start new requests and end cancelled ones. OSError: try again later."""
        names = self._folder.list(self._prefix)
        for where in self._new(names):
            if len(self._running) >= AT_ONCE:
                break
            self._take(where, listen)
        for running in self._running.values():
            if f"{running.where}/cancel.json" in names:
                self._kill(running)

    def output_of(self, pid: int) -> Optional[int]:
        """The pipe to drain before `report`, if this child is a request."""
        running = self._running.get(pid)
        return None if running is None else running.child.output

    def report(self, pid: int, status: int) -> None:
        """Say how a request ended, after its output was written."""
        running = self._running.pop(pid)
        try:
            self._folder.write(f"{running.where}/exit.json", _encode({"status": status}))
        except OSError:
            pass  # Cut off from the folder: nobody is there to read it.

    def kill_all(self) -> None:
        """SIGKILL to every request and what it started."""
        for running in self._running.values():
            self._kill(running)

    def _new(self, names: List[str]) -> List[str]:
        asked = [name.rsplit("/", 1)[0] for name in names if name.endswith("/request.json")]
        return [where for where in asked if where not in self._known]

    def _take(self, where: str, listen: Listen) -> None:
        said = self._folder.read(f"{where}/request.json")
        mine = _encode({"by": os.urandom(8).hex()})
        if said is None or not self._folder.create(f"{where}/taken.json", mine):
            self._known.add(where)
            return
        self._known.add(where)
        try:
            child = self._start(str(json.loads(said)["command"]))
        except (OSError, ValueError, KeyError, TypeError) as exc:
            refusal = {"status": 126, "reason": f"it could not be started: {exc}"}
            self._folder.write(f"{where}/exit.json", _encode(refusal))
            return
        self._running[child.pid] = _Running(child=child, where=where)
        listen(child.output, Log(Chunks(self._folder, f"{where}/log", "txt"), Raw(self._mask)))

    @staticmethod
    def _kill(running: _Running) -> None:
        living = processes.snapshot()
        roots = [living[running.child.pid]] if running.child.pid in living else []
        for process in roots + processes.descendants(running.child.pid, living=living):
            processes.send(process, signal.SIGKILL)


def _encode(value: Dict[str, object]) -> bytes:
    return json.dumps(value).encode()
