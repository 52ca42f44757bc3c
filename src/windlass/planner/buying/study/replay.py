"""Replays a run over availability traces, step by step, and adds up what it costs.

Must not help a policy: it is told what had been seen by then, and its answer is carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from windlass.planner.buying.hazards import Record
from windlass.planner.buying.model import Decision, Holding, Observation, Place, Terms, Zone

STEP_H = 0.02
"""One step: 72 seconds, as in the published figures."""

Policy = Callable[[Observation, Terms], Decision]


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """Zones over time, one value per step. Prices are relative to anything the caller likes."""

    names: tuple[str, ...]
    up: npt.NDArray[np.bool_]
    """(zones, steps): whether the whole gang can be had on spot."""
    spot: npt.NDArray[np.float64]
    on_demand: tuple[float, ...]
    stock: npt.NDArray[np.bool_] | None = None
    """Whether on-demand machines can be had, in any zone; None: always."""

    def window(self, start: int, steps: int) -> Market:
        """The same zones for some steps only."""
        part = slice(start, start + steps)
        return Market(
            names=self.names,
            up=self.up[:, part],
            spot=self.spot[:, part],
            on_demand=self.on_demand,
            stock=None if self.stock is None else self.stock[part],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run went. Times in steps, cost in prices times steps."""

    cost: float
    is_met: bool
    ended: int
    spot: int
    on_demand: int
    starts: int
    decisions: int


class _Replay:
    """One run on its way through a market."""

    def __init__(self, market: Market, *, work: int, terms: Terms) -> None:
        self.terms = terms
        self.zones = len(market.names)
        self.steps = market.up.shape[1]
        self.market = market
        self.restart = round(terms.restart_h / STEP_H)
        self.left = work
        self.now = 0
        self.place, self.zone, self.starting = Place.IDLE, 0, 0
        self.cost, self.starts, self.decisions = 0.0, 0, 0
        self.asked, self.is_asking, self.refused_at = 0, False, -1
        self.hours = {Place.IDLE: 0, Place.SPOT: 0, Place.ON_DEMAND: 0}
        self.index = {name: number for number, name in enumerate(market.names)}
        self.up = market.up.tolist()
        self.paid = np.concatenate(
            [np.zeros((self.zones, 1)), np.cumsum(market.spot, axis=1)], axis=1
        ).tolist()
        self.prices = market.spot.tolist()
        self.until = [_ends(row) for row in market.up]
        self.records = [Record() for _ in market.names]

    def run(self, policy: Policy) -> Outcome:
        while self.left > 0 and self.now < self.steps:
            if self.place is Place.SPOT and not self.up[self.zone][self.now]:
                self.place = Place.IDLE
            decision = policy(self.look(), self.terms)
            self.decisions += 1
            self.take(decision)
            hold = 1 if self.is_asking else int(decision.hold_h / STEP_H + 1e-6)
            self.advance(max(1, hold))
        return Outcome(
            cost=self.cost,
            is_met=self.left == 0,
            ended=self.now,
            spot=self.hours[Place.SPOT],
            on_demand=self.hours[Place.ON_DEMAND],
            starts=self.starts,
            decisions=self.decisions,
        )

    def look(self) -> Observation:
        market, now = self.market, self.now
        zones = tuple(
            Zone(
                name=name,
                spot_price=self.prices[number][now],
                on_demand_price=market.on_demand[number],
                is_up=self.up[number][now],
                record=self.records[number],
            )
            for number, name in enumerate(market.names)
        )
        holding = Holding(
            place=self.place,
            zone="" if self.place is Place.IDLE else market.names[self.zone],
            starting_h=self.starting * STEP_H,
        )
        return Observation(
            work_h=self.left * STEP_H,
            time_h=(self.steps - now) * STEP_H,
            zones=zones,
            holding=holding,
            asked=self.asked,
            refused_h=None if self.refused_at < 0 else (now - self.refused_at) * STEP_H,
        )

    def take(self, decision: Decision) -> None:
        if decision.place is Place.ON_DEMAND and self.place is not Place.ON_DEMAND:
            self.ask(decision)
            return
        self.is_asking = False
        if decision.place is Place.IDLE:
            self.place, self.starting = Place.IDLE, 0
            return
        zone = self.index[decision.zone]
        if (decision.place, zone) == (self.place, self.zone):
            return
        self.start(decision.place, zone)

    def ask(self, decision: Decision) -> None:
        """On-demand machines come now, or what is held is kept and they are asked for again."""
        self.asked += not self.is_asking
        stock = self.market.stock
        self.is_asking = stock is not None and not stock[self.now]
        if not self.is_asking:
            self.refused_at = -1
            self.start(Place.ON_DEMAND, self.index[decision.zone])
            return
        # The next look is one step later, and the refusal is news then.
        self.refused_at = self.now + 1
        if self.place is Place.IDLE and decision.meanwhile:
            self.start(Place.SPOT, self.index[decision.meanwhile])

    def start(self, place: Place, zone: int) -> None:
        if place is Place.SPOT and not self.up[zone][self.now]:
            name = self.market.names[zone]
            raise ValueError(f"{name} has no spot capacity at step {self.now}")
        self.place, self.zone, self.starting = place, zone, self.restart
        self.starts += 1

    def advance(self, hold: int) -> None:
        now = self.now
        end = min(now + hold, self.steps, *(until[now] for until in self.until))
        if self.place is not Place.IDLE:
            end = min(end, now + self.starting + self.left)
        passed = end - now
        self.hours[self.place] += passed
        if self.place is Place.SPOT:
            paid = self.paid[self.zone]
            self.cost += paid[end] - paid[now]
        elif self.place is Place.ON_DEMAND:
            self.cost += passed * self.market.on_demand[self.zone]
        if self.place is not Place.IDLE:
            self.left -= max(0, passed - self.starting)
            self.starting = max(0, self.starting - passed)
        self._record(passed, end)
        self.now = end

    def _record(self, passed: int, end: int) -> None:
        for number in range(self.zones):
            was_up = self.up[number][self.now]
            record = self.records[number].later(passed * STEP_H, is_up=was_up)
            if end < self.steps and self.up[number][end] != was_up:
                record = record.changed(was_up=was_up)
            self.records[number] = record


def _ends(row: npt.NDArray[np.bool_]) -> list[int]:
    """For every step, the first later step at which the zone has changed."""
    changes = np.append(np.flatnonzero(row[1:] != row[:-1]) + 1, len(row))
    lengths = np.diff(changes, prepend=0)
    return np.repeat(changes, lengths).tolist()


def replay(market: Market, policy: Policy, *, work: int, terms: Terms) -> Outcome:
    """One run of `work` steps over the whole market: its last step is the deadline."""
    return _Replay(market, work=work, terms=terms).run(policy)


def starts(steps: int, *, length: int, count: int) -> Sequence[int]:
    """Evenly spaced beginnings of so many windows of this length."""
    last = steps - length
    if last < 0:
        return []
    return [round(number * last / max(1, count - 1)) for number in range(count)]
