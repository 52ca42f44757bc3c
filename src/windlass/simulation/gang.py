"""Simulated machines that run the real agent protocol, and the training they pretend to do.

Must not decide anything about the gang: `windlass.agent.node.Node` does, as on a real machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from windlass.agent import layout
from windlass.agent.node import EXIT_PREEMPTED, Ended, Node, Order
from windlass.policy.budget import SAVE_S
from windlass.simulation.disk import Disk, SeenDisk
from windlass.simulation.timeline import Timeline

Agent = Callable[[SeenDisk, Order, "Machine"], Node]
STEP_S = 1.0
SAVE_EVERY = 20
REPORT_EVERY = 20
PEER_ERROR_S = 0.5
NOTICE_S = 30.0


@dataclass(slots=True)
class Training:
    """What one run's program does: so many steps, saved now and then, perhaps a bug at one."""

    steps: int
    fails_at: int | None = None
    setup_s: float = 5.0
    step_s: float = STEP_S
    """What a step takes; plans say STEP_S."""
    save_every: int = SAVE_EVERY
    saves_on_notice: bool = False
    saved: int = 0
    """The newest committed checkpoint."""
    finished: int = 0
    """How often the program ran to its end."""
    starts: list[tuple[str, int]] = field(default_factory=list)
    """Each start of a gang: the claim and the step it resumed from."""


class Machine:
    """One node: an agent and its ranks. Either can be watched, and the whole can vanish."""

    def __init__(
        self,
        timeline: Timeline,
        disk: Disk,
        gang: Gang,
        *,
        index: int,
        agent: Agent,
        notice_s: float = NOTICE_S,
    ) -> None:
        self._timeline = timeline
        self.gang = gang
        self.index = index
        self.is_up = True
        self.is_cut_off = False
        self.has_ranks = False
        self.on_done: Callable[[], None] | None = None
        """Told when the agent has ended by itself."""
        self._prepared_at: float | None = None
        order = Order(
            attempt=gang.attempt,
            claim=gang.claim,
            node=index,
            nodes=gang.nodes,
            notice_s=notice_s,
            held_s=gang.held_s,
        )
        self.node = agent(disk.seen_by(lambda: self.is_cut_off), order, self)
        timeline.after(0.0, self.tick)

    def tick(self) -> None:
        """Let the agent do what is due."""
        if not self.is_up:
            return
        self.gang.advance(self._timeline.monotonic())
        wait_s = self.node.tick(self._timeline.monotonic(), self._timeline.now())
        if self.node.is_done:
            self.vanish()  # The agent was the last thing to run on it.
            if self.on_done is not None:
                self.on_done()
        else:
            self._timeline.after(max(wait_s, 0.2), self.tick)

    def take_away(self, seconds: float) -> None:
        """Give notice; the engine pulls the plug afterwards."""
        if self.is_up:
            self.node.take_away(self._timeline.monotonic(), seconds, "preempted")
            self.tick()

    def hurry(self, reason: str) -> None:
        """Leave at once."""
        if self.is_up:
            self.node.cancel(self._timeline.monotonic(), reason)
            self.tick()

    def vanish(self) -> None:
        """Gone, with everything on it."""
        self.gang.advance(self._timeline.monotonic())
        self.is_up = False
        self.has_ranks = False

    # ---- windlass.agent.node.Body ----------------------------------------------------------

    def address(self) -> str:
        """See Body."""
        return f"{self.gang.claim}.{self.index}:1"

    def prepare(self) -> None:
        """See Body."""
        self._prepared_at = self._timeline.monotonic() + self.gang.training.setup_s

    def prepared(self) -> Ended | None:
        """See Body."""
        assert self._prepared_at is not None
        return Ended(0) if self._timeline.monotonic() >= self._prepared_at else None

    def start(self, addresses: list[str]) -> None:
        """See Body."""
        self.has_ranks = True
        self.gang.note_start(self.index, self._timeline.monotonic())

    def ended(self) -> Ended | None:
        """See Body."""
        return self.gang.ended(self.index) if self.gang.has_begun else None

    def warn(self, seconds: float, reason: str) -> None:
        """See Body. Most ranks save nothing on SIGTERM: the worst case."""
        self.gang.advance(self._timeline.monotonic())
        if self.gang.training.saves_on_notice:
            self.gang.save_and_leave()

    def kill(self) -> None:
        """See Body."""
        self.gang.advance(self._timeline.monotonic())
        self.has_ranks = False

    def is_alive(self) -> bool:
        """See Body."""
        if self.gang.has_begun and self.gang.ended(self.index) is not None:
            self.has_ranks = False
        return self.has_ranks

    def facts(self) -> dict[str, Any]:
        """See Body."""
        return {}


class Gang:
    """The machines of one claim. Steps are made only while every node has its ranks."""

    def __init__(
        self, training: Training, disk: Disk, *, claim: str, attempt: int, nodes: int
    ) -> None:
        self.training = training
        self._disk = disk
        self.claim = claim
        self.attempt = attempt
        self.nodes = nodes
        self.machines: list[Machine] = []
        self.held_s = _held_s(disk, attempt, claim)
        self.has_begun = False
        self._started: set[int] = set()
        self._has_left = False
        self._at = 0.0
        self._step = 0.0
        self._broken_at: float | None = None
        self._is_broken = False

    @property
    def has_live_ranks(self) -> bool:
        """Whether any rank of it lives."""
        return any(machine.has_ranks for machine in self.machines)

    @property
    def has_twins(self) -> bool:
        """Whether ranks of the same node live on two machines."""
        live = [machine.index for machine in self.machines if machine.has_ranks]
        return len(live) != len(set(live))

    def note_start(self, node: int, at: float) -> None:
        """Ranks of one node have started; the first to start restores the checkpoint. What starts
        a second time is written down too, for the checkers."""
        if not self.has_begun or node in self._started:
            self.has_begun = True
            self._step = float(self.training.saved)
            self._at = at
            self.training.starts.append((self.claim, self.training.saved))
            self._report("restored")
        self._started.add(node)

    def advance(self, at: float) -> None:
        """Make the steps that the time since the last call allows."""
        ranks = [machine for machine in self.machines if machine.has_ranks]
        if self.has_begun and len(ranks) == self.nodes and self.ended(0) is None:
            before, every = int(self._step), self.training.save_every
            done = self._step + (at - self._at) / self.training.step_s
            self._step = min(done, float(self.training.steps))
            saved = int(self._step) // every * every
            if saved > before // every * every:
                self.training.saved = max(self.training.saved, saved)
                self._report("saved")
            elif int(self._step) // REPORT_EVERY > before // REPORT_EVERY:
                self._report("")
            if self._step >= self.training.steps:
                self.training.finished += 1
        self._notice_lost_peer(at, len(ranks))
        self._at = at

    def save_and_leave(self) -> None:
        """Ranks were told to go, and use the time they have."""
        ranks = sum(machine.has_ranks for machine in self.machines)
        if self.has_begun and ranks == self.nodes and self.ended(0) is None:
            self.training.saved = max(self.training.saved, int(self._step))
            self._report("saved")
            self._has_left = True

    def _report(self, event: str) -> None:
        """What the runtime would write for its ranks, unless nobody can write."""
        if any(machine.is_cut_off for machine in self.machines):
            return
        name = f"{layout.rank(self.attempt, self.claim, 0, 0)}/progress-00001.jsonl"
        step = self.training.saved if event else int(self._step)
        took = {"seconds": SAVE_S} if event == "saved" else {}
        line = json.dumps({"step": step, "event": event, **took}).encode() + b"\n"
        self._disk.objects[name] = self._disk.objects.get(name, b"") + line

    def _notice_lost_peer(self, at: float, ranks: int) -> None:
        """Ranks whose peer has vanished fail by themselves, soon after, with an error of theirs."""
        if ranks == self.nodes:
            self._broken_at = at
        elif self._broken_at is not None and at - self._broken_at >= PEER_ERROR_S:
            self._is_broken = True

    def ended(self, node: int) -> Ended | None:
        """How the ranks of a node ended, as its agent would see it."""
        fails_at = self.training.fails_at
        if fails_at is not None and self._step >= fails_at:
            return Ended(1, rank=0, reason="rank 0 exited with status 1")
        if self._step >= self.training.steps:
            return Ended(0)
        if self._has_left:
            return Ended(EXIT_PREEMPTED, rank=0, reason="rank 0 saved and left")
        return Ended(1, rank=0, reason="connection reset by peer") if self._is_broken else None


def _held_s(disk: Disk, attempt: int, claim: str) -> float:
    """As its agents read it from their order."""
    said = disk.objects.get(layout.claim_file(attempt, claim))
    return float(json.loads(said).get("held_s") or 0.0) if said else 0.0
