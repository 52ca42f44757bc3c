"""From `windlass run` to the first line that `echo` prints, on the local engine.

The baseline is a Python program that starts `echo` by itself and passes its line on.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from clocks import PYTHON, WINDLASS, environment, first_line_s, in_turn, median
from figures import Figure, Result
from usage import controller_of

REPETITIONS = 15
TARGET = 8.0
SUBPROCESS = """
import subprocess
child = subprocess.Popen(["echo", "hello"], stdout=subprocess.PIPE, text=True)
print(child.stdout.readline(), end="", flush=True)
child.wait()
"""


def measure() -> Result:
    """Submit again and again to a controller that is up."""
    with tempfile.TemporaryDirectory(prefix="windlass-bench-") as folder:
        project = Path(folder, "project")
        project.mkdir()
        spec = project / "hello.yaml"
        spec.write_text("name: hello\nrun: echo hello\n")
        home = Path(folder, "home")
        env = environment(home)
        sides = {
            "python": lambda: first_line_s((PYTHON, "-c", SUBPROCESS), env),
            "windlass": lambda: first_line_s((WINDLASS, "run", str(spec)), env),
        }
        with controller_of(home):
            found = in_turn(sides, repetitions=REPETITIONS)
    bare, ours = median(found["python"]), median(found["windlass"])
    return Result(
        title="From submit to the first line of `echo`, controller up",
        baseline="a Python program that starts `echo` and prints its line",
        limit=(
            "about 3 x: two Pythons one after the other (the command and the agent, which outlives "
            "it), a shell, and three durable writes between them"
        ),
        peers="torchx 12 x, ray 116 x (2026-11-15)",
        figures=(
            Figure(name="python, subprocess, line shown", value=bare * 1e3, unit="ms", ratio=1.0),
            Figure(
                name="windlass run, line shown",
                value=ours * 1e3,
                unit="ms",
                ratio=ours / bare,
                target=TARGET,
                note=f"slowest of {REPETITIONS}: {max(found['windlass']) * 1e3:.0f} ms",
            ),
        ),
    )
