"""Means, spreads and quantiles of a preempted run, held to runs that are played event by event."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

import counts
from preempted_grid import CORNERS, NODES, PREEMPTIONS, Case, cases
from preempted_runs import play
from tallies import Figure, Tally
from windlass.planner.course import expected_held_s, expected_wall_s, moments
from windlass.planner.quantiles import P50, P90, quantile_s

OFF = 0.02
"""By how much a formula may differ from what was played."""
CHANCE = 0.004
"""How small the relative standard error must be for that to mean something: five times less."""
RUNS = 15_000
"""Played at least: the share of them that ends in time is then known to a quarter of a percent."""
LIVES = 6_000 * counts.EXAMPLES**2
"""Of nodes, drawn for rarer things than the whole time: no limit to speak of in `make soak`."""
POINTS = min(len(CORNERS), max(1, counts.EXAMPLES // 100))
A_HAIR = 1 + 1e-9
"""Sums of the same parts in another order differ in their last digit."""


@dataclass
class Tallies:
    """Everything that is measured of one point."""

    lost: Tally = field(default_factory=Tally)
    """The time on top of what a run takes that is never preempted."""
    lost_held: Tally = field(default_factory=Tally)
    hits: Tally = field(default_factory=Tally)
    within: dict[str, Tally] = field(default_factory=dict)
    lives: int = 0


def limits_of(case: Case) -> dict[str, float]:
    held = case.course.without_waits()
    return {
        "P50": quantile_s(case.course, P50),
        "P90": quantile_s(case.course, P90),
        "P50 held": quantile_s(held, P50),
        "P90 held": quantile_s(held, P90),
    }


def means_of(case: Case, seen: Tallies) -> dict[str, tuple[float, Figure]]:
    """What the formulas say, and what was played."""
    course = case.course
    calm_held = course.least_s - course.first_wait_s
    held = expected_held_s(course)
    expected = moments(course)
    return {
        "wall": (expected_wall_s(course, held), seen.lost.mean().plus(course.least_s)),
        "held": (held, seen.lost_held.mean().plus(calm_held)),
        "lost": (expected.mean - course.least_s, seen.lost.mean()),
        "preemptions": (course.preemptions, seen.hits.mean()),
        "deviation": (math.sqrt(expected.variance), seen.lost.deviation()),
    }


ALWAYS = ("wall", "held")
"""Means that must be known precisely even where few lives may be drawn."""


def is_enough(case: Case, seen: Tallies) -> bool:
    if seen.hits.count < RUNS:
        return False
    chances = {name: figure.chance() for name, (_, figure) in means_of(case, seen).items()}
    if max(chances.values()) <= CHANCE:
        return True
    return seen.lives >= LIVES and max(chances[name] for name in ALWAYS) <= CHANCE


def measure(case: Case) -> Tallies:
    seen = Tallies(within={name: Tally() for name in limits_of(case)})
    limits = limits_of(case)
    chance = np.random.default_rng(case.seed)
    calm_held = case.course.least_s - case.course.first_wait_s
    while not is_enough(case, seen):
        batch = play(case.play, count=max(5_000, 200_000 // case.play.nodes), chance=chance)
        seen.lost.add(batch.wall - case.course.least_s)
        seen.lost_held.add(batch.held - calm_held)
        seen.hits.add(batch.hits)
        for name, limit in limits.items():
            of = batch.held if name.endswith("held") else batch.wall
            seen.within[name].add(of <= limit * A_HAIR)
        seen.lives += (batch.hits.size + batch.hits.sum()) * case.play.nodes
    return seen


def wrong_means(case: Case, seen: Tallies) -> Iterator[str]:
    for name, (expected, figure) in means_of(case, seen).items():
        off, chance = figure.off(expected), figure.chance()
        if off > 5 * chance + 1e-9 or (chance <= CHANCE and off > OFF):
            yield f"{case}: {name} is {figure}, not {expected}: {off:.2%} off"
        if chance > CHANCE and (name in ALWAYS or counts.EXAMPLES >= 1000):
            yield f"{case}: {name} is known to {chance:.2%} only"


def bounds_of(case: Case, probability: float, width: float) -> tuple[float, float]:
    """The share of runs that may end within a quantile."""
    calm = case.course.calm
    if calm >= probability:
        return calm, calm  # It is the time of runs that see nothing.
    if calm > probability - width:
        return probability, probability + width  # The smallest that covers as much as is asked.
    return probability - width, probability + width


def wrong_shares(case: Case, seen: Tallies) -> Iterator[str]:
    for name, limit in limits_of(case).items():
        probability = P90 if name.startswith("P90") else P50
        low, high = bounds_of(case, probability, 0.02)
        figure = seen.within[name].share()
        # Where the bound is exact, chance needs room; otherwise 88 to 92 % is what is promised.
        room = 5 * figure.error if low == high or low == probability else 0.0
        if not low - room <= figure.value <= high + room:
            yield f"{case}: {figure} of the runs end within {name} ({limit:.6g} s)"
        is_calm = case.course.calm >= probability
        least = case.course.least_s - (case.course.first_wait_s if name.endswith("held") else 0.0)
        if is_calm and limit != pytest.approx(least, rel=1e-12):
            yield f"{case}: {name} is {limit}, and not {least}"


@pytest.mark.soak
@pytest.mark.parametrize(
    ("preemptions", "nodes"),
    [*itertools.product(PREEMPTIONS, NODES)],
    ids=lambda value: f"{value:g}",
)
def test_every_mean_and_quantile_agrees_with_played_runs(preemptions, nodes, record_property):
    problems: list[str] = []
    worst: dict[str, float] = {}
    for case in cases(preemptions, nodes, count=POINTS):
        seen = measure(case)
        problems += [*wrong_means(case, seen), *wrong_shares(case, seen)]
        for name, (expected, figure) in means_of(case, seen).items():
            if figure.chance() <= CHANCE:
                worst[name] = max(worst.get(name, 0.0), figure.off(expected))
        for name, tally in seen.within.items():
            probability = P90 if name.startswith("P90") else P50
            if case.course.calm < probability:
                off = abs(tally.share().value - probability)
                worst[name] = max(worst.get(name, 0.0), off)
    if counts.EXAMPLES >= 1000:
        record_property("worst", ", ".join(f"{name} {off:.2%}" for name, off in worst.items()))
    assert not problems, "\n".join(problems)


@pytest.mark.soak
@pytest.mark.parametrize("preemptions", [0.1, 1.0, 6.0, 30.0])
def test_the_third_moment_agrees_with_played_runs(preemptions, record_property):
    """It takes many runs to know, so few points have them; quantiles depend on it everywhere."""
    for case in cases(preemptions, 1, count=POINTS)[:2]:
        tally = Tally()
        chance = np.random.default_rng(case.seed)
        events = 0
        while not events or (tally.third().chance() > CHANCE and events < LIVES / 20):
            batch = play(case.play, count=100_000, chance=chance)
            tally.add(batch.wall - case.course.least_s)
            events += batch.hits.size + batch.hits.sum()
        expected, figure = moments(case.course).third, tally.third()
        if counts.EXAMPLES >= 1000:
            record_property("worst", f"third moment {figure.off(expected):.2%}")
            assert figure.chance() <= CHANCE
        assert figure.off(expected) <= 5 * figure.chance()
        assert figure.off(expected) <= OFF or figure.chance() > CHANCE
