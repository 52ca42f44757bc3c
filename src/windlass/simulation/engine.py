"""A simulated engine: machines that start late, vanish, answer wrongly, late or not at all.

Must not be kinder than a real one: it forgets claims that are gone, as clouds do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from windlass.agent.node import Node
from windlass.engines.base import ClaimRequest, Handle, Limits, Observation, Owned, Seen
from windlass.errors import CapacityError, EngineAmbiguous, EngineTransient
from windlass.simulation.demands import Demand, renting
from windlass.simulation.disk import folder_url
from windlass.simulation.gang import Gang, Machine, Training
from windlass.simulation.market import PRICES, Stock
from windlass.simulation.provider import Caller, Extent, Fault, Ground
from windlass.simulation.saboteur import Fragile
from windlass.spec.model import Spec

STALE_S = 20.0
START_TIMEOUT_S = 150.0
NOTICE_S = 30.0


@dataclass(slots=True)
class _Held:
    """A claim that the engine holds."""

    gang: Gang
    asked_at: float
    up_at: float
    """When the engine begins to call it running; its agents may come much later."""
    gone_at: float | None = None
    billed_until: float | None = None
    """When it was first gone: what an engine brings back after that is a gift."""
    usd_per_h: float = 0.0
    is_seen: bool = False
    """Whether a controller was ever told of its machines."""
    refusal: CapacityError | None = None
    """Why it will never have a machine, once that is known."""
    is_cancelled: bool = False
    boots_left: int = 0


@dataclass(slots=True)
class Sabotage:
    """Promises that are broken on purpose, to see that the checkers notice."""

    is_submit_repeatable: bool = False
    node: type[Node] = field(default=Node)


class SimulatedEngine:
    """Implements engines.base.Engine[ClaimRequest], and provider.Provider with nothing but it."""

    name = "simulated"
    engine_names: tuple[str, ...] = (name,)
    extent = Extent()
    is_bucket = False

    def __init__(self, ground: Ground, *, is_rented: bool, sabotage: Sabotage) -> None:
        self._timeline = ground.timeline
        self._luck = ground.luck
        self._disk = ground.disk
        self._training = ground.training
        self._note = ground.note
        self._sabotage = sabotage
        self.is_rented = is_rented
        self.stock = Stock(ground.timeline, ground.luck)
        self.spot_lives_s: tuple[float, float] | None = None
        """How long spot machines are left to a claim, at least and at most; None: for ever."""
        self._bills: list[tuple[str, _Held]] = []
        self._answers: dict[str, CapacityError | None] = {}
        self._held: dict[str, _Held] = {}
        self.gangs: list[Gang] = []
        """Every gang there ever was, for the checkers."""

    def limits(self) -> Limits:
        """See Engine."""
        return Limits(
            nodes_max=8, start_timeout_s=START_TIMEOUT_S, stale_s=STALE_S, notice_s=NOTICE_S
        )

    def render(self, claim: ClaimRequest) -> ClaimRequest:
        """See Engine."""
        return claim

    def submit(self, request: ClaimRequest) -> Handle:
        """See Engine. Requests and replies get lost."""
        if self._luck.strikes("lost-request", 0.1):
            raise EngineTransient("the request was lost")
        is_known = request.id in self._held
        if not is_known or self._sabotage.is_submit_repeatable:
            self._answer(request)
        if self._luck.strikes("lost-reply", 0.1):
            raise EngineAmbiguous("the reply was lost")
        return Handle(request.id)

    def observe(self, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        """See Engine. A list may be as old as `stale_s` says."""
        if self._luck.strikes("no-list", 0.05):
            raise EngineTransient("the list could not be had")
        age_s = self._luck.between(0.0, STALE_S) if self._luck.strikes("stale-list", 0.2) else 0.0
        at = self._timeline.monotonic() - age_s
        return {handle: self._seen(self._held.get(handle), at) for handle in handles}

    def cancel(self, handle: Handle, *, now: bool = False) -> None:
        """See Engine."""
        if self._luck.strikes("lost-cancel", 0.1):
            raise EngineTransient("the cancel was lost")
        held = self._held.get(handle)
        if held is None or held.is_cancelled:
            return
        self._note(f"{handle} is cancelled")
        held.is_cancelled = True
        for machine in held.gang.machines:
            machine.take_away(0.0 if now else 10.0)
        self._timeline.after(self._luck.between(0.0, 40.0), lambda: self._end(handle, held))

    def owned(self) -> Sequence[Owned]:
        """See Engine."""
        if self._luck.strikes("no-list", 0.05):
            raise EngineTransient("the list could not be had")
        return [
            Owned(handle=Handle(claim), claim=claim)
            for claim, held in self._held.items()
            if held.gone_at is None
        ]

    # ---- simulation.provider.Provider ------------------------------------------------------

    def begin(self) -> None:
        """See Provider."""
        if self.is_rented:
            self.stock.begin()

    def engines(self, caller: Caller) -> Callable[[str], Any]:
        """See Provider. It is on the other side, and remembers: all controllers share it."""
        engine = Fragile(self, caller.hazard)
        return lambda name: engine

    def demand(self, spec: Spec, training: Training) -> Demand:
        """See Provider."""
        if not self.is_rented:
            return Demand(training, spec, "{}", self.name)
        return renting(spec, self._luck, training=training)

    def faults(self, pick: float, seconds: float) -> Sequence[Fault]:
        """See Provider."""
        found: list[Fault] = [
            ("node-lost", partial(self._lose_node, pick)),
            ("node-preempted", partial(self._preempt_node, pick)),
            ("node-cut-off", partial(self._cut_off_node, pick, seconds)),
        ]
        if self.is_rented:
            found.append(("stockout", partial(self.stock.run_out, pick, seconds * 5)))
        return found

    def left(self) -> Sequence[str]:
        """See Provider."""
        return [f"{claim} is held" for claim, held in self._held.items() if held.gone_at is None]

    def billed_usd(self, run: str) -> float:
        """What the machines of a run have cost, by the engine's own count. Those that came and
        went while no controller looked are left out: nobody can know of them."""
        now = self._timeline.monotonic()
        return sum(
            held.usd_per_h * max(until - held.up_at, 60.0) / 3600.0
            for of, held in self._bills
            if of == run and held.is_seen
            for until in (now if held.billed_until is None else held.billed_until,)
            if until > held.up_at
        )

    def paid_for(self) -> Iterable[tuple[str, float]]:
        """See Provider."""
        at = self._timeline.monotonic()
        for claim, held in self._held.items():
            if held.usd_per_h and held.gone_at is None and held.up_at <= at:
                yield claim, self._timeline.now() - at + held.up_at

    # ---- what happens to machines ----------------------------------------------------------

    def _lose_node(self, pick: float) -> None:
        """A machine vanishes without a word."""
        machines = [machine for gang in self.gangs for machine in gang.machines if machine.is_up]
        if machines:
            machines[int(pick * len(machines))].vanish()

    def _preempt_node(self, pick: float) -> None:
        """A machine is taken away with notice."""
        machines = [machine for gang in self.gangs for machine in gang.machines if machine.is_up]
        if machines:
            machine = machines[int(pick * len(machines))]
            machine.take_away(NOTICE_S)
            self._timeline.after(NOTICE_S, machine.vanish)

    def _cut_off_node(self, pick: float, seconds: float) -> None:
        """An agent cannot reach the run folder for a while."""
        machines = [machine for gang in self.gangs for machine in gang.machines if machine.is_up]
        if machines:
            machine = machines[int(pick * len(machines))]
            machine.is_cut_off = True
            self._timeline.after(seconds, lambda: setattr(machine, "is_cut_off", False))

    def _answer(self, request: ClaimRequest) -> None:
        """Where machines are rented a request is known again by its id, long after it is gone, and
        has the same answer: a second machine for it would be paid for twice."""
        if not request.offer:
            self._accept(request, None)
            return
        is_new = request.id not in self._answers
        if is_new:
            self._answers[request.id] = self.stock.refusal(request.offer)
        refusal = self._answers[request.id]
        # Clouds refuse at once or when they have tried.
        if refusal is not None and not self._luck.strikes("late-refusal", 0.3):
            raise refusal
        if is_new or refusal is not None:
            self._accept(request, refusal)

    def _accept(self, request: ClaimRequest, refusal: CapacityError | None) -> None:
        self._note(f"{request.id} is accepted")
        gang = Gang(
            self._training(request.run),
            self._disk(folder_url(request.run)),
            claim=request.id,
            attempt=request.attempt,
            nodes=request.nodes,
        )
        self.gangs.append(gang)
        at = self._timeline.monotonic()
        up_at = at + self._luck.between(0.0, 10.0)
        held = _Held(gang=gang, asked_at=at, up_at=up_at, boots_left=request.nodes)
        self._held[request.id] = held
        if refusal is not None:
            held.refusal, held.boots_left = refusal, 0
            held.gone_at = held.billed_until = at
            held.up_at = float("inf")
            return
        self._bill(request, held)
        # Now and then its agents come up after it was given up.
        late_s = self._luck.between(140.0, 400.0) if self._luck.strikes("late-claim", 0.2) else 0.0
        for index in range(request.nodes):
            slow_s = self._luck.between(2.0, 30.0)
            self._timeline.after(late_s + slow_s, partial(self._boot, request, held, index))
        if self.spot_lives_s is not None and request.buy == "spot":
            life_s = self._luck.between(*self.spot_lives_s)
            self._timeline.after(life_s, partial(self._reclaim, held.gang))

    def _reclaim(self, gang: Gang) -> None:
        """Its machines are gone, without a word."""
        for machine in gang.machines:
            machine.vanish()

    def _bill(self, request: ClaimRequest, held: _Held) -> None:
        """Count what it costs, and end it when its time is over, whoever is there to do so."""
        if not request.offer:
            return
        held.usd_per_h = PRICES[request.buy] * request.nodes
        self._bills.append((request.run, held))
        if request.expires_at is not None:
            lasts_s = held.up_at - held.asked_at + request.expires_at - request.made_at
            self._timeline.after(lasts_s, partial(self._expire, request.id, held))

    def _expire(self, claim: str, held: _Held) -> None:
        if held.gone_at is None:
            self._luck.count("expired")
            held.is_cancelled = True
            self._end(claim, held)

    def _boot(self, request: ClaimRequest, held: _Held, index: int) -> None:
        held.boots_left -= 1
        if held.is_cancelled or held.gone_at is not None:
            if not self._luck.strikes("boot-after-cancel", 0.5):
                return
            # The engine had said that it was gone; now it is there, and must be found again.
            self._held[request.id] = held
            held.gone_at, held.is_cancelled = None, False
        self._note(f"{request.id} node {index} boots")
        machine = Machine(
            self._timeline,
            self._disk(folder_url(request.run)),
            held.gang,
            index=index,
            agent=partial(self._sabotage.node, nonce=self._luck.name()),
        )
        held.gang.machines.append(machine)

    def _end(self, claim: str, held: _Held) -> None:
        for machine in held.gang.machines:
            machine.vanish()
        self._note(f"{claim} is gone")
        held.gone_at = self._timeline.monotonic()
        if held.billed_until is None:
            held.billed_until = held.gone_at
        self._timeline.after(STALE_S, lambda: self._forget(claim, held))

    def _forget(self, claim: str, held: _Held) -> None:
        # Meanwhile it may have come up once more, and gone again.
        is_gone = held.gone_at is not None and held.gone_at + STALE_S <= self._timeline.monotonic()
        if is_gone and self._held.get(claim) is held:
            del self._held[claim]

    def _seen(self, held: _Held | None, at: float) -> Observation:
        """What a list of that age shows. Before it was asked for there was nothing to see."""
        if held is None or held.asked_at > at or (held.gone_at is not None and held.gone_at <= at):
            refusal = held.refusal if held else None
            return Observation(seen=Seen.GONE, refused=refusal.code if refusal else "")
        if held.up_at > at:
            return Observation(seen=Seen.PENDING, reason="booting")
        missing = tuple(machine.index for machine in held.gang.machines if not machine.is_up)
        if len(missing) == held.gang.nodes and not held.boots_left:
            if held.gone_at is None:
                self._end(held.gang.claim, held)
        held.is_seen = True
        up_at = self._timeline.now() - self._timeline.monotonic() + held.up_at
        return Observation(seen=Seen.RUNNING, missing=tuple(sorted(missing)), up_at=up_at)
