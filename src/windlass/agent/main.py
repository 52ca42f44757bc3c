"""The agent's loop: one thread that waits for output, signals and the next tick.

Must not decide what a node does (node.py) nor how (body.py).
"""

from __future__ import annotations

import os
import selectors
import signal
import sys
from typing import TYPE_CHECKING, Optional

from windlass.agent import clock, keeper, launch, layout
from windlass.agent.body import MachineBody
from windlass.agent.folder import Folder
from windlass.agent.node import Node, Order
from windlass.agent.open_folder import open_folder, read_patiently
from windlass.agent.orders import Claim, NodeOrder, parse_claim
from windlass.agent.signals import Signals

if TYPE_CHECKING:
    from windlass.agent.watch import Watches

EXIT_NO_CLAIM = 78
"""The claim cannot be read or asks for what this agent does not know."""
EXIT_KEEPER_GONE = 1
CLAIM_S = 300.0
"""How long the claim is read again and again from a folder that fails."""
NETWORK = (
    "HTTPS_PROXY https_proxy NO_PROXY no_proxy SSL_CERT_FILE SSL_CERT_DIR STORAGE_EMULATOR_HOST "
    "GCE_METADATA_HOST GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_CONFIG HOME PYTHONPATH "
    "WINDLASS_TOKEN_COMMAND"
).split()
"""What of the ranks' environment leads the agent itself to a bucket."""
ECHO_S = 0.25
"""A second SIGTERM that comes sooner is the same one, passed on by the keeper."""


def main() -> int:
    """`agent.pyz NODE_FILE`."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: agent.pyz NODE_FILE\n")
        return 2
    return keeper.keep(sys.argv[1], run)


def run(order: NodeOrder, lease: int, keeper_pid: int) -> int:
    """Be the agent of a node until the node is done."""
    signals = Signals(keeper.HEEDED)
    os.environ.update({name: order.env[name] for name in NETWORK if name in order.env})
    folder = open_folder(order.folder)
    claim = _read_claim(folder, order)
    if claim is None:
        return EXIT_NO_CLAIM
    os.makedirs(order.work, exist_ok=True)
    return _Loop(order, claim, folder, signals=signals, lease=lease, keeper_pid=keeper_pid).run()


def _read_claim(folder: Folder, order: NodeOrder) -> Optional[Claim]:
    name = layout.claim_file(order.attempt, order.claim)
    said = read_patiently(folder, name, seconds=CLAIM_S)
    if said is None:
        sys.stderr.write(f"there is no {name} in {order.folder}\n")
        return None
    claim = parse_claim(said)
    if not launch.is_known(claim.launch):
        sys.stderr.write(f"this agent does not know how to launch {claim.launch!r}\n")
        return None
    return claim


class _Loop:
    def __init__(
        self,
        order: NodeOrder,
        claim: Claim,
        folder: Folder,
        *,
        signals: Signals,
        lease: int,
        keeper_pid: int,
    ) -> None:
        self._order = order
        self._claim = claim
        self._signals = signals
        self._lease = lease
        self._keeper = keeper_pid
        self._selector = selectors.DefaultSelector()
        self._selector.register(signals.reader, selectors.EVENT_READ)
        self._body = MachineBody(folder, order, claim, self._selector)
        gang = Order(
            order.attempt, order.claim, order.node, claim.nodes, claim.notice_s, claim.held_s
        )
        self._node = Node(folder, gang, self._body)
        self._watches = _watches(order, self._selector)
        self._tick_at = float("-inf")
        self._renewed_at: Optional[float] = None
        self._told_at: Optional[float] = None
        self._has_told_of_start = False

    def run(self) -> int:
        while not self._node.is_done:
            self._wait()
            now, wall = clock.now(), clock.wall()
            for number in self._signals.take():
                self._heed(number, now)
            if os.getppid() != self._keeper:
                self._end_at_once()
                return EXIT_KEEPER_GONE
            if now >= self._tick_at:
                self._tick(now, wall)
            self._body.turn(now, wall)
        self._poke()
        return 0

    def _wait(self) -> None:
        until = min(self._tick_at, self._body.due())
        if self._watches is not None:
            self._watches.turn(clock.now())
            until = min(until, self._watches.due())
        for key, _ in self._selector.select(max(0.0, until - clock.now())):
            if self._body.streams.holds(key.fd):
                self._body.streams.read(key.fd, clock.now(), clock.wall())
            elif self._watches is not None:
                self._take_away(self._watches.read(key.fd, clock.now()))

    def _take_away(self, reason: Optional[str]) -> None:
        """The cloud has said so. Its SIGTERM, which follows, is not a second order."""
        if reason is not None:
            self._tick_at = clock.now()
            self._node.take_away(clock.now(), self._claim.notice_s, reason)

    def _heed(self, number: int, now: float) -> None:
        self._tick_at = now
        if number == signal.SIGCHLD:
            self._body.reap()
        elif number == signal.SIGUSR1 or self._told_at is not None:
            if self._is_meant(number, now):
                self._node.cancel(now, "it was told to stop at once")
        else:
            self._told_at = now
            self._node.take_away(now, self._claim.notice_s, "it was told to stop")

    def _is_meant(self, number: int, now: float) -> bool:
        """Not when the keeper's death sent it, nor when somebody signalled keeper and agent both,
        which makes two of one signal."""
        is_echo = self._told_at is not None and now - self._told_at < ECHO_S
        is_urgent = number == signal.SIGUSR1
        return os.getppid() == self._keeper and (is_urgent or not is_echo)

    def _tick(self, now: float, wall: float) -> None:
        was_running = self._node.state == "running"
        self._tick_at = now + self._node.tick(now, wall)
        if self._node.renewed_at != self._renewed_at:
            self._renewed_at = self._node.renewed_at
            self._tell_keeper()
        if was_running and not self._has_told_of_start:
            self._has_told_of_start = True
            self._poke()

    def _tell_keeper(self) -> None:
        """Should this loop ever hang, the keeper ends everything when the lease has run out."""
        try:
            os.write(self._lease, f"{self._renewed_at!r}\n".encode())
        except OSError:
            pass  # It is gone, which the loop sees by itself.

    def _end_at_once(self) -> None:
        """The keeper was killed: without it nobody would clean up after this process.

        No exit object is written: to the controller this node is lost.
        """
        self._body.kill()
        while self._body.is_alive():
            self._body.streams.flush(clock.now(), clock.wall())
            self._selector.select(0.005)

    def _poke(self) -> None:
        """Wake whoever listens; nobody has to."""
        if self._order.wake is None:
            return
        try:
            fifo = os.open(self._order.wake, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.write(fifo, f"{self._order.claim}\n".encode())
            finally:
                os.close(fifo)
        except OSError:
            pass


def _watches(order: NodeOrder, selector: selectors.BaseSelector) -> Optional[Watches]:
    if order.watch != "metadata":
        return None
    from windlass.agent.watch import Watches  # Most engines have no such server.

    return Watches(selector)
