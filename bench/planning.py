"""How long a plan takes: warm in one process, cold as a command, and over larger catalogs.

Every plan has P50 and P90 of time and dollars for its best ten, the front, and the places to try.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from clocks import BARE, WINDLASS, environment, in_turn, median, process_cost, seconds
from figures import Figure, Result

WARM_TARGET_MS = 10.0
COLD_TARGET = 20.0
REPETITIONS = 21
GROWTHS = (1, 10, 100)
TAIL = "work: {params: 7e9, tokens: 2e11}\ncheckpoint: {to: gs://bucket/ckpt}\n"
FIVE = "[H100:8, A100-80:8, H200:8, A100:8, L4:8]"
ASKS = {
    "H100:8, any region": ("[H100:8]", "1"),
    "five accelerators, any region, 1 to 64 nodes": (FIVE, "1..64"),
    "TPU v5e-16": ("[v5e-16]", "1"),
}


def measure() -> Result:
    """Warm calls first, then processes in turn with a bare Python."""
    figures = [*_warm(), *_cold(), *_growing()]
    return Result(
        title="Planning, with P50 and P90",
        baseline="the target of 10 ms (warm), `python -c pass` (cold), the smallest catalog (rows)",
        limit="an indexed look-up of one row is 0.03 ms, a scan of 34,753 rows 2.8 ms",
        peers=(
            "SkyPilot's optimizer, one instance type a task: H100:8 460 ms warm, any of five "
            "1,690 ms, TPU v5e-16 210 ms; its import alone is 1.6 s (2026-11-15)"
        ),
        figures=tuple(figures),
    )


def _text(accelerators: str, nodes: str) -> str:
    resources = f"resources: {{accelerators: {accelerators}, nodes: {nodes}}}\n"
    return f"name: a\nrun: b\n{resources}{TAIL}"


def _spec(accelerators: str, nodes: str):
    from windlass.spec.load import parse_spec

    return parse_spec(_text(accelerators, nodes), path="bench.yaml", folder=None)


def _planned(spec, catalog):
    from windlass.planner.plan import make_plan

    plan = make_plan(spec, catalog)
    for found in plan.candidates[:10]:
        assert found.estimate.p50_s <= found.estimate.p90_s
        assert found.usd_p50 <= found.usd_p90
    return plan, plan.front, plan.failover


def _warm() -> list[Figure]:
    from windlass.catalog.load import load_catalog

    catalog = load_catalog()
    specs = {name: _spec(*ask) for name, ask in ASKS.items()}
    sides = {
        name: lambda spec=spec: seconds(lambda: _planned(spec, catalog))
        for name, spec in specs.items()
    }
    found = in_turn(sides, repetitions=REPETITIONS)
    figures = []
    for name, spec in specs.items():
        ms = median(found[name]) * 1e3
        plan, _, _ = _planned(spec, catalog)
        note = f"{len(plan.candidates)} candidates, {len(plan.refusals)} refusals"
        ratio = ms / WARM_TARGET_MS
        figures.append(
            Figure(name=f"warm: {name}", value=ms, unit="ms", ratio=ratio, target=1.0, note=note)
        )
    return figures


def _cold() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="windlass-bench-") as folder:
        env = environment(Path(folder))
        sides = {"python": lambda: process_cost(BARE, env)}
        for number, (name, ask) in enumerate(ASKS.items()):
            path = Path(folder) / f"{number}.yaml"
            path.write_text(_text(*ask))
            argv = (WINDLASS, "plan", str(path), "--json")
            sides[name] = lambda argv=argv: process_cost(argv, env)
        found = in_turn(sides, repetitions=REPETITIONS)
    bare = median([cost.wall_s for cost in found["python"]])
    bare_cpu = median([cost.cpu_s for cost in found["python"]])
    figures = []
    for name in ASKS:
        wall = median([cost.wall_s for cost in found[name]])
        cpu = median([cost.cpu_s for cost in found[name]])
        figures.append(
            Figure(
                name=f"cold: {name}",
                value=wall * 1e3,
                unit="ms",
                ratio=wall / bare,
                target=COLD_TARGET,
                note=f"processor time {cpu / bare_cpu:.1f} x",
            )
        )
    return figures


def _growing() -> list[Figure]:
    """The same ask over more zones; the ratio is of the time for each row."""
    from windlass.catalog.load import load_catalog

    catalog = load_catalog()
    spec = _spec(FIVE, "1..4")
    offers = catalog.offers(accelerators=spec.resources.accelerators)
    each: dict[int, float] = {}
    figures = []
    for growth in GROWTHS:
        more = [
            replace(offer, zone=f"{offer.zone}{k}", region=f"{offer.region}{k}")
            for k in range(growth)
            for offer in offers
        ]
        larger = catalog.with_offers(more)
        took = median([seconds(partial(_planned, spec, larger)) for _ in range(5)])
        each[growth] = took / len(more)
        figures.append(
            Figure(
                name=f"{growth} x rows: {len(more)} offers",
                value=took * 1e3,
                unit="ms",
                ratio=each[growth] / each[1],
                target=2.0,
                note="x: the time for each row",
            )
        )
    return figures
