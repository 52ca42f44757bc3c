"""How much of each large check is done: small by default, large under `make soak`.

Must not be bypassed: a test that repeats something takes its count from here, and is marked `soak`.
"""

from __future__ import annotations

import os


def _count(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"{name} must be a whole number above 0, not {text!r}")
    return int(text)


SEEDS = _count("WINDLASS_SEEDS", 300)
"""Seeds of the simulation."""

RENTED_SEEDS = _count("WINDLASS_RENTED_SEEDS", 60)
"""Seeds of worlds where machines cost money and run out."""

TWIN_SEEDS = _count("WINDLASS_TWIN_SEEDS", 200)
"""Seeds of worlds where the real engines rent from a modelled twin."""

KILLS = _count("WINDLASS_KILLS", 10)
"""Times that a real process is killed, of each kind."""

EXAMPLES = _count("WINDLASS_EXAMPLES", 100)
"""Examples that Hypothesis tries for one property."""

REHEARSALS = _count("WINDLASS_REHEARSALS", 1)
"""Whole runs on a twin, each with a preemption."""

FORECASTS = _count("WINDLASS_FORECASTS", 10)
"""Modelled runs against which a plan's quantiles are held."""

NAMES = frozenset(
    {
        "WINDLASS_SEEDS",
        "WINDLASS_RENTED_SEEDS",
        "WINDLASS_TWIN_SEEDS",
        "WINDLASS_KILLS",
        "WINDLASS_EXAMPLES",
        "WINDLASS_REHEARSALS",
        "WINDLASS_FORECASTS",
    }
)
"""The variables read here; conftest.py clears every other WINDLASS_ variable."""
