"""The processes of a claim's nodes: started once each, looked at by their locks, told to end.

Must not decide which claims start (queue.py) nor keep books of them (desk.py).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from windlass.agent.processes import MARK, kill_marked
from windlass.engines.local.desk import Desk
from windlass.ports.clock import Clock
from windlass.ports.process import Processes

SPAWN_TIMEOUT_S = 20.0
"""An agent that an earlier controller spawned and that has no lock after this long never will."""


class Nodes:
    """Agents on this machine, one process tree a node."""

    def __init__(
        self, desk: Desk, processes: Processes, *, clock: Clock, agent: Callable[[], Path]
    ) -> None:
        self._desk = desk
        self._processes = processes
        self._clock = clock
        self._agent = agent
        self._spawned: dict[tuple[str, int], int] = {}
        self._since: dict[str, float] = {}

    @cached_property
    def _program(self) -> str:
        """The agent's program, found once: finding it reads all of its sources."""
        return str(self._agent())

    def start(self, claim: str, node: int, node_file: Mapping[str, Any]) -> None:
        """Start the agent of a node unless it was ever started: its lock makes this idempotent."""
        self._since[claim] = self._clock.monotonic()
        if self._desk.has_started(claim, node):
            return
        self._desk.write(claim, f"node-{node}.json", node_file)
        self._spawned[claim, node] = self._processes.spawn(
            [
                sys.executable,
                "-I",  # Neither the caller's folder nor site packages may change the agent,
                "-S",  # and it starts in half the time.
                self._program,
                str(self._desk.path(claim, f"node-{node}.json")),
            ],
            env={
                MARK: self._desk.mark(claim),
                "WINDLASS_CLAIM": claim,
                "WINDLASS_NODE": str(node),
            },
            output=self._desk.path(claim, f"node-{node}.log"),
        )

    def is_missing(self, claim: str, node: int) -> bool:
        """Whether the node has ended, or will never begin."""
        pid = self._spawned.get((claim, node))
        # Asked before its lock is looked at: it may take the lock between the two.
        has_died = pid is not None and not self._processes.is_running(pid)
        if self._desk.has_started(claim, node):
            return not self._desk.is_alive(claim, node)
        if pid is not None:
            return has_died
        since = self._since.setdefault(claim, self._clock.monotonic())
        return self._clock.monotonic() - since > SPAWN_TIMEOUT_S

    def tell(self, claim: str, node: int, number: signal.Signals | None) -> None:
        """Signal the node's keeper; a node that has not begun is kept from it."""
        if not self._desk.has_started(claim, node):
            self._desk.forbid_start(claim, node)
            return
        keeper = self._desk.keeper(claim, node)
        if keeper is not None and number is not None and self._desk.is_alive(claim, node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(keeper, number)

    def kill(self, claim: str, node: int) -> None:
        """End a keeper that does not obey any more, and with it its node."""
        if not self._desk.has_started(claim, node) or not self._desk.is_alive(claim, node):
            return
        if self._desk.keeper(claim, node) is None:
            kill_marked(self._desk.mark(claim))
        else:
            self.tell(claim, node, signal.SIGKILL)

    def forget(self, claim: str) -> None:
        """The claim is gone."""
        self._since.pop(claim, None)
        for key in [key for key in self._spawned if key[0] == claim]:
            del self._spawned[key]
