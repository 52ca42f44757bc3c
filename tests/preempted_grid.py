"""Runs to play and the same runs as the planner sees them, over the whole grid of what is promised.

Must not judge anything: the tests of each formula do.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from preempted_runs import Play
from windlass.planner.course import Course
from windlass.planner.interval import best_interval_s, segments_for

PREEMPTIONS = (0.01, 0.1, 0.13, 0.3, 0.7, 1.0, 2.0, 3.5, 6.0, 10.0, 18.0, 30.0)
SAVES_S = (1.0, 30.0, 200.0, 600.0)
RESTARTS_S = (30.0, 300.0, 1800.0)
WAITS_S = (0.0, 900.0, 5000.0)
WORK_S = (4 * 3600.0, 12 * 3600.0, 72 * 3600.0)
NODES = (1, 1, 1, 8, 64, 512)


@dataclass(frozen=True)
class Case:
    """One point of the grid."""

    seed: int
    play: Play
    course: Course

    @property
    def count(self) -> int:
        """Runs to play: as many as a second allows."""
        return 20_000 if self.play.nodes == 1 else 8_000 if self.play.nodes < 64 else 4_000

    def __str__(self) -> str:
        run = self.play
        return (
            f"{run.node_hazard * run.nodes * run.work:g}x-{run.nodes}n-c{run.save:g}"
            f"-r{run.restart:g}-w{run.wait:g}-{run.segments}s"
        )


def cases(count: int) -> list[Case]:
    """So many points of the grid, always the same for the same count."""
    chosen = random.Random(count)
    found: list[Case] = []
    while len(found) < count:
        case = _case(chosen, seed=len(found), preemptions=PREEMPTIONS[len(found) % 12])
        # What never ends cannot be played; those hopeless runs have tests of their own.
        if case.course.hazard_per_s * case.course.segment_s < 3 and case.course.preemptions < 200:
            found.append(case)
    return found


def _case(chosen: random.Random, *, seed: int, preemptions: float) -> Case:
    work, nodes = chosen.choice(WORK_S), chosen.choice(NODES)
    save, restart, wait = (chosen.choice(of) for of in (SAVES_S, RESTARTS_S, WAITS_S))
    hazard = preemptions / work
    best = segments_for(work, best_interval_s(hazard, save))
    segments = chosen.choice((best, best, 1, 7))
    return Case(
        seed=seed,
        play=Play(
            nodes=nodes,
            node_hazard=hazard / nodes,
            work=work,
            segments=segments,
            save=save,
            restart=restart,
            wait=wait,
            first_wait=wait / 2,
        ),
        course=Course(
            work_s=work,
            hazard_per_s=hazard,
            segments=segments,
            save_s=save,
            restart_s=restart,
            wait_s=wait,
            first_wait_s=wait / 2,
        ),
    )
