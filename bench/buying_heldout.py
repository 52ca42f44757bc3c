"""Whether the policy's habits were fitted to the traces they were chosen on: cross-validation.

Must not run inside the tests: it replays thousands of runs.

Published zones are divided into two halves that share no trace; a third part is synthetic, of other
statistics. The best habits on each part are judged on the others, beside those that are built in.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from statistics import fmean

import numpy as np
from buying import REAL, SPOT_PRICE, TRACES, WORK, Family, windows

from windlass.planner.buying.model import Terms
from windlass.planner.buying.options import Habits
from windlass.planner.buying.policy import USUAL, decide
from windlass.planner.buying.study.baselines import uniform_progress
from windlass.planner.buying.study.optimum import optimum
from windlass.planner.buying.study.replay import STEP_H, Market, replay
from windlass.planner.buying.study.synthetic import REGIMES, draw
from windlass.planner.buying.study.traces import Trace, load_traces, one_price, real_prices

ONE_PRICE = ((0.2, 52), (0.2, 60), (0.2, 72))
CANDIDATES = (
    USUAL,
    *(replace(USUAL, relief_age=age) for age in (0, 4)),
    *(replace(USUAL, outlook_h=hours) for hours in (1.0, 12.0)),
    *(replace(USUAL, move_margin=margin) for margin in (1.0, 2.0, 4.0, 6.0)),
)
PARTS = ("first zones", "other zones", "synthetic")
RUNS = 40

Task = tuple[str, int, float, int]


def families(part: str) -> Sequence[tuple[Family, tuple[tuple[float, int], ...]]]:
    """The markets of one part, with the cells to replay."""
    if part == "synthetic":
        return [
            (Family(name=regime.name, markets=_drawn(number), runs=RUNS), ((0.2, 60),))
            for number, regime in enumerate(REGIMES)
        ]
    half = PARTS.index(part)
    traces = load_traces(TRACES)
    v100, h100 = (_half(traces, name, half) for name in ("aws_v100_2023", "gcp_h100x16_2025"))
    pairs = [
        [trace for trace in traces if (trace.set, trace.gpu) == (name, gpu)]
        for name in ("aws_2022_10", "aws_2022_11", "aws_2022_12")
        for gpu in ("k80_1", "v100_8")
    ]
    together = {"V100 2023": [v100], "K80/V100 2022": pairs[half::2], "H100 16 of 16": [h100]}
    priced = {
        "H100 16 of 16, priced": real_prices(h100),
        "H100 1 of 16, priced": real_prices(h100, nodes=1),
        "V100 2023, priced": real_prices(v100),
    }
    return [
        (Family(name=name, markets=_one_price(groups), runs=RUNS), ONE_PRICE)
        for name, groups in together.items()
    ] + [(Family(name=name, markets=(each,), runs=RUNS), REAL) for name, each in priced.items()]


def _half(traces: Sequence[Trace], name: str, half: int) -> Sequence[Trace]:
    return [trace for trace in traces if trace.set == name][half::2]


def _one_price(groups: Sequence[Sequence[Trace]]) -> tuple[Market, ...]:
    return tuple(one_price(group, spot=SPOT_PRICE) for group in groups)


def _drawn(number: int) -> tuple[Market, ...]:
    steps = round(60 / STEP_H)
    prices = np.repeat(np.array([[0.3], [0.4], [0.55]]), steps, axis=1)
    return tuple(
        replace(draw(REGIMES[number], zones=3, steps=steps, seed=seed), spot=prices)
        for seed in range(RUNS)
    )


def ratios(task: Task) -> list[float]:
    """Cost over that of the optimum in one cell: uniform progress, then every candidate."""
    part, number, restart_h, deadline_h = task
    family = families(part)[number][0]
    runs = windows(family, deadline_h=deadline_h)
    terms = Terms(work_h=WORK * STEP_H, deadline_h=deadline_h, restart_h=restart_h, look_h=STEP_H)
    least = optimum(
        np.stack([run.up for run in runs]),
        np.stack([run.spot for run in runs]),
        on_demand=1.0,
        work=WORK,
        restart=round(restart_h / STEP_H),
    )
    best = sum(cost for cost in least if cost is not None)
    found = []
    for policy in (uniform_progress, *(partial(decide, habits=each) for each in CANDIDATES)):
        outcomes = [replay(run, policy, work=WORK, terms=terms) for run in runs]
        assert all(outcome.is_met for outcome in outcomes)
        found.append(sum(outcome.cost for outcome in outcomes) / best)
    return found


def scores(*, workers: int) -> Mapping[str, list[float]]:
    """For each part: the mean over its cells, of uniform progress and of every candidate."""
    tasks: list[Task] = [
        (part, number, restart_h, deadline_h)
        for part in PARTS
        for number, (_, cells) in enumerate(families(part))
        for restart_h, deadline_h in cells
    ]
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(ratios, tasks))
    return {
        part: [
            fmean(column)
            for column in zip(
                *(row for task, row in zip(tasks, found, strict=True) if task[0] == part),
                strict=True,
            )
        ]
        for part in PARTS
    }


def named(habits: Habits) -> str:
    return f"{habits.move_margin:g}, {habits.outlook_h:g} h, {habits.relief_age}"


def main() -> int:
    """Prints all scores, and what the best of each part costs on the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    found = scores(workers=parser.parse_args().workers)
    print("| margin, outlook, relief age |", " | ".join(PARTS), "|")
    print("|---|" + "---|" * len(PARTS))
    for number, name in enumerate(("uniform progress", *map(named, CANDIDATES))):
        print(f"| {name} |", " | ".join(f"{found[part][number]:.4f}" for part in PARTS), "|")
    print("\n| chosen on | habits | judged on | cost | built in | best there |")
    print("|---|---|---|---|---|---|")
    for chosen in PARTS:
        ours = found[chosen][1:]
        best = ours.index(min(ours))
        for judged in PARTS:
            if judged != chosen:
                there = found[judged][1:]
                print(
                    f"| {chosen} | {named(CANDIDATES[best])} | {judged} | {there[best]:.4f} "
                    f"| {there[0]:.4f} | {min(there):.4f} |"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
