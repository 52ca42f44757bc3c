"""What it costs to open the catalog and find offers, in a fresh process and in a warm one.

The baseline is the same interpreter doing nothing. Imports are part of what a fresh process pays.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from clocks import BARE, PYTHON, environment, in_turn, median, process_cost, seconds
from figures import Figure, Result

from windlass.catalog.load import PACKAGED, load_catalog
from windlass.spec.accelerators import accelerators

REPETITIONS = 21
LOAD = "from windlass.catalog.load import load_catalog; catalog = load_catalog()"
ASK = (
    "from windlass.spec.accelerators import accelerators; "
    "catalog.offers(accelerators=[accelerators({!r})])"
)
# What every command that plans imports in any case.
SPEC = "import json, pathlib, windlass.spec.accelerators"
FRESH = {
    "imports that a plan needs anyway": (SPEC, None),
    "load": (f"{SPEC}; {LOAD}", 6.0),
    "load, H100:8": (f"{SPEC}; {LOAD}; {ASK.format('H100:8')}", 6.0),
    "load, v5p-128": (f"{SPEC}; {LOAD}; {ASK.format('v5p-128')}", 6.0),
    "load, every offer": (f"{SPEC}; {LOAD}; list(catalog.all_offers())", None),
}


def measure() -> Result:
    """Fresh processes in turn with a bare Python; then calls in this one."""
    with tempfile.TemporaryDirectory(prefix="windlass-bench-") as folder:
        env = environment(Path(folder))
        sides = {"python": lambda: process_cost(BARE, env)}
        for name, (code, _) in FRESH.items():
            sides[name] = lambda code=code: process_cost((PYTHON, "-c", code), env)
        found = in_turn(sides, repetitions=REPETITIONS)
    bare = median([cost.wall_s for cost in found["python"]])
    figures = [Figure(name="python -c pass", value=bare * 1e3, unit="ms", ratio=1.0)]
    for name, (_, target) in FRESH.items():
        wall = median([cost.wall_s for cost in found[name]])
        figures.append(
            Figure(name=name, value=wall * 1e3, unit="ms", ratio=wall / bare, target=target)
        )
    return Result(
        title="The catalog",
        baseline="the same interpreter running `-c pass`, to its end",
        limit=f"1 x is Python itself; the file has {PACKAGED.stat().st_size / 1024:.0f} KiB",
        figures=(*figures, *_warm()),
    )


def _warm() -> list[Figure]:
    wanted = [accelerators("H100:8")]
    catalog = load_catalog()
    sides = {
        "open the file, H100:8": lambda: seconds(
            lambda: load_catalog().offers(accelerators=wanted)
        ),
        "H100:8 again": lambda: seconds(lambda: catalog.offers(accelerators=wanted)),
        "open the file, every offer": lambda: seconds(lambda: list(load_catalog().all_offers())),
    }
    found = in_turn(sides, repetitions=REPETITIONS)
    return [
        Figure(name=f"in a warm process: {name}", value=median(times) * 1e3, unit="ms")
        for name, times in found.items()
    ]
