"""Measures processes and functions, always in turn with the baseline, and takes medians.

Must not know what is measured. Interleaving makes a busy moment of the machine hit both sides.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")

PYTHON = sys.executable
WINDLASS = str(Path(sys.executable).with_name("windlass"))
BARE = (PYTHON, "-c", "pass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one process took."""

    wall_s: float
    cpu_s: float


def environment(home: Path) -> dict[str, str]:
    """The caller's, with a home folder of its own and nothing that changes how Python starts."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("WINDLASS_", "PYTHON"))}
    return kept | {"WINDLASS_HOME": str(home)}


def process_cost(argv: Sequence[str], env: Mapping[str, str]) -> Cost:
    """Run a program to its end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, nowhere, number) for number in (0, 1, 2)]
    begun = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    wall_s = time.perf_counter() - begun
    os.close(nowhere)
    if status != 0:
        raise SystemExit(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(wall_s=wall_s, cpu_s=usage.ru_utime + usage.ru_stime)


def first_line_s(argv: Sequence[str], env: Mapping[str, str]) -> float:
    """Seconds from starting a program to its first line on stdout; waits for its end."""
    begun = time.perf_counter()
    with subprocess.Popen(
        argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdout is not None
        line = child.stdout.readline()
        seconds = time.perf_counter() - begun
        child.stdout.read()
    if not line or child.returncode != 0:
        raise SystemExit(f"{' '.join(argv)} printed {line!r} and ended with {child.returncode}")
    return seconds


def seconds(function: Callable[[], object]) -> float:
    """How long one call takes."""
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


def in_turn(
    sides: Mapping[str, Callable[[], Value]], *, repetitions: int
) -> dict[str, list[Value]]:
    """Call every side once, then again, so many times; the first round only warms up."""
    found: dict[str, list[Value]] = {name: [] for name in sides}
    for repetition in range(repetitions + 1):
        for name, side in sides.items():
            value = side()
            if repetition:
                found[name].append(value)
    return found


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return statistics.median(values)
