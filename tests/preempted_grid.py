"""Runs to play and the same runs as the planner sees them, over the whole grid of what is promised.

Must not judge anything: the tests of each formula do.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

from preempted_runs import Play
from windlass.planner.course import Course
from windlass.planner.interval import auto_segments, best_interval_s, segments_for

PREEMPTIONS = (0.01, 0.1, 0.13, 0.3, 0.7, 1.0, 2.0, 3.5, 6.0, 10.0, 18.0, 30.0)
"""In the time of the work alone; with all that is repeated there are more."""
NODES = (1, 2, 8, 64, 512)
SAVES_S = (1.0, 30.0, 200.0, 600.0)
RESTARTS_S = (30.0, 300.0, 1800.0)
WAITS_S = (0.0, 900.0, 5000.0)
WORK_S = (4 * 3600.0, 12 * 3600.0, 72 * 3600.0)

CORNERS = tuple(itertools.product(SAVES_S, RESTARTS_S))


@dataclass(frozen=True)
class Case:
    """One point of the grid."""

    seed: int
    play: Play
    course: Course

    def __str__(self) -> str:
        run = self.play
        return (
            f"{run.node_hazard * run.nodes * run.work:g}x-{run.nodes}n-c{run.save:g}"
            f"-r{run.restart:g}-w{run.wait:g}-{run.segments}s"
        )


def cases(preemptions: float, nodes: int, *, count: int) -> list[Case]:
    """So many points with that many preemptions and nodes, always the same; CORNERS are all.

    Which save and restart come first differs, so that a few of each are spread over the grid. What
    the grid leaves open (the work, the wait, how often is saved) is drawn.
    """
    chosen = random.Random(f"{preemptions} on {nodes}")
    corners = chosen.sample(CORNERS, len(CORNERS))[:count]
    return [_case(chosen, preemptions, nodes=nodes, corner=corner) for corner in corners]


def _case(
    chosen: random.Random, preemptions: float, *, nodes: int, corner: tuple[float, float]
) -> Case:
    while True:
        course = _course(chosen, preemptions, *corner)
        # What never ends cannot be played; those hopeless runs have tests of their own.
        rate = course.hazard_per_s
        if rate * max(course.segment_s, course.restart_s) < 3 and course.preemptions < 200:
            break
    run = Play(
        nodes=nodes,
        node_hazard=rate / nodes,
        work=course.work_s,
        segments=course.segments,
        save=course.save_s,
        restart=course.restart_s,
        wait=course.wait_s,
        first_wait=course.first_wait_s,
    )
    return Case(seed=chosen.getrandbits(32), play=run, course=course)


def _course(chosen: random.Random, preemptions: float, save_s: float, restart_s: float) -> Course:
    work_s, wait_s = chosen.choice(WORK_S), chosen.choice(WAITS_S)
    rate = preemptions / work_s
    best = segments_for(work_s, best_interval_s(rate, save_s))
    return Course(
        work_s=work_s,
        hazard_per_s=rate,
        segments=chosen.choice((best, auto_segments(work_s, rate, save_s), 1, 7)),
        save_s=save_s,
        restart_s=restart_s,
        wait_s=wait_s,
        first_wait_s=wait_s / 2,
    )
