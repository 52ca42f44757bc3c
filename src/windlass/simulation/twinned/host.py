"""A machine of the twin as it is from inside: its shell, its programs, its agent and ranks.

Must not be kinder than a real one: what it is told stands in its metadata and environment, and its
calls get lost as everybody's do.
"""

from __future__ import annotations

import io
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, Protocol

from windlass.agent import layout
from windlass.agent.orders import Claim, parse_claim
from windlass.simulation.disk import Disk
from windlass.simulation.gang import Machine
from windlass.simulation.timeline import Timeline
from windlass.simulation.twinned.programs import Process, load_library, start, with_import
from windlass.simulation.twinned.shell import UNTIL_TOLD, Shell, parse
from windlass.twin.machine import Boot

AGENT_PID = "4711"
CLAIM_S = 300.0
"""So long an agent looks for its claim, as agent/main.py does."""
CLAIM_LOOK_S = 5.0


class Told(Protocol):
    """An answer of HTTP."""

    @property
    def status(self) -> int:
        """200 when all is well."""

    @property
    def headers(self) -> Any:
        """By name."""

    def read(self) -> bytes:
        """The body."""


Ask = Callable[[str, urllib.request.Request], Told]
"""Sends a request of the machine of this id; OSError when it is lost."""
Enlist = Callable[["Host", dict[str, Any], Claim], Machine]
"""Makes the agent of a node, given its node file and its claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is around every machine."""

    timeline: Timeline
    metadata: Ask
    internet: Ask
    disk: Callable[[str], Disk]
    """Of the folder of this URL."""
    enlist: Enlist
    on_exit: Callable[[str], None]
    """Hears that a machine of this id has shut down."""


class Host:
    """Implements shell.Machine."""

    def __init__(self, around: Surroundings, machine_id: str, boot: Boot) -> None:
        self.around = around
        self.id = machine_id
        self.boot = boot
        self.is_on = True
        self.is_cut_off = False
        self.status: int | None = None
        """Of the program whose end is the machine's end, or 0 when it has shut down."""
        self.heeds = False
        self.agent: Machine | None = None
        self._is_told = False
        self._is_leaderless = False
        """Its shell did not outlive the power button."""
        self._seeking_until = 0.0
        self._waiting: list[Callable[[], None]] = []
        script = parse(boot.startup_script or boot.argv[-1])
        self._lines = script.lines
        self._files: dict[str, Any] = dict(script.files)
        self._modules = self._imports()
        self._library: dict[str, Any] | None = None

    # ---- power -----------------------------------------------------------------------------

    def begin(self) -> None:
        """It has booted: its script runs."""
        if self.is_on:
            self._drive(self._main())

    def press(self) -> None:
        """The power button, or SIGTERM to a container: everybody is told, once."""
        if not self.is_on or self._is_told:
            return
        self._is_told = True
        self._is_leaderless = not self.heeds
        if self.has_agent:
            if self.heeds:
                self.run_beside(self.python("hurry.py", [AGENT_PID]))
            self.tell_agent()
        elif self._is_leaderless:
            self._exit(0)

    def cut(self) -> None:
        """Power is off, now."""
        self.is_on = False
        if self.agent is not None:
            self.agent.vanish()

    def cut_off(self, is_cut_off: bool) -> None:
        """It cannot reach anything but its metadata, or can again."""
        self.is_cut_off = is_cut_off
        if self.agent is not None:
            self.agent.is_cut_off = is_cut_off

    def power_off(self) -> None:
        """See shell.Machine."""
        self._exit(0)

    def _exit(self, status: int) -> None:
        if self.is_on:
            self.cut()
            self.status = status
            self.around.on_exit(self.id)

    # ---- processes -------------------------------------------------------------------------

    def _main(self) -> Process:
        status = yield from Shell(self).run(self._lines)
        if self.boot.argv or self._is_told:
            self._exit(status)
        return status

    def run_beside(self, process: Process) -> None:
        """See shell.Machine."""
        self._drive(process)

    def _drive(self, process: Process) -> None:
        """Let a process go on until it naps."""
        if not self.is_on:
            return
        try:
            nap_s = next(process)
        except StopIteration:
            return
        go_on = partial(self._drive, process)
        if nap_s == UNTIL_TOLD:
            self._waiting.append(go_on)
        else:
            self.around.timeline.after(nap_s, go_on)

    def python(self, program: str, args: Sequence[str]) -> Process:
        """See shell.Machine."""
        if program not in self._files:
            return 2
        if self._library is None:
            self._library = load_library(self._files.get("machine.py", ""), self._modules)
        argv = [AGENT_PID if one == "$agent" else one for one in args]
        own = {"sys": SimpleNamespace(argv=[program, *argv], exit=_leave)}
        modules = with_import({**self._modules, **own}, {"open": self._open})
        return (yield from start(self._files[program], self._library, modules))

    # ---- the agent -------------------------------------------------------------------------

    @property
    def has_agent(self) -> bool:
        """See shell.Machine."""
        is_seeking = self.around.timeline.monotonic() < self._seeking_until
        return is_seeking or (self.agent is not None and self.agent.is_up)

    def start_agent(self) -> None:
        """See shell.Machine. Without its program or its order there is none."""
        if "agent.pyz" in self._files and "node.json" in self._files:
            self._seeking_until = self.around.timeline.monotonic() + CLAIM_S
            self._seek_claim()

    def tell_agent(self) -> None:
        """See shell.Machine."""
        if self.agent is not None:
            self.agent.take_away(self.agent.node.order.notice_s)
        elif self.has_agent:
            self._seeking_until = 0.0
            self._agent_is_over()

    def _seek_claim(self) -> None:
        timeline = self.around.timeline
        if not self.is_on or self._seeking_until == 0.0:
            return
        if timeline.monotonic() >= self._seeking_until:
            self._agent_is_over()
            return
        node = json.loads(self._files["node.json"])
        name = layout.claim_file(node["attempt"], node["claim"])
        said = None
        if not self.is_cut_off:
            said = self.around.disk(node["folder"]).seen_by(lambda: False).read(name)
        if said is None:
            timeline.after(CLAIM_LOOK_S, self._seek_claim)
            return
        self._seeking_until = 0.0
        self.agent = self.around.enlist(self, node, parse_claim(said))
        self.agent.on_done = self._agent_is_over

    def _agent_is_over(self) -> None:
        if self._is_leaderless:
            self._exit(0)
            return
        waiting, self._waiting = self._waiting, []
        for go_on in waiting:
            self.around.timeline.after(0.0, go_on)

    # ---- what programs find ----------------------------------------------------------------

    def _imports(self) -> dict[str, Any]:
        opener = SimpleNamespace(open=self._look)
        request = SimpleNamespace(
            Request=urllib.request.Request,
            urlopen=self._urlopen,
            build_opener=lambda *_: opener,
            ProxyHandler=lambda _: None,
        )
        network = SimpleNamespace(error=urllib.error, parse=urllib.parse, request=request)
        timeline = self.around.timeline
        # What they call the time of day is the machine's own; Google's comes with answers.
        clock = SimpleNamespace(monotonic=timeline.monotonic, time=timeline.now)
        system = SimpleNamespace(
            environ=dict(self.boot.environment),
            path=SimpleNamespace(exists=self._exists),
            replace=self._replace,
            kill=self._kill,
        )
        modules = {"os": system, "time": clock, "urllib": network}
        return with_import(modules, {"open": self._open})

    def _look(self, request: urllib.request.Request, timeout: float = 0.0) -> Told:
        return _good(request, self.around.metadata(self.id, request))

    def _urlopen(self, request: urllib.request.Request, timeout: float = 0.0) -> Told:
        if self.is_cut_off:
            raise urllib.error.URLError("cut off")
        return _good(request, self.around.internet(self.id, request))

    def _open(self, name: str, mode: str = "r") -> Any:
        if mode.startswith("w"):
            return _Written(self._files, name)
        if name not in self._files:
            raise FileNotFoundError(name)
        content = self._files[name]
        return io.BytesIO(content) if isinstance(content, bytes) else io.StringIO(content)

    def _replace(self, old: str, new: str) -> None:
        self._files[new] = self._files.pop(old)

    def _exists(self, path: str) -> bool:
        return path == f"/proc/{AGENT_PID}" and self.has_agent

    def _kill(self, pid: int, number: int) -> None:
        if self.agent is not None:
            self.agent.hurry("it was told to stop at once")


class _Written:
    """A file that is being written: what is written is in it at once."""

    def __init__(self, files: dict[str, Any], name: str) -> None:
        self._files = files
        self._name = name
        files.pop(name, None)

    def write(self, data: Any) -> None:
        """More of it."""
        known = self._files.get(self._name)
        self._files[self._name] = data if known is None else known + data

    def __enter__(self) -> _Written:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""


def _good(request: urllib.request.Request, told: Told) -> Told:
    if told.status >= 400:
        raise urllib.error.HTTPError(request.full_url, told.status, "", told.headers, None)
    return told


def _leave(status: int | str = 0) -> None:
    raise SystemExit(status)
