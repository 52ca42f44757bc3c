"""What the buying policy costs beside greedy, uniform progress and the omniscient optimum.

Must not run inside the tests: it replays thousands of runs. As a program it prints every cell.

48 hours of work, steps of 72 s, probing free. Runs begin at evenly spaced moments of each trace,
from its first probe to the last moment at which the deadline still lies inside it; nothing was seen
before a run begins.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from figures import Figure, Result

from windlass.planner.buying.model import Terms
from windlass.planner.buying.policy import decide
from windlass.planner.buying.study import baselines
from windlass.planner.buying.study.optimum import optimum
from windlass.planner.buying.study.replay import STEP_H, Market, Policy, replay, starts
from windlass.planner.buying.study.traces import Trace, load_traces, one_price, real_prices

TRACES = Path(__file__).resolve().parents[1] / "tests" / "data" / "spot"
WORK = 2400
SPOT_PRICE = 0.3
RESTARTS_H = (0.02, 0.2)
DEADLINES_H = (52, 60, 72, 92)
ALL = tuple((restart, deadline) for restart in RESTARTS_H for deadline in DEADLINES_H)
REAL = ((0.2, 60), (0.2, 72))

POLICIES: Mapping[str, Policy] = {
    "greedy": baselines.greedy,
    "time-sliced": baselines.time_sliced,
    "UP": baselines.uniform_progress,
    "UP plain": baselines.uniform_progress_plain,
    "ours": decide,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Markets whose runs are averaged together."""

    name: str
    markets: tuple[Market, ...]
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row of the table: mean costs, where on-demand only costs 1."""

    family: str
    runs: int
    restart_h: float
    deadline_h: int
    costs: Mapping[str, float]
    best: float
    missed: int
    worst: float
    """The dearest single run of ours."""

    def ratio(self, policy: str) -> float:
        return self.costs[policy] / self.best


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One table, with the targets for the mean over its cells."""

    name: str
    families: Callable[[Sequence[Trace]], Sequence[Family]]
    cells: tuple[tuple[float, int], ...]
    must: float
    stretch: float


def single(traces: Sequence[Trace]) -> Sequence[Family]:
    sets = {
        "AWS V100 2023, 1 node": ("aws_v100_2023",),
        "AWS K80/V100 2022, 1 node": ("aws_2022_10", "aws_2022_11", "aws_2022_12"),
        "AWS V100 2023, gang of 4 / 16": ("aws_v100x16_2023", "aws_v100x4_2023"),
        "AWS preemption 2023, V100 + CPU": ("aws_cpu_pre_2023", "aws_v100_pre_2023"),
        "GCP H100 2025, gang of 16": ("gcp_h100x16_2025",),
    }
    return [
        Family(
            name=name,
            markets=tuple(
                one_price([trace], spot=SPOT_PRICE) for trace in traces if trace.set in wanted
            ),
            runs=120,
        )
        for name, wanted in sets.items()
    ]


def several(traces: Sequence[Trace]) -> Sequence[Family]:
    pairs = [
        [trace for trace in traces if (trace.set, trace.gpu) == (name, gpu)]
        for name in ("aws_2022_10", "aws_2022_11", "aws_2022_12")
        for gpu in ("k80_1", "v100_8")
    ]
    return [
        _together("AWS V100 2023, 4 zones", [_of(traces, "aws_v100_2023")], 100),
        _together("AWS K80/V100 2022, 2 zones", pairs, 102),
        _together("GCP H100 2025 gang of 16, 6 zones", [_of(traces, "gcp_h100x16_2025")], 100),
    ]


def priced(traces: Sequence[Trace]) -> Sequence[Family]:
    h100, v100 = _of(traces, "gcp_h100x16_2025"), _of(traces, "aws_v100_2023")
    return [
        Family(name="H100 16 of 16", markets=(real_prices(h100),), runs=100),
        Family(name="H100 at least 1 of 16", markets=(real_prices(h100, nodes=1),), runs=100),
        Family(name="V100 2023, price series", markets=(real_prices(v100),), runs=100),
    ]


SETTINGS = (
    Setting(name="single zone", families=single, cells=ALL, must=1.050, stretch=1.035),
    Setting(name="several zones, one price", families=several, cells=ALL, must=1.065, stretch=1.05),
    Setting(
        name="several zones, real prices", families=priced, cells=REAL, must=1.12, stretch=1.06
    ),
)
TIGHT = ((0.2, 52), 1.140, 1.100)
"""A target of its own in the first setting."""


def _of(traces: Sequence[Trace], name: str) -> Sequence[Trace]:
    return [trace for trace in traces if trace.set == name]


def _together(name: str, groups: Sequence[Sequence[Trace]], runs: int) -> Family:
    return Family(
        name=name,
        markets=tuple(one_price(group, spot=SPOT_PRICE) for group in groups),
        runs=runs,
    )


def windows(family: Family, *, deadline_h: int, half: int | None = None) -> list[Market]:
    """The runs of a family; those of the first or second half of each trace, if asked for."""
    steps = round(deadline_h / STEP_H)
    count = family.runs // len(family.markets)
    found = []
    for market in family.markets:
        begins = list(starts(market.up.shape[1], length=steps, count=count))
        if half is not None:
            middle = len(begins) // 2
            begins = begins[middle:] if half else begins[:middle]
        found += [market.window(start, steps) for start in begins]
    return found


def cell(family: Family, restart_h: float, deadline_h: int, *, half: int | None = None) -> Cell:
    """Replays one cell with every policy."""
    runs = windows(family, deadline_h=deadline_h, half=half)
    least = optimum(
        np.stack([run.up for run in runs]),
        np.stack([run.spot for run in runs]),
        on_demand=1.0,
        work=WORK,
        restart=round(restart_h / STEP_H),
    )
    terms = Terms(work_h=WORK * STEP_H, deadline_h=deadline_h, restart_h=restart_h, look_h=STEP_H)
    outcomes = {
        name: [replay(run, policy, work=WORK, terms=terms) for run in runs]
        for name, policy in POLICIES.items()
    }
    return Cell(
        family=family.name,
        runs=len(runs),
        restart_h=restart_h,
        deadline_h=deadline_h,
        costs={
            name: fmean(outcome.cost / WORK for outcome in found)
            for name, found in outcomes.items()
        },
        best=fmean(cost / WORK for cost in least if cost is not None),
        missed=sum(not outcome.is_met for found in outcomes.values() for outcome in found),
        worst=max(outcome.cost / WORK for outcome in outcomes["ours"]),
    )


def _cell(arguments: tuple[str, int, float, int, int | None]) -> Cell:
    setting, number, restart_h, deadline_h, half = arguments
    families = next(each for each in SETTINGS if each.name == setting).families
    family = families(load_traces(TRACES))[number]
    return cell(family, restart_h, deadline_h, half=half)


def cells(setting: Setting, *, workers: int, half: int | None = None) -> list[Cell]:
    """Every cell of a setting."""
    count = len(setting.families(load_traces(TRACES)))
    asked = [
        (setting.name, number, restart_h, deadline_h, half)
        for restart_h, deadline_h in setting.cells
        for number in range(count)
    ]
    if workers == 1:
        return [_cell(each) for each in asked]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(_cell, asked))


def mean_ratio(found: Sequence[Cell], policy: str) -> float:
    """Mean cost over that of the optimum, over cells."""
    return fmean(each.ratio(policy) for each in found)


def tight(found: Sequence[Cell]) -> list[Cell]:
    return [each for each in found if (each.restart_h, each.deadline_h) == TIGHT[0]]


def measure() -> Result:
    """For `make bench`: ratios to the optimum, with what must be reached."""
    figures = []
    for setting in SETTINGS:
        found = cells(setting, workers=2)
        figures.append(_figure(setting.name, found, setting.must, setting.stretch))
        if setting is SETTINGS[0]:
            figures.append(_figure("  restart 0.2 h, deadline 52 h", tight(found), *TIGHT[1:]))
    return Result(
        title="buying under a deadline: mean cost over published traces",
        baseline="the omniscient optimum, which knows the future",
        limit="1: nobody can be cheaper",
        figures=tuple(figures),
    )


def _figure(name: str, found: Sequence[Cell], must: float, stretch: float) -> Figure:
    ours, theirs = mean_ratio(found, "ours"), mean_ratio(found, "UP")
    missed = sum(each.missed for each in found)
    return Figure(
        name=name,
        value=ours,
        unit="x",
        # A missed deadline is a missed target, whatever was saved.
        ratio=ours if not missed else float("inf"),
        target=must,
        note=f"stretch {stretch:g}: {'met' if ours <= stretch else 'not met'}; "
        f"uniform progress {theirs:.3f}; {missed} deadlines missed",
    )


def main() -> int:
    """Prints every cell; the exit status is 1 when a deadline or a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", type=int, choices=(0, 1), help="only these halves of all traces")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    begun = time.monotonic()
    is_met = True
    for setting in SETTINGS:
        found = cells(setting, workers=chosen.workers, half=chosen.half)
        print(f"\n### {setting.name}\n")
        show(found)
        is_met = summarise(setting, found) and is_met
    print(f"\n{time.monotonic() - begun:.0f} s")
    return 0 if is_met else 1


def show(found: Sequence[Cell]) -> None:
    """The table of one setting."""
    names = list(POLICIES)
    print("| set | runs | d | D |", " | ".join(names), "| omniscient | ours / omniscient | worst |")
    print("|---|---|---|---|" + "---|" * (len(names) + 3))
    for each in found:
        costs = " | ".join(f"{each.costs[name]:.3f}" for name in names)
        print(
            f"| {each.family} | {each.runs} | {each.restart_h:g} | {each.deadline_h} | {costs} "
            f"| {each.best:.3f} | {each.ratio('ours'):.3f} | {each.worst:.3f} |"
        )
    print("\n| d | D |", " | ".join(names), "| missed |")
    print("|---|---|" + "---|" * (len(names) + 1))
    for restart_h, deadline_h in dict.fromkeys((e.restart_h, e.deadline_h) for e in found):
        row = [e for e in found if (e.restart_h, e.deadline_h) == (restart_h, deadline_h)]
        means = " | ".join(f"{mean_ratio(row, name):.3f}" for name in names)
        print(f"| {restart_h:g} | {deadline_h} | {means} | {sum(e.missed for e in row)} |")
    means = " | ".join(f"{mean_ratio(found, name):.3f}" for name in names)
    print(f"| all | all | {means} | {sum(e.missed for e in found)} |")


def summarise(setting: Setting, found: Sequence[Cell]) -> bool:
    """Says which targets were reached; whether those that must be are."""
    goals = [(setting.name, found, setting.must, setting.stretch)]
    if setting is SETTINGS[0]:
        goals.append(("single zone, d=0.2, D=52", tight(found), TIGHT[1], TIGHT[2]))
    is_met = not sum(each.missed for each in found)
    print()
    for name, part, must, stretch in goals:
        ours = mean_ratio(part, "ours")
        is_met = is_met and ours <= must
        print(
            f"{name}: {ours:.3f} (must {must:g}: {'reached' if ours <= must else 'NOT REACHED'}; "
            f"stretch {stretch:g}: {'reached' if ours <= stretch else 'not reached'})"
        )
    print("by set:", ", ".join(_by_set(found)))
    return is_met


def _by_set(found: Sequence[Cell]) -> list[str]:
    names = dict.fromkeys(each.family for each in found)
    return [
        f"{name} {mean_ratio([each for each in found if each.family == name], 'ours'):.3f}"
        for name in names
    ]


if __name__ == "__main__":
    sys.exit(main())
