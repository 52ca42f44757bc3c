"""How long a command takes that does nothing much: `version`, `--help`, and `ps` over 100 runs.

The baseline is the same interpreter doing nothing. Files are in the page cache on both sides.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from clocks import BARE, WINDLASS, environment, in_turn, median, process_cost
from figures import Figure, Result
from populate import add_queued

RUNS = 100
REPETITIONS = 21
COMMANDS = {
    "version": ((WINDLASS, "version"), 5.0),
    "--help": ((WINDLASS, "--help"), None),
    f"ps, {RUNS} runs": ((WINDLASS, "ps", "-n", str(RUNS)), 10.0),
}


def measure() -> Result:
    """Start every command in turn with a bare Python."""
    with tempfile.TemporaryDirectory(prefix="windlass-bench-") as folder:
        home = Path(folder)
        add_queued(home, RUNS)
        env = environment(home)
        sides = {"python": lambda: process_cost(BARE, env)}
        for name, (argv, _) in COMMANDS.items():
            sides[name] = lambda argv=argv: process_cost(argv, env)
        found = in_turn(sides, repetitions=REPETITIONS)
    bare_wall = median([cost.wall_s for cost in found["python"]])
    bare_cpu = median([cost.cpu_s for cost in found["python"]])
    figures = [Figure(name="python -c pass", value=bare_wall * 1e3, unit="ms", ratio=1.0)]
    for name, (_, target) in COMMANDS.items():
        wall = median([cost.wall_s for cost in found[name]])
        cpu = median([cost.cpu_s for cost in found[name]])
        figures.append(
            Figure(
                name=f"windlass {name}",
                value=wall * 1e3,
                unit="ms",
                ratio=wall / bare_wall,
                target=target,
                note=f"processor time {cpu / bare_cpu:.2f} x",
            )
        )
    return Result(
        title="Start of a command",
        baseline="the same interpreter running `-c pass`, to its end",
        limit="1 x is Python itself; click alone is about 2.7 x, sqlite3 1.8 x",
        peers=(
            "kubectl version --client 4.3 x, torchx --help 11 x, ray --help 54 x, "
            "dstack --help 83 x, sky --version 144 x, sky status 268 x (2026-11-15)"
        ),
        figures=tuple(figures),
    )
