"""The gang protocol of one node: beat, win the fence, start together, end together.

Must not start processes, sleep or read a clock: a Body does the work and `tick` is told the time,
so that the same code runs on a machine and in simulation. Python 3.9, standard library only.

    waiting ──winner is us──► preparing ──set up──► ready ──go──► running ──► closing ──► done
       └──winner is another claim, or none: done         (any state) ──told to stop──► closing
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, NamedTuple, Optional, Protocol

from windlass.agent import layout
from windlass.agent.folder import Folder
from windlass.agent.hold import Hold
from windlass.agent.pace import pace_of

HEARTBEAT_S = 2.0
LEASE_S = 60.0
LEASE_WARNING_S = 45.0
"""Cut off for this long, ranks get SIGTERM, so that they are gone when the lease has run out."""
GANG_GRACE_S = 5.0
"""How long ranks have to end by themselves after another node of the gang has failed."""
EXIT_PREEMPTED = 75
FIRST_POLL_S = 0.01


class Order(NamedTuple):
    """Which node of which claim this is."""

    attempt: int
    claim: str
    node: int
    nodes: int
    notice_s: float
    held_s: float = 0.0


class Ended(NamedTuple):
    """How the ranks of a node ended: the first that failed, or none."""

    status: int
    """0, the exit status, or minus the signal's number."""
    rank: Optional[int] = None
    reason: str = ""


class Body(Protocol):
    """The part of an agent that really runs something."""

    def address(self) -> str:
        """`host:port` of this node, as the other nodes reach it."""

    def prepare(self) -> None:
        """Begin to unpack the source and to run `setup`, in the background."""

    def prepared(self) -> Optional[Ended]:
        """None while it goes on; status 0 when ready."""

    def start(self, addresses: List[str]) -> None:
        """Start the ranks."""

    def ended(self) -> Optional[Ended]:
        """None while every rank runs; the first failure as soon as there is one; status 0 when all
        have ended well."""

    def warn(self, seconds: float, reason: str) -> None:
        """Write the notice file, then SIGTERM to the ranks."""

    def kill(self) -> None:
        """SIGKILL to everything that was started, wherever it hides."""

    def is_alive(self) -> bool:
        """Whether anything that was started still lives, be it a daemon that a rank left behind."""

    def facts(self) -> Dict[str, Any]:
        """What else the heartbeat should say, such as the process id."""


class Node:
    """One node's part in the gang. `tick` it until `is_done`."""

    def __init__(
        self, folder: Folder, order: Order, body: Body, *, nonce: Optional[str] = None
    ) -> None:
        self.folder = folder
        self.order = order
        self.body = body
        # A second start of the same node, by a submit that was delayed, is told from the first.
        self.nonce = nonce if nonce is not None else os.urandom(8).hex()
        self._hold = Hold(folder, attempt=order.attempt, claim=order.claim, seconds=order.held_s)
        self.state = "waiting"
        self.outcome = ""
        self._beats = 0
        self._beat_due = float("-inf")
        self._renewed_at: Optional[float] = None
        self._last_poll_s = pace_of(folder).poll_s
        self._poll_s = FIRST_POLL_S
        self._awaited = 0
        """The node that was not ready at the last look."""
        self._kill_at: Optional[float] = None
        self._is_killed = False
        self._had_notice = False
        self._addresses: List[str] = []
        self._first_end: Optional[Ended] = None
        self._reason = ""

    @property
    def is_done(self) -> bool:
        """Whether the agent may leave."""
        return self.state == "done"

    @property
    def renewed_at(self) -> Optional[float]:
        """When the lease was renewed last; the keeper counts from here."""
        return self._renewed_at

    def tick(self, now: float, wall: float) -> float:
        """Do what is due; return after how many seconds to come back at the latest.

        `now` counts seconds steadily, `wall` is the time of day. OSError from the folder is
        swallowed here: being cut off is what the lease is for.
        """
        if self._renewed_at is not None and now - self._renewed_at >= LEASE_S:
            self._check_lease(now)  # Suspended for so long: a beat must not renew what is lost.
        try:
            self._beat(now, wall)
        except OSError:
            self._beat_due = now + self._last_poll_s  # Not at once: a cut may last for a minute.
            self._check_lease(now)
        try:
            self._advance(now, wall)
        except OSError:
            self._check_lease(now)
        return self._next_tick(now)

    def take_away(self, now: float, seconds: float, reason: str) -> None:
        """The machine will be taken away: pass the notice on and make ready to leave."""
        if self.state in ("closing", "done"):
            return
        self._had_notice = True
        self._reason = reason
        self._close(now, seconds, reason, is_notice=True)

    def cancel(self, now: float, reason: str) -> None:
        """Leave at once, without notice."""
        if self.state == "done":
            return
        self._reason = reason
        self.outcome = "stopped"
        self._close(now, 0.0, reason, is_notice=False)

    # ---- states ----------------------------------------------------------------------------

    def _advance(self, now: float, wall: float) -> None:
        before = ""
        while before != self.state:
            before = self.state
            getattr(self, f"_while_{self.state}")(now, wall)
        self._poll_s = min(self._poll_s * 1.5, self._last_poll_s)

    def _while_waiting(self, now: float, wall: float) -> None:
        winner = self._read(layout.winner(self.order.attempt))
        if winner is None and self._hold.look(now) and self.order.node == 0:
            winner = self._try_to_win()
        if winner is None and not self._hold.is_over:
            return
        if winner is None or winner.get("claim") != self.order.claim:
            self._leave("given-up", Ended(0, reason="another claim won, or none may"), wall)
            return
        if winner["nonces"][self.order.node] != self.nonce:
            # Not us but an earlier start of this node won; it may be alive or counted as lost.
            self.state = "done"
            return
        self._addresses = winner["addresses"]
        self.body.prepare()
        self.state = "preparing"

    def _try_to_win(self) -> Optional[Dict[str, Any]]:
        beats = self._beats_of_all()
        if beats is None:
            return None
        addresses = [beat["address"] for beat in beats]
        mine = {
            "claim": self.order.claim,
            "nonces": [beat["nonce"] for beat in beats],
            "addresses": addresses,
            "coordinator": addresses[0],
        }
        name = layout.winner(self.order.attempt)
        if self.folder.create(name, _encode(mine)):
            return mine
        return self._read(name)

    def _while_preparing(self, now: float, wall: float) -> None:
        result = self.body.prepared()
        if result is None:
            self._heed_the_gang(now)
        elif result.status != 0:
            self._fail(now, result)
        else:
            self.state = "ready"
            self._poll_s = FIRST_POLL_S
            self._beat_due = now  # The others wait for this node: tell them at once.
            self._beat(now, wall)

    def _while_ready(self, now: float, wall: float) -> None:
        if self._heed_the_gang(now) or not self._may_start(now):
            return
        self.body.start(self._addresses)
        self.state = "running"
        self._beat_due = now

    def _may_start(self, now: float) -> bool:
        """All nodes are ready, said by node 0; and our own lease is fresh."""
        if self._renewed_at is None or now - self._renewed_at > LEASE_WARNING_S:
            return False
        name = layout.go(self.order.attempt, self.order.claim)
        if self.order.node != 0:
            return self.folder.read(name) is not None
        if self.order.nodes == 1:
            return True
        if self._beats_of_all("ready") is None:
            return self.folder.read(name) is not None
        self.folder.create(name, b"{}")
        return True

    def _beats_of_all(self, state: str = "") -> Optional[List[Dict[str, Any]]]:
        """The heartbeats of every node, when all are in this state (or, without one, are there).
        While one is not, only that one is looked at: gangs are large, and looks cost something."""
        beats = []
        for node in (self._awaited, *range(self.order.nodes)):
            beat = self._read(self._heartbeat_of(node))
            if beat is None or (state and beat["state"] != state):
                self._awaited = node
                return None
            beats.append(beat)
        return beats[1:]

    def _while_running(self, now: float, wall: float) -> None:
        ended = self.body.ended()
        if ended is None:
            self._heed_the_gang(now)
        elif ended.status == 0:
            self.outcome = "succeeded"
            self._first_end = ended
            self._close(now, 0.0, "the ranks have ended", is_notice=False)
        else:
            self._fail(now, ended)

    def _while_closing(self, now: float, wall: float) -> None:
        if self._first_end is None:
            self._first_end = self.body.ended()
        if self._kill_at is not None and now >= self._kill_at and not self._is_killed:
            self._is_killed = True
            self.body.kill()
        if self.body.is_alive():
            return
        ended = self._first_end or self.body.ended()
        if ended is None:  # The ranks were never started.
            self._leave(self.outcome or "stopped", Ended(0, reason=self._reason), wall)
            return
        if self._had_notice and ended.status != 0:
            self._decide_the_end("preempted", ended)
        self._leave(self.outcome or self._class_of(ended), ended, wall)

    def _while_done(self, now: float, wall: float) -> None:
        pass

    # ---- what moves between them -----------------------------------------------------------

    def _heed_the_gang(self, now: float) -> bool:
        """Close when another node has failed or was told to leave; True when it did."""
        if self.order.nodes == 1:
            return False
        end = self._read(layout.end(self.order.attempt, self.order.claim))
        if end is not None:
            self._reason = f"node {end.get('node')} ended first: {end.get('reason', '')}"
            self.outcome = "gang-ended"
            self._close(now, GANG_GRACE_S, self._reason, is_notice=False)
            return True
        notice = self._read(layout.gang_notice(self.order.attempt, self.order.claim))
        if notice is not None:
            self.take_away(now, float(notice["seconds"]), str(notice["reason"]))
            return True
        return False

    def _fail(self, now: float, ended: Ended) -> None:
        self._first_end = ended
        self._decide_the_end(self._class_of(ended), ended)
        self._close(now, GANG_GRACE_S, ended.reason, is_notice=False)

    def _decide_the_end(self, outcome: str, ended: Ended) -> None:
        """Say how the gang ended, unless another node was first."""
        end = {
            "node": self.order.node,
            "rank": ended.rank,
            "status": ended.status,
            "outcome": outcome,
            "reason": ended.reason,
        }
        self.folder.create(layout.end(self.order.attempt, self.order.claim), _encode(end))

    def _class_of(self, ended: Ended) -> str:
        if ended.status == 0:
            return "succeeded"
        if self._had_notice or ended.status == EXIT_PREEMPTED:
            return "preempted"
        return "user-error"

    def _close(self, now: float, grace_s: float, reason: str, *, is_notice: bool) -> None:
        self.state = "closing"
        self._kill_at = now + grace_s
        self._poll_s = FIRST_POLL_S
        if is_notice:
            self._pass_notice_on(grace_s, reason)
        if grace_s > 0:
            self.body.warn(grace_s, reason)

    def _pass_notice_on(self, seconds: float, reason: str) -> None:
        said = _encode({"node": self.order.node, "seconds": seconds, "reason": reason})
        attempt, claim, node = self.order.attempt, self.order.claim, self.order.node
        try:
            self.folder.write(layout.notice(attempt, claim, node), said)
            self.folder.create(layout.gang_notice(attempt, claim), said)
        except OSError:
            pass  # Cut off: our own ranks are told all the same.

    def _leave(self, outcome: str, ended: Ended, wall: float) -> None:
        self.outcome = outcome
        name = layout.exit_file(self.order.attempt, self.order.claim, self.order.node)
        said = {
            "outcome": outcome,
            "status": ended.status,
            "rank": ended.rank,
            "reason": ended.reason or self._reason,
            "had_notice": self._had_notice,
            "time": wall,
        }
        self.folder.create(name, _encode(said))
        self.state = "done"

    # ---- the lease -------------------------------------------------------------------------

    def _beat(self, now: float, wall: float) -> None:
        if now < self._beat_due:
            return
        self._beats += 1
        beat = {
            **self.body.facts(),
            "address": self.body.address(),
            "nonce": self.nonce,
            "state": self.state,
            "time": wall,
            "beat": self._beats,
        }
        name = self._heartbeat_of(self.order.node)
        self.folder.write(name, _encode(beat))
        self._renewed_at = now
        self._beat_due = now + HEARTBEAT_S

    def _check_lease(self, now: float) -> None:
        """Cut off, the controller takes this node for lost after the lease: so must it."""
        if self._renewed_at is None:
            self._renewed_at = now
        cut_off_s = now - self._renewed_at
        if self.state == "closing":
            if cut_off_s >= LEASE_S and not self._is_killed:
                self._is_killed = True
                self.body.kill()
            if cut_off_s >= LEASE_S and not self.body.is_alive():
                self.state = "done"
        elif cut_off_s >= LEASE_WARNING_S and self.state != "done":
            self._reason = "cut off from the run folder"
            self.outcome = "lost"
            self._close(now, LEASE_S - cut_off_s, self._reason, is_notice=False)

    # ---- small things ----------------------------------------------------------------------

    def _next_tick(self, now: float) -> float:
        until = [self._poll_s, self._beat_due - now]
        if self._kill_at is not None and not self._is_killed:
            until.append(self._kill_at - now)
        return max(0.0, min(until))

    def _heartbeat_of(self, node: int) -> str:
        return layout.heartbeat(self.order.attempt, self.order.claim, node)

    def _read(self, name: str) -> Optional[Dict[str, Any]]:
        data = self.folder.read(name)
        return None if data is None else json.loads(data)


def _encode(value: Dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode()
