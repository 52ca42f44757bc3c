"""The local engine: a node is a process tree on this machine, and several nodes can share it.

Must not remember anything that is not in its folder: a new controller adopts what lives.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from windlass.agent.processes import find_marked, kill_marked
from windlass.engines.base import (
    ClaimRequest,
    Handle,
    Limits,
    Observation,
    Owned,
    Seen,
)
from windlass.engines.local import request as requests
from windlass.engines.local.admission import admit
from windlass.engines.local.desk import Desk
from windlass.engines.local.machine import Machine
from windlass.engines.local.nodes import Nodes
from windlass.engines.local.queue import Capacity, Placement, Room, Started
from windlass.engines.local.request import LocalRequest
from windlass.errors import EngineTransient
from windlass.ports.clock import Clock
from windlass.ports.process import Processes

WORK = "work"
"""Folder of the unpacked sources: one a run and node, kept until the run is removed."""
NOTICE_S = 30.0
START_TIMEOUT_S = 60.0
KILL_AFTER_S = NOTICE_S + 10.0


@dataclass(slots=True)
class _Entry:
    """A live claim, as it is written in the engine's folder."""

    request: LocalRequest
    placement: Placement | None = None
    is_spawned: bool = False
    """Whether all of its agents were started, or had no need of it."""
    cancelled_at: float | None = None


class LocalEngine:
    """Runs gangs on this machine."""

    name = "local"

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock,
        processes: Processes,
        agent: Callable[[], Path],
        secrets: Callable[[str], Path | None],
        wake: Path,
    ) -> None:
        self._root = root
        self._clock = clock
        self._processes = processes
        self._secrets = secrets
        self._wake = wake
        self._machine = Machine(processes)
        self._desk = Desk(root)
        self._nodes = Nodes(self._desk, processes, clock=clock, agent=agent)
        self._reasons: dict[str, str] = {}
        self._room: Room | None = None
        """What every waiting claim was offered; None when a claim has left since."""

    @cached_property
    def _entries(self) -> dict[str, _Entry]:
        """Live claims. Adopted by whoever first looks at them: a command that only asks whether
        the machine is large enough must neither read them all nor start anything."""
        adopted = {claim: self._adopt(claim) for claim in self._desk.claims()}
        return {claim: entry for claim, entry in adopted.items() if entry is not None}

    def limits(self) -> Limits:
        """See Engine. A lock tells at once whether a process lives."""
        return Limits(nodes_max=64, start_timeout_s=START_TIMEOUT_S, stale_s=0.0, notice_s=NOTICE_S)

    def render(self, claim: ClaimRequest) -> LocalRequest:
        """See Engine."""
        return requests.render(claim)

    def admit(self, claim: ClaimRequest) -> None:
        """See Admits."""
        admit(self._machine, requests.render(claim), claim.options)

    def submit(self, request: LocalRequest) -> Handle:
        """See Engine. Waits in the engine's own queue when the machine is full."""
        handle = Handle(request.claim)
        if request.claim in self._entries or self._desk.has_ended(request.claim):
            return handle
        admit(self._machine, request, {})
        try:
            self._desk.write(request.claim, "request.json", request.to_json())
        except OSError as error:
            raise _transient(error) from error
        entry = self._entries[request.claim] = _Entry(request=request)
        if self._room is None or request.gpus_per_node:
            self._start_what_fits()
        else:
            self._start_if_it_fits(entry, self._room)
        return handle

    def observe(self, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        """See Engine. The queue moves when it is looked at: there is no other daemon."""
        self._processes.reap()
        seen = {handle: self._try_look(handle) for handle in handles}
        if self._room is None:
            self._start_what_fits()
            waiting = [handle for handle in handles if seen[handle].seen is Seen.PENDING]
            seen.update({handle: self._try_look(handle) for handle in waiting})
        return seen

    def cancel(self, handle: Handle, *, now: bool = False) -> None:
        """See Engine."""
        entry = self._entries.get(handle)
        if entry is None:
            return
        try:
            if entry.placement is None:
                self._forget(handle)
            else:
                self._cancel_placed(entry, now=now)
        except OSError as error:
            raise _transient(error) from error

    def owned(self) -> Sequence[Owned]:
        """See Engine."""
        return [Owned(handle=Handle(claim), claim=claim) for claim in self._entries]

    def forget(self, run: str, claims: Sequence[str]) -> None:
        """See Forgets: the unpacked source and the tombstones."""
        shutil.rmtree(self._root / WORK / run, ignore_errors=True)
        for claim in claims:
            self._desk.forget(claim)

    def inventory(self) -> Mapping[str, str]:
        """See Explains."""
        gpus = [f"{gpu.index}: {gpu.name}" for gpu in self._machine.gpus]
        return {
            "processors": str(self._machine.cpus),
            "memory": f"{self._machine.memory_bytes / 2**30:.0f} GiB",
            "GPUs": ", ".join(gpus) or "none (nvidia-smi shows none)",
        }

    # ---- starting --------------------------------------------------------------------------

    def _adopt(self, claim: str) -> _Entry | None:
        """Take over what an earlier controller left; what it had not time to start is started
        with the queue. Of a claim whose request cannot be read nothing may be left."""
        try:
            request = requests.from_json(self._desk.read(claim, "request.json") or {})
        except (KeyError, TypeError):
            kill_marked(self._desk.mark(claim))
            self._desk.end(claim)
            return None
        entry = _Entry(request=request)
        placed = self._desk.read(claim, "placed.json")
        cancelled = self._desk.read(claim, "cancelled.json")
        if cancelled is not None:
            entry.cancelled_at = float(cancelled["at"])
        if placed is not None:
            gpus = tuple(tuple(node) for node in placed["gpus"])
            entry.placement = Placement(claim=claim, gpus=gpus)
        return entry

    def _start_what_fits(self) -> None:
        """Go through the queue once. It cannot move again until a claim comes or goes, or when
        something could not be started: then it is gone through again at the next look."""
        entries = list(self._entries.values())
        has_gpu_claims = any(entry.request.gpus_per_node for entry in entries)
        capacity = Capacity(
            cpus=self._machine.cpus,
            memory_bytes=self._machine.memory_bytes,
            gpus=self._machine.gpus if has_gpu_claims else (),
        )
        started = [
            Started(request=entry.request, placement=entry.placement)
            for entry in entries
            if entry.placement is not None
        ]
        self._room = room = Room(capacity, started)
        for entry in entries:
            if entry.placement is None:
                self._start_if_it_fits(entry, room)
            elif not entry.is_spawned and entry.cancelled_at is None:
                self._spawn(entry)

    def _start_if_it_fits(self, entry: _Entry, room: Room) -> None:
        claim = entry.request.claim
        answer = room.offer(entry.request)
        if isinstance(answer, str):
            self._reasons[claim] = answer
            return
        try:
            # Written before the first process is started: a new controller finishes the job.
            self._desk.write(claim, "placed.json", {"gpus": answer.gpus})
        except OSError as error:
            self._reasons[claim] = f"it cannot be started yet: {error}"
            self._room = None
            return
        entry.placement = answer
        self._spawn(entry)

    def _spawn(self, entry: _Entry) -> None:
        try:
            for node in range(entry.request.nodes):
                self._nodes.start(entry.request.claim, node, self._node_file(entry, node))
        except OSError:
            self._room = None  # No space, memory or process is left: the next look tries again.
            return
        entry.is_spawned = True

    def _node_file(self, entry: _Entry, node: int) -> dict[str, object]:
        request, placement = entry.request, entry.placement
        assert placement is not None
        secrets = self._secrets(request.run)
        environment = dict(request.environment)
        # Empty for a CPU run: it must not disturb a run that was given the GPU.
        visible = ",".join(str(index) for index in placement.gpus[node])
        environment["CUDA_VISIBLE_DEVICES"] = visible
        # The numbers are nvidia-smi's; CUDA would count the fastest first.
        environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        return {
            "folder": request.folder,
            "attempt": request.attempt,
            "claim": request.claim,
            "node": node,
            "work": str(self._root / WORK / request.run / f"node-{node}"),
            "address": "127.0.0.1",
            "env": environment,
            "secrets": str(secrets) if secrets else None,
            "wake": str(self._wake),
            "lock": str(self._desk.path(request.claim, f"node-{node}.lock")),
        }

    # ---- looking ---------------------------------------------------------------------------

    def _try_look(self, handle: Handle) -> Observation:
        try:
            return self._look(handle)
        except OSError as error:
            return Observation(seen=Seen.UNKNOWN, reason=f"it could not be looked at: {error}")

    def _look(self, handle: Handle) -> Observation:
        entry = self._entries.get(handle)
        if entry is None:
            return Observation(seen=Seen.GONE, reason="no process of it is left")
        if entry.placement is None:
            return Observation(seen=Seen.PENDING, reason=self._reasons.get(handle, ""))
        missing = [node for node in range(entry.request.nodes) if self._is_missing(entry, node)]
        if len(missing) < entry.request.nodes:
            return Observation(seen=Seen.RUNNING, missing=tuple(missing))
        if find_marked(self._desk.mark(handle)):
            reason = "its agents are gone but processes of it are left"
            return Observation(seen=Seen.RUNNING, missing=tuple(missing), reason=reason)
        self._forget(handle)
        return Observation(seen=Seen.GONE, reason="its processes have ended")

    def _is_missing(self, entry: _Entry, node: int) -> bool:
        if not entry.is_spawned and entry.cancelled_at is None:
            return False  # Its turn comes at the next look.
        return self._nodes.is_missing(entry.request.claim, node)

    def _forget(self, claim: str) -> None:
        self._desk.end(claim)
        self._nodes.forget(claim)
        del self._entries[claim]
        self._room = None
        self._reasons.pop(claim, None)

    # ---- ending ----------------------------------------------------------------------------

    def _cancel_placed(self, entry: _Entry, *, now: bool) -> None:
        claim, at = entry.request.claim, self._clock.now()
        is_first = entry.cancelled_at is None
        if entry.cancelled_at is None:
            # Its agents are told on a full disk too; a new controller then tells them twice.
            with contextlib.suppress(OSError):
                self._desk.write(claim, "cancelled.json", {"at": at})
            entry.cancelled_at = at
        is_overdue = not 0 <= at - entry.cancelled_at < KILL_AFTER_S
        nodes = range(entry.request.nodes)
        # SIGTERM once: to an agent a second one means that there is no time left.
        number = signal.SIGTERM if is_first else None
        if now or is_overdue:
            number = signal.SIGUSR1
        # Those that can be told by signal first: to forbid a start takes some space on the disk.
        for node in sorted(nodes, key=lambda node: not self._desk.has_started(claim, node)):
            self._nodes.tell(claim, node, number)
            if is_overdue:
                self._nodes.kill(claim, node)
        # With nobody left who could do it (both keeper and agent were killed at once), its marked
        # processes are ended here. Nobody may ever look at it again: what has ended is let go.
        mark = self._desk.mark(claim)
        if all(self._is_missing(entry, node) for node in nodes) and not kill_marked(mark):
            self._forget(claim)


def _transient(error: OSError) -> EngineTransient:
    return EngineTransient(
        f"the engine's folder cannot be written: {error}",
        remedy="Free some space on the disk of WINDLASS_HOME; the run goes on by itself.",
    )
