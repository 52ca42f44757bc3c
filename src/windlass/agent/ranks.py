"""The ranks of a node: started together, signalled together, the first failure remembered.

Must not know why they are started or ended.
"""

from __future__ import annotations

import os
import signal
from typing import Dict, Optional, Set

from windlass.agent import processes
from windlass.agent.node import Ended

OUT_OF_MEMORY = "often out of memory: the kernel kills the largest process"


class Ranks:
    """Which ranks were started and how they ended."""

    def __init__(self, node: int) -> None:
        self._node = node
        self._running: Dict[int, int] = {}
        """Process id to rank."""
        self._groups: Set[int] = set()
        self._first_failure: Optional[Ended] = None
        self._was_started = False
        self.are_killed = False

    def started(self, rank: int, pid: int) -> None:
        """A rank was started; it leads its process group."""
        self._was_started = True
        self._running[pid] = rank
        self._groups.add(pid)

    def not_started(self, rank: int, why: OSError) -> None:
        """A rank could not be started: the node has failed."""
        self._was_started = True
        self._fail(Ended(1, rank, f"{self._name(rank)} could not be started: {why}"))

    def ended(self, pid: int, status: int) -> bool:
        """A child has ended; whether it was a rank."""
        rank = self._running.pop(pid, None)
        if rank is None:
            return False
        if status != 0:
            self._fail(Ended(status, rank, f"{self._name(rank)} {self._how(status)}"))
        return True

    @property
    def result(self) -> Optional[Ended]:
        """None while every rank runs (or none was started); the first failure; status 0 when all
        have ended well."""
        if self._first_failure is not None:
            return self._first_failure
        return Ended(0) if self._was_started and not self._running else None

    def signal_groups(self, number: signal.Signals) -> None:
        """Send a signal to the process group of every rank, also to what an ended one left in it.

        The number of an ended rank may be another's by now: its group is looked up.
        """
        for group in self._running:
            try:
                os.killpg(group, number)
            except OSError:
                pass  # It ended just now.
        left = self._groups - set(self._running)
        if left:
            for process in processes.descendants(os.getpid()):
                if process.group in left:
                    processes.send(process, number)

    def _fail(self, ended: Ended) -> None:
        if self._first_failure is None:
            self._first_failure = ended

    def _name(self, rank: int) -> str:
        return f"rank {rank} on node {self._node}"

    def _how(self, status: int) -> str:
        hint = f" ({OUT_OF_MEMORY})" if status in (-9, 137) and not self.are_killed else ""
        if status < 0:
            return f"was killed by {signal_name(-status)}{hint}"
        if status > 128 and hint:
            return f"exited with status {status}{hint}"
        return f"exited with status {status}"


def signal_name(number: int) -> str:
    """SIGSEGV and the like."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
