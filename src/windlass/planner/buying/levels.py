"""The dynamic program behind a table: costs at one level of work, from those of the level below.

Must not know zones or runs, nor keep levels. Costs are in hours of on-demand.

Work leaves slack as it is, waiting uses it up hour by hour, every restart uses up `restart_h` of
it; with less than one restart of slack there is only on-demand. The state also holds how long spot
capacity has been up, or the outage has lasted. Plain lists of floats: a table takes as long as with
arrays (rows are short), and whoever decides needs no package for it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from windlass.planner.buying.grid import between, moved
from windlass.planner.buying.hazards import DOWN, UP, Life

AGES_H = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6)
"""Ages of a state that are told apart; between them values are interpolated."""

IMPOSSIBLE = 1e6
SHORT = 1e-9

Row = list[float]
"""By slack."""
Rows = list[Row]
"""By age, then by slack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """What a table holds for."""

    restart_h: float
    price: float
    """Of spot, where on-demand costs 1."""
    factor: float
    """How much faster than usual spot capacity ends, see Record.up_factor."""
    returns: float
    """How much faster than usual an outage ends: zones that come back add up."""
    relief: float
    """The probability that another zone is up when this one is lost."""
    relief_age: int
    """Index in AGES_H of how long that zone has been up then."""
    work_h: float
    slack_h: float
    """Table sizes; more is taken as this much."""


class Level(NamedTuple):
    """Costs at one level of work left."""

    stay: Rows
    enter: Rows
    keep: Rows
    buy: Rows
    wait_less_buy: Rows
    on_up: Rows
    on_down: Rows
    lost: Row
    """When spot is lost."""
    slope: Row
    """How much `lost` grew over the last level."""


class _Odds(NamedTuple):
    """What may happen in some hours to a state of one age."""

    lasts: float
    ends: float
    ends_after: float
    """When it ends, if it does."""
    low: int
    """Index in AGES_H below the age it has afterwards, with the shares of this and the next."""
    below: float
    above: float


class Program:
    """The steps of the program for one set of assumptions."""

    def __init__(self, assumed: Assumed, *, slacks: Sequence[float], level_h: float) -> None:
        self.assumed = assumed
        self.level_h = level_h
        self.slacks = slacks
        restart_h = assumed.restart_h
        # The first slack at which on-demand is not a must, and at which a start may fail.
        self.off_safe = bisect_left(slacks, restart_h - SHORT)
        self.start_safe = bisect_left(slacks, 2 * restart_h - SHORT)
        self.after_restart = [between(slacks, slack - restart_h) for slack in slacks]
        self.after_half = [between(slacks, slack - restart_h / 2) for slack in slacks]
        self.up_level = _odds(UP, level_h, factor=assumed.factor)
        self.down_level = _odds(DOWN, level_h, factor=assumed.returns)
        self.up_restart = _odds(UP, restart_h, factor=assumed.factor)
        self.down_restart = _odds(DOWN, restart_h, factor=assumed.returns)
        self.waits = [
            _odds(DOWN, above - below, factor=assumed.returns)
            for below, above in zip(slacks, slacks[1:], strict=False)
        ]

    def nothing_left(self) -> Level:
        """Nothing to do costs nothing."""
        row = [0.0] * len(self.slacks)
        rows = [row] * len(AGES_H)
        return Level(rows, rows, rows, rows, rows, rows, rows, row, [self.level_h] * len(row))

    def more_work(self, less: Level) -> Level:
        """The costs with one more level of work to do."""
        stay = self._stay(less)
        enter = self._enter(stay, less)
        keep = _after(self.up_level, less.on_up, less.on_down[0], plus=self.level_h)
        on_up = [list(map(min, kept, entered)) for kept, entered in zip(keep, enter, strict=True)]
        on_down = _after(self.down_level, less.on_down, less.on_up[0], plus=self.level_h)
        buy = self._bought(_after(self.up_restart, on_up, on_down[0]))
        buy_down = self._bought(_after(self.down_restart, on_down, on_up[0]))
        wait = self._wait(buy_down, list(map(min, enter[0], buy[0])))
        lost = self._lost(
            alone=list(map(min, wait[0], buy_down[0])),
            relieved=list(map(min, enter[self.assumed.relief_age], buy[self.assumed.relief_age])),
        )
        return Level(
            stay=stay,
            enter=enter,
            keep=keep,
            buy=buy,
            wait_less_buy=[
                [waited - bought for waited, bought in zip(*rows, strict=True)]
                for rows in zip(wait, buy_down, strict=True)
            ],
            on_up=on_up,
            on_down=on_down,
            lost=lost,
            slope=[now - before for now, before in zip(lost, less.lost, strict=True)],
        )

    def _stay(self, less: Level) -> Rows:
        price, level_h = self.assumed.price, self.level_h
        found = []
        for lasts, ends, ends_after, low, below, above in self.up_level:
            paid = price * (lasts * level_h + ends * ends_after)
            # Lost after a part of the level: what is left of it is still to be done.
            undone = ends * (1.0 - ends_after / level_h)
            rows = zip(less.stay[low], less.stay[low + 1], less.lost, less.slope, strict=True)
            row = [
                paid + below * young + above * old + ends * lost + undone * slope
                for young, old, lost, slope in rows
            ]
            found.append(_only_from(self.off_safe, row))
        return found

    def _enter(self, stay: Rows, less: Level) -> Rows:
        price, restart_h = self.assumed.price, self.assumed.restart_h
        ahead = [lost + slope for lost, slope in zip(less.lost, less.slope, strict=True)]
        failed = moved(ahead, self.after_half)
        found = []
        for lasts, ends, ends_after, low, below, above in self.up_restart:
            paid = price * (lasts * restart_h + ends * ends_after)
            aged = [
                below * young + above * old
                for young, old in zip(stay[low], stay[low + 1], strict=True)
            ]
            started = moved(aged, self.after_restart)
            row = [paid + then + ends * lost for then, lost in zip(started, failed, strict=True)]
            found.append(_only_from(self.start_safe, row))
        return found

    def _bought(self, then: Rows) -> Rows:
        restart_h = self.assumed.restart_h
        return [
            _only_from(self.off_safe, [restart_h + cost for cost in moved(row, self.after_restart)])
            for row in then
        ]

    def _wait(self, buy_down: Rows, came_up: Row) -> Rows:
        """Waiting from each slack to the next lower one, with the best choice there."""
        wait = [[IMPOSSIBLE] * (self.off_safe + 1) for _ in AGES_H]
        for place in range(self.off_safe + 1, len(self.slacks)):
            step_h = self.slacks[place] - self.slacks[place - 1]
            then = [
                min(waited[place - 1], bought[place - 1])
                for waited, bought in zip(wait, buy_down, strict=True)
            ]
            now_up, later_up = came_up[place], came_up[place - 1] - came_up[place]
            for row, odds in zip(wait, self.waits[place - 1], strict=True):
                _, ends, ends_after, low, below, above = odds
                up = now_up + later_up * ends_after / step_h
                row.append(below * then[low] + above * then[low + 1] + ends * up)
        return wait

    def _lost(self, *, alone: Row, relieved: Row) -> Row:
        share = self.assumed.relief
        row = [one + share * (other - one) for one, other in zip(alone, relieved, strict=True)]
        return _only_from(self.off_safe, row)


def _odds(life: Life, hours: float, *, factor: float) -> list[_Odds]:
    found = []
    for age_h in AGES_H:
        lasts = life.chance_to_last(hours, age_h=age_h, factor=factor)
        within_h = life.mean_within(hours, age_h=age_h, factor=factor)
        low, share = between(AGES_H, age_h + hours)
        found.append(
            _Odds(
                lasts=lasts,
                ends=1.0 - lasts,
                ends_after=(within_h - hours * lasts) / max(1.0 - lasts, 1e-9),
                low=low,
                below=lasts * (1.0 - share),
                above=lasts * share,
            )
        )
    return found


def _after(odds: Sequence[_Odds], same: Rows, other: Row, *, plus: float = 0.0) -> Rows:
    """The state goes on and is older, or the other one has just begun."""
    return [
        [
            plus + below * young + above * old + ends * changed
            for young, old, changed in zip(same[low], same[low + 1], other, strict=True)
        ]
        for _, ends, _, low, below, above in odds
    ]


def _only_from(first: int, row: Row) -> Row:
    return [IMPOSSIBLE] * min(first, len(row)) + row[first:]
