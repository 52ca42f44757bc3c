"""The decision table: what it costs to finish, by work left, slack and age.

Must not know zones or runs: a table holds for what is assumed. Costs are in hours of on-demand.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from math import ceil, log
from typing import NamedTuple

from windlass.planner.buying.grid import between, slack_points
from windlass.planner.buying.levels import AGES_H, Assumed, Level, Program, Rows

FACTORS = (0.3, 0.55, 1.0, 1.8, 3.3)
"""Zone factors that there are tables for; between them costs are interpolated."""

LEVEL_H = 0.2
"""Work between two levels, unless that makes too few of them or too many."""

LEVELS_MIN, LEVELS_MAX = 60, 480

KEPT = 96
"""Tables that are kept, of about a megabyte each; a run with six zones uses some forty."""

_LOG_FACTORS = [log(factor) for factor in FACTORS]


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
    wait_less_buy: float
    """Idle, all is down for so long: what waiting costs more than on-demand."""


class Table:
    """Costs by work left, slack and age, for one zone factor."""

    def __init__(self, assumed: Assumed) -> None:
        levels = min(LEVELS_MAX, max(LEVELS_MIN, ceil(assumed.work_h / LEVEL_H)))
        # Every second level is kept: costs are nearly linear in work, and a table stays small.
        self._kept_h = 2 * assumed.work_h / levels
        self._slacks = slack_points(assumed.restart_h, assumed.slack_h)
        program = Program(assumed, slacks=self._slacks, level_h=assumed.work_h / levels)
        level = program.nothing_left()
        self._levels = [_kept(level)]
        for number in range(1, levels + 2):
            level = program.more_work(level)
            if number % 2 == 0:
                self._levels.append(_kept(level))

    def costs(self, *, work_h: float, slack_h: float, age_h: float) -> Costs:
        """The costs at this state; beyond the ends of the table those at its ends."""
        most = len(self._levels) - 1
        place = min(max(work_h, 0.0) / self._kept_h, most)
        level = min(int(place), most - 1)
        age, age_share = between(AGES_H, age_h)
        slack, slack_share = between(self._slacks, slack_h)
        corners = [
            (age * len(self._slacks) + slack, (1.0 - age_share) * (1.0 - slack_share)),
            (age * len(self._slacks) + slack + 1, (1.0 - age_share) * slack_share),
            ((age + 1) * len(self._slacks) + slack, age_share * (1.0 - slack_share)),
            ((age + 1) * len(self._slacks) + slack + 1, age_share * slack_share),
        ]
        part = place - level
        return Costs._make(
            sum((less[at] * (1.0 - part) + more[at] * part) * weight for at, weight in corners)
            for less, more in zip(self._levels[level], self._levels[level + 1], strict=True)
        )


def _kept(level: Level) -> list[array[float]]:
    """What is looked up, in the order of Costs."""
    return [
        _flat(rows)
        for rows in (level.stay, level.enter, level.keep, level.buy, level.wait_less_buy)
    ]


def _flat(rows: Rows) -> array[float]:
    return array("f", [cost for row in rows for cost in row])


@lru_cache(maxsize=KEPT)
def table_for(assumed: Assumed) -> Table:
    """The table, computed once."""
    return Table(assumed)


def factors_around(factor: float) -> list[tuple[float, float]]:
    """The factors that there are tables for next to this one, with their shares."""
    low, share = between(_LOG_FACTORS, log(factor))
    pair = ((FACTORS[low], 1.0 - share), (FACTORS[low + 1], share))
    return [(known, part) for known, part in pair if part > 0.0]
