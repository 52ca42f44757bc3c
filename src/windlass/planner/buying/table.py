"""The decision table: what it costs to finish, by work left and slack; dynamic programming.

Must not know zones or runs: a table holds for one restart time, one price and one assumption about
other zones. Costs are in hours of on-demand.

Work leaves slack as it is, waiting uses it up hour by hour, every restart uses up `restart_h` of
it; with less than one restart of slack there is only on-demand. The state also holds how long spot
capacity has been up, or the outage has lasted. A level of work is computed from the one below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log
from typing import NamedTuple

import numpy as np

from windlass.planner.buying.grid import Array, Mix, between, mix, slack_points
from windlass.planner.buying.hazards import DOWN, UP, Life

AGES_H = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6)
"""Ages of a state that are told apart; between them values are interpolated."""

RELIEF_AGE = 2
"""Index in AGES_H of what is found when another zone takes over: not the best there was."""

FACTORS = (0.3, 0.55, 1.0, 1.8, 3.3)
"""How much faster than usual spot capacity may end, see Record.up_factor."""

LEVEL_H = 0.2
"""Work between two levels, unless that makes too few of them or too many."""

LEVELS_MIN, LEVELS_MAX = 60, 480

IMPOSSIBLE = np.float32(1e6)
SHORT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """What a table holds for."""

    restart_h: float
    price: float
    """Of spot, where on-demand costs 1."""
    returns: float
    """How much faster than usual an outage ends: zones that come back add up."""
    relief: float
    """The probability that another zone is up when this one is lost."""
    work_h: float
    slack_h: float
    """Table sizes; more is taken as this much."""


class Costs(NamedTuple):
    """Expected costs from here to the end, in hours of on-demand, by the first thing done."""

    stay: float
    """On spot already: stay."""
    enter: float
    """Not on this spot: start there."""
    keep: float
    """On on-demand, spot is up: keep on-demand for now."""
    buy: float
    """Idle, spot is up: start on-demand."""


class _Level(NamedTuple):
    """Costs at one level of work left, each (factors, ages, slacks)."""

    stay: Array
    enter: Array
    keep: Array
    buy: Array
    wait_less_buy: Array
    on_up: Array
    on_down: Array
    lost: Array
    """When spot is lost, (factors, slacks)."""
    slope: Array
    """How much `lost` grew over the last level."""


class _Odds(NamedTuple):
    """What may happen to a state in some hours, each (factors, ages)."""

    lasts: Array
    ends_after: Array
    """When it ends, if it does."""
    older: Mix


class Table:
    """Costs by work left, slack, zone factor and age."""

    def __init__(self, assumed: Assumed) -> None:
        levels = min(LEVELS_MAX, max(LEVELS_MIN, ceil(assumed.work_h / LEVEL_H)))
        # Every second level is kept: costs are nearly linear in work, and a table stays small.
        self._kept_h = 2 * assumed.work_h / levels
        self._slacks = slack_points(assumed.restart_h, assumed.slack_h)
        self._factors = [log(factor) for factor in FACTORS]
        builder = _Builder(assumed, slacks=self._slacks, level_h=assumed.work_h / levels)
        level = builder.nothing_left()
        kept = [level]
        for number in range(1, levels + 2):
            level = builder.more_work(level)
            if number % 2 == 0:
                kept.append(level)
        self._up = np.stack([[at.stay, at.enter, at.keep, at.buy] for at in kept])
        self._down = np.stack([at.wait_less_buy for at in kept])

    def up(self, *, work_h: float, slack_h: float, factor: float, age_h: float) -> Costs:
        """Where spot is up."""
        corner, weights = self._at(work_h, slack_h, factor=factor, age_h=age_h)
        work, factors, ages, slacks = corner
        cell = self._up[work, :, factors, ages, slacks]
        return Costs(*np.einsum("wqfas,wfas->q", cell, weights).tolist())

    def wait_less_buy(self, *, work_h: float, slack_h: float, factor: float, age_h: float) -> float:
        """Where all is down: the cost of waiting less that of on-demand."""
        corner, weights = self._at(work_h, slack_h, factor=factor, age_h=age_h)
        return float((self._down[corner] * weights).sum())

    def _at(
        self, work_h: float, slack_h: float, *, factor: float, age_h: float
    ) -> tuple[tuple[slice, slice, slice, slice], Array]:
        most = len(self._down) - 1
        place = min(work_h / self._kept_h, most)
        level = min(int(place), most - 1)
        spots = (
            (level, place - level),
            between(self._factors, log(factor)),
            between(AGES_H, age_h),
            between(self._slacks, slack_h),
        )
        weights = np.ones((), np.float32)
        for _, share in spots:
            weights = np.multiply.outer(weights, np.array((1.0 - share, share), np.float32))
        work, factors, ages, slacks = (slice(low, low + 2) for low, _ in spots)
        return (work, factors, ages, slacks), weights


@lru_cache(maxsize=32)
def table_for(assumed: Assumed) -> Table:
    """The table, computed once."""
    return Table(assumed)


class _Builder:
    """Adds levels of work, one after the other."""

    def __init__(self, assumed: Assumed, *, slacks: tuple[float, ...], level_h: float) -> None:
        self.assumed = assumed
        self.level_h = level_h
        self.slacks = np.array(slacks)
        self.is_off_safe = self.slacks >= assumed.restart_h - SHORT
        self.is_start_safe = self.slacks >= 2 * assumed.restart_h - SHORT
        self.after_restart = mix(slacks, [slack - assumed.restart_h for slack in slacks])
        self.after_half = mix(slacks, [slack - assumed.restart_h / 2 for slack in slacks])
        returns = (assumed.returns,) * len(FACTORS)
        self.up_level = _odds(UP, FACTORS, level_h)
        self.down_level = _odds(DOWN, returns, level_h)
        self.up_restart = _odds(UP, FACTORS, assumed.restart_h)
        self.down_restart = _odds(DOWN, returns, assumed.restart_h)
        self.waits = [_odds(DOWN, returns, float(step)) for step in np.diff(self.slacks)]

    def nothing_left(self) -> _Level:
        """Nothing to do costs nothing."""
        none = np.zeros((len(FACTORS), len(AGES_H), len(self.slacks)), np.float32)
        steady = np.full_like(none[:, 0], self.level_h)
        return _Level(none, none, none, none, none, none, none, none[:, 0], steady)

    def more_work(self, less: _Level) -> _Level:
        """The costs with one more level of work to do."""
        stay = self._stay(less)
        enter = self._enter(stay, less.lost + less.slope)
        keep = self.level_h + _after(self.up_level, less.on_up, less.on_down)
        on_up = np.minimum(keep, enter)
        on_down = self.level_h + _after(self.down_level, less.on_down, less.on_up)
        buy = self._bought(_after(self.up_restart, on_up, on_down))
        buy_down = self._bought(_after(self.down_restart, on_down, on_up))
        wait = self._wait(buy_down, np.minimum(enter, buy)[:, 0])
        alone = np.minimum(wait, buy_down)[:, 0]
        relieved = np.minimum(enter, buy)[:, RELIEF_AGE]
        lost = _blend(alone, relieved, share=self.assumed.relief)
        lost[:, ~self.is_off_safe] = IMPOSSIBLE
        return _Level(
            stay=stay,
            enter=enter,
            keep=keep,
            buy=buy,
            wait_less_buy=wait - buy_down,
            on_up=on_up,
            on_down=on_down,
            lost=lost,
            slope=lost - less.lost,
        )

    def _stay(self, less: _Level) -> Array:
        odds, price = self.up_level, np.float32(self.assumed.price)
        ends_after = odds.ends_after[:, :, None]
        # Lost after a part of the level: what is left of it is still to be done.
        lost = less.lost[:, None] + less.slope[:, None] * (1 - ends_after / self.level_h)
        stay = _chance(
            odds, price * self.level_h + _older(odds, less.stay), price * ends_after + lost
        )
        stay[..., ~self.is_off_safe] = IMPOSSIBLE
        return stay

    def _enter(self, stay: Array, lost: Array) -> Array:
        odds, price = self.up_restart, np.float32(self.assumed.price)
        started = price * self.assumed.restart_h + _moved(_older(odds, stay), self.after_restart)
        failed = price * odds.ends_after[:, :, None] + _moved(lost, self.after_half)[:, None]
        enter = _chance(odds, started, failed)
        enter[..., ~self.is_start_safe] = IMPOSSIBLE
        return enter

    def _bought(self, then: Array) -> Array:
        bought = self.assumed.restart_h + _moved(then, self.after_restart)
        bought[..., ~self.is_off_safe] = IMPOSSIBLE
        return bought

    def _wait(self, buy_down: Array, came_up: Array) -> Array:
        """Waiting from each slack to the next lower one, with the best choice there."""
        wait = np.full_like(buy_down, IMPOSSIBLE)
        for place in np.flatnonzero(self.is_off_safe)[1:]:
            odds = self.waits[place - 1]
            then = np.minimum(wait[..., place - 1], buy_down[..., place - 1])
            low, share = odds.older
            older = then[:, low] * (1 - share) + then[:, low + 1] * share
            part = odds.ends_after / (self.slacks[place] - self.slacks[place - 1])
            up = came_up[:, None, place] * (1 - part) + came_up[:, None, place - 1] * part
            wait[..., place] = odds.lasts * older + (1 - odds.lasts) * up
        return wait


def _odds(life: Life, factors: tuple[float, ...], hours: float) -> _Odds:
    lasts = [
        [life.chance_to_last(hours, age_h=age, factor=factor) for age in AGES_H]
        for factor in factors
    ]
    ends_after = [
        [
            (life.mean_within(hours, age_h=age, factor=factor) - hours * last)
            / max(1.0 - last, 1e-9)
            for age, last in zip(AGES_H, row, strict=True)
        ]
        for factor, row in zip(factors, lasts, strict=True)
    ]
    return _Odds(
        lasts=np.array(lasts, np.float32),
        ends_after=np.array(ends_after, np.float32),
        older=mix(AGES_H, [age + hours for age in AGES_H]),
    )


def _older(odds: _Odds, costs: Array) -> Array:
    low, share = odds.older
    part = share[None, :, None]
    aged: Array = costs[:, low] * (1 - part) + costs[:, low + 1] * part
    return aged


def _chance(odds: _Odds, lasts: Array, ends: Array) -> Array:
    return odds.lasts[:, :, None] * lasts + (1 - odds.lasts[:, :, None]) * ends


def _after(odds: _Odds, same: Array, other: Array) -> Array:
    """The state goes on and is older, or the other one has just begun."""
    return _chance(odds, _older(odds, same), other[:, :1])


def _moved(costs: Array, to: Mix) -> Array:
    moved: Array = costs[..., to.below] * (1 - to.share) + costs[..., to.below + 1] * to.share
    return moved


def _blend(one: Array, other: Array, *, share: float) -> Array:
    blended: Array = one + np.float32(share) * (other - one)
    return blended
