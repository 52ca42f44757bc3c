"""The part of an agent that really runs something: node.Body over real processes.

Must not decide when: node.py does. None of its methods lets an OSError out after it has started
something, since `tick` would call it again.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
from typing import Any, Dict, List, Optional, Tuple

from windlass.agent import clock, launch, layout, ports, processes, spawn
from windlass.agent.chunks import Chunks
from windlass.agent.folder import Folder
from windlass.agent.lines import Lines
from windlass.agent.logs import Log
from windlass.agent.mask import Mask
from windlass.agent.node import EXIT_PREEMPTED, Ended
from windlass.agent.orders import Claim, NodeOrder, read_secrets
from windlass.agent.pace import pace_of
from windlass.agent.progress import Mirror
from windlass.agent.ranks import Ranks
from windlass.agent.requests import Requests
from windlass.agent.setup import Preparation
from windlass.agent.streams import Streams

_PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class MachineBody:
    """One node on this machine. The loop calls `reap`, `read` and `turn`; Node calls the rest."""

    def __init__(
        self, folder: Folder, order: NodeOrder, claim: Claim, selector: selectors.BaseSelector
    ) -> None:
        secrets, refusal = _secrets(order)
        given = {**order.env, **claim.env, **secrets}
        self._folder = folder
        self._pace = pace_of(folder)
        self._order = order
        self._claim = claim
        self._mask = Mask(secrets.values())
        mark = {processes.MARK: os.path.dirname(order.lock)}
        self._env = launch.base_environment({**given, **mark}, _PACKAGE_ROOT)
        self._local = os.path.join(order.work, f"folder-{order.attempt}")
        usable = ports.usable_range(ports.ephemeral_range())
        self._port = ports.reserve(launch.ports_needed(claim), usable)
        self._preparation = Preparation(
            folder, claim, work=order.work, env=self._marked(), refusal=refusal
        )
        self._ranks = Ranks(order.node)
        self._mirrors: List[Mirror] = []
        self._requests: Optional[Requests] = None
        self._look_at = self._mirror_at = float("-inf")
        self._is_killed = False
        self.streams = Streams(selector)

    # ---- node.Body -------------------------------------------------------------------------

    def address(self) -> str:
        """See node.Body."""
        host = self._order.address
        return f"[{host}]:{self._port.first}" if ":" in host else f"{host}:{self._port.first}"

    def prepare(self) -> None:
        """See node.Body."""
        self._preparation.begin(self._listen_to_setup)

    def prepared(self) -> Optional[Ended]:
        """See node.Body."""
        return self._preparation.result

    def start(self, addresses: List[str]) -> None:
        """See node.Body. What fails here has failed the node: it must not be tried twice."""
        first = launch.first_rank(self._claim, self._order.node)
        for local in range(self._claim.ranks_per_node):
            place = launch.Place(self._order.node, local, addresses, self._local)
            try:
                self._start_rank(first + local, place)
            except OSError as exc:
                self._ranks.not_started(first + local, exc)
                return
        self._accept_requests(launch.Place(self._order.node, 0, addresses, self._local))

    def ended(self) -> Optional[Ended]:
        """See node.Body."""
        return self._ranks.result

    def warn(self, seconds: float, reason: str) -> None:
        """See node.Body. The file is there before the signal."""
        deadline = clock.wall() + seconds
        said = {"deadline": deadline, "seconds": seconds, "reason": reason}
        path = launch.notice_path(self._local)
        staged = f"{path}.{os.getpid()}"
        try:
            os.makedirs(self._local, exist_ok=True)
            with open(staged, "w", encoding="utf-8") as file:
                json.dump(said, file)
            os.replace(staged, path)
        except OSError:
            pass  # The disk is full: the signal has to do.
        if self._requests is not None:
            self._requests.kill_all()
        self._ranks.signal_groups(signal.SIGTERM)

    def kill(self) -> None:
        """See node.Body."""
        self._is_killed = self._ranks.are_killed = True
        self._ranks.signal_groups(signal.SIGKILL)
        processes.kill_descendants(os.getpid())

    def is_alive(self) -> bool:
        """See node.Body. When nothing lives, everything that was said has been written."""
        self.reap()
        if _has_children():
            if self._is_killed:
                processes.kill_descendants(os.getpid())  # It forked while it was killed.
            return True
        self.streams.drain_all(clock.now(), clock.wall())
        for mirror in self._mirrors:
            mirror.copy_all()
        return False

    def facts(self) -> Dict[str, Any]:
        """See node.Body."""
        return {"pid": os.getpid(), "host": os.uname().nodename}

    # ---- what the loop calls ---------------------------------------------------------------

    def reap(self) -> None:
        """Take note of children that have ended, in the order in which they are told."""
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
            while pid != 0:
                self._note_end(pid, _exit_status(status))
                pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            pass

    def turn(self, now: float, wall: float) -> None:
        """Do what is due: write logs, mirror progress, look for requests."""
        self.streams.flush(now, wall)
        if self._mirrors and now >= self._mirror_at:
            self._mirror_at = now + self._pace.mirror_s
            for mirror in self._mirrors:
                mirror.copy()
        if self._requests is not None and now >= self._look_at and not self._is_closing():
            self._look_at = now + self._pace.look_s
            try:
                self._requests.look(self.streams.add)
            except OSError:
                pass  # Cut off from the folder: the lease decides.

    def due(self) -> float:
        """When `turn` has something to do."""
        if not self._mirrors:
            return self.streams.due()
        return min(self.streams.due(), self._mirror_at, self._look_at)

    # ---- parts -----------------------------------------------------------------------------

    def _is_closing(self) -> bool:
        return self._is_killed or self._ranks.result is not None

    def _marked(self) -> Dict[str, str]:
        """The environment of what is no rank."""
        claim = {"WINDLASS_CLAIM": self._order.claim, "WINDLASS_NODE": str(self._order.node)}
        return {**self._env, **claim}

    def _start_rank(self, rank: int, place: launch.Place) -> None:
        local = os.path.join(self._local, f"rank-{rank}")
        os.makedirs(local, exist_ok=True)
        env = launch.rank_environment(self._claim, place, self._env)
        child = spawn.start_command(self._claim.command, env=env, cwd=self._preparation.src)
        self._ranks.started(rank, child.pid)
        where = layout.rank(self._order.attempt, self._order.claim, self._order.node, rank)
        self._listen(child.output, f"{where}/log")
        progress = Chunks(self._folder, f"{where}/progress", "jsonl")
        self._mirrors.append(Mirror(os.path.join(local, "progress.jsonl"), progress))

    def _accept_requests(self, place: launch.Place) -> None:
        env = launch.rank_environment(self._claim, place, self._env)

        def start(command: str) -> spawn.Child:
            return spawn.start_command(command, env=env, cwd=self._preparation.src)

        order = self._order
        where = layout.requests(order.attempt, order.claim, order.node)
        self._requests = Requests(self._folder, where, start=start, mask=self._mask)

    def _listen_to_setup(self, child: spawn.Child) -> None:
        where = layout.setup_log(self._order.attempt, self._order.claim, self._order.node)
        self._listen(child.output, f"{where}/log")

    def _listen(self, pipe: int, stem: str) -> None:
        self.streams.add(pipe, Log(Chunks(self._folder, stem, "txt"), Lines(self._mask)))

    def _note_end(self, pid: int, status: int) -> None:
        if self._ranks.ended(pid, status):
            return
        if self._preparation.ended(pid, status, self._listen_to_setup):
            return
        if self._requests is not None:
            pipe = self._requests.output_of(pid)
            if pipe is not None:
                self.streams.drain(pipe, clock.now(), clock.wall())
                self._requests.report(pid, status)


def _secrets(order: NodeOrder) -> Tuple[Dict[str, str], Optional[Ended]]:
    """The values; or why the node can never be ready, which is told when it would be. Nothing waits
    for this node's heartbeat yet."""
    values = read_secrets(order.secrets)
    if not order.references:
        return values, None
    from windlass.agent.secrets import SecretRefused, fetch  # Few runs need them.
    from windlass.agent.tokens import ambient_token

    try:
        return {**values, **fetch(order.references, ambient_token())}, None
    except SecretRefused as exc:
        return values, Ended(EXIT_PREEMPTED if exc.is_passing else 1, reason=str(exc))


def _has_children() -> bool:
    """Whether this process has a child that lives. Every living descendant implies one: orphans
    become our children."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _exit_status(status: int) -> int:
    """0, the exit status, or minus the signal's number."""
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
