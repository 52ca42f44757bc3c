"""The first process on a node: it lets one agent live, and nothing outlive it.

Must not touch the run folder: a file system that hangs would hang it too, and it is the one who
ends the ranks when the agent hangs.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import time
from typing import Callable, Optional

from windlass.agent import clock, node, processes, system
from windlass.agent.orders import NodeOrder, read_node_order
from windlass.agent.signals import Signals, block

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
HEEDED = (*PASSED_ON, signal.SIGCHLD)
LOOK_S = 5.0
"""How often the keeper looks at the clock on its own: it may have been suspended."""
_FIRST_PAUSE_S = 0.001
_LAST_PAUSE_S = 0.1

Agent = Callable[[NodeOrder, int, int], int]
"""Takes the order, where to write when the lease was renewed, and the keeper's process id."""


def keep(node_file: str, agent: Agent) -> int:
    """Run the agent of a node, unless it was ever started before; its exit status."""
    order = read_node_order(node_file)
    block(HEEDED)
    if not _take(order.lock):
        return 0
    os.chdir("/")  # Whoever started us may want to remove the folder they were in.
    system.adopt_orphans()
    keeper = os.getpid()
    lease_reader, lease_writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(lease_reader)
        _be_agent(agent, order, lease_writer, keeper)
    os.close(lease_writer)
    status = _Watch(pid, lease_reader).until_over()
    _end_everything()
    return status


def _take(lock: str) -> bool:
    """Take the node's lock for good: its content says that this node was started.

    The descriptor stays open in keeper and agent, and in nobody else: the lock is free when both
    are gone.
    """
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    if os.fstat(descriptor).st_size > 0:
        return False
    said = {"pid": os.getpid(), "started": processes.start_ticks(os.getpid())}
    os.write(descriptor, json.dumps(said).encode() + b"\n")
    os.fsync(descriptor)
    return True


def _be_agent(agent: Agent, order: NodeOrder, lease: int, keeper: int) -> None:
    """The agent's process. Never returns: the caller's stack is the keeper's."""
    status = 70
    try:
        system.adopt_orphans()
        # Blocked until the agent is ready for it. If the keeper is gone already, its loop sees so.
        system.die_with_parent(signal.SIGUSR1)
        status = agent(order, lease, keeper)
    except BaseException:  # noqa: BLE001 - told to whoever started us; the keeper cleans up.
        import traceback

        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(status)


class _Watch:
    """Waits for the agent, passes signals on, and ends it when its lease has run out."""

    def __init__(self, agent: int, lease: int) -> None:
        self._agent = agent
        self._lease = lease
        self._signals = Signals(HEEDED)
        self._lease_ends: Optional[float] = None
        self._listened = [self._signals.reader, lease]
        self._status: Optional[int] = None

    def until_over(self) -> int:
        """The agent's exit status; 1 when it did not end by itself."""
        while True:
            readable, _, _ = select.select(self._listened, [], [], self._patience())
            if self._lease in readable:
                self._read_lease()
            for number in self._signals.take():
                if number in PASSED_ON:
                    os.kill(self._agent, number)
            self._reap()
            if self._status is not None:
                return self._status
            if self._lease_ends is not None and clock.now() >= self._lease_ends:
                return 1

    def _patience(self) -> float:
        if self._lease_ends is None:
            return LOOK_S
        return max(0.0, min(LOOK_S, self._lease_ends - clock.now()))

    def _read_lease(self) -> None:
        said = os.read(self._lease, 65536).split()
        if said:
            self._lease_ends = float(said[-1]) + node.LEASE_S
        else:
            self._listened.remove(self._lease)

    def _reap(self) -> None:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
            while pid != 0:
                if pid == self._agent:
                    self._status = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1
                    return  # Its number may be given to another from here on.
                pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            pass


def _end_everything() -> None:
    """SIGKILL to every descendant, until there is none.

    All of them are found: whoever leaves its parent becomes our child, however it left its group,
    session or environment.
    """
    pause_s = _FIRST_PAUSE_S
    while has_children():
        processes.kill_descendants(os.getpid())
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, _LAST_PAUSE_S)


def has_children() -> bool:
    """Whether this process has a living child, after the dead ones were reaped."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return False
    return True
