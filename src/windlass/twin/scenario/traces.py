"""Replays how many machines could be had, as somebody once observed it.

Must not depend on NumPy unless a file needs it.
"""

from __future__ import annotations

import csv
import importlib
import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from windlass.twin.market import NEVER, Rule
from windlass.twin.scenario.reading import Wrong

MOST_STEPS = 1_000_000


def read_trace(path: Path, name: str) -> list[int]:
    """How many machines could be had at each step. JSON: a list, or lists by name. CSV: a column
    by name, or the first one. NPZ: an array by name."""
    try:
        if path.suffix == ".json":
            values = _from_json(json.loads(path.read_text()), name)
        elif path.suffix == ".csv":
            values = _from_csv(path, name)
        elif path.suffix == ".npz":
            values = _from_npz(path, name)
        else:
            raise Wrong(f"{path.name} is no trace", "Give a .json, .csv or .npz file.")
        numbers = [int(value) for value in values]
    except OSError as exc:
        raise Wrong(f"{path} cannot be read", "See whether the file is there.") from exc
    except (ValueError, TypeError) as exc:
        raise Wrong(f"{path.name} is no trace: {exc}", "Steps must be whole numbers.") from exc
    if not 0 < len(numbers) <= MOST_STEPS or min(numbers) < 0:
        raise Wrong(f"{path.name} has no usable steps", "Give whole numbers from 0 on.")
    return numbers


def rules_of(steps: Sequence[int], place: Rule, *, step_s: float, start: float) -> Iterator[Rule]:
    """Capacity over time at that place: a rule for each stretch of equal numbers. The last one
    stays."""
    at = 0
    for room, group in groupby(steps):
        length = sum(1 for _ in group)
        since = start + at * step_s
        at += length
        until = NEVER if at == len(steps) else start + at * step_s
        yield place._replace(room=room, since=since, until=until)


def _from_json(document: Any, name: str) -> Sequence[Any]:
    if isinstance(document, list):
        return document
    found = document.get(name) if isinstance(document, dict) else None
    if found is None and isinstance(document, dict):
        found = document.get("data") if not name else None
    if not isinstance(found, list):
        raise Wrong(f"there is no trace {name!r}", _known(document))
    return found


def _from_csv(path: Path, name: str) -> Sequence[Any]:
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    column = name or (next(iter(rows[0])) if rows else "")
    if not rows or column not in rows[0]:
        raise Wrong(f"there is no column {column!r}", _known(rows[0] if rows else {}))
    return [row[column] for row in rows]


def _from_npz(path: Path, name: str) -> Sequence[Any]:
    try:
        numpy = importlib.import_module("numpy")
    except ImportError as exc:
        raise Wrong("an .npz file needs NumPy", "Install numpy, or give a .json file.") from exc
    with numpy.load(path, allow_pickle=False) as arrays:
        if name not in arrays:
            raise Wrong(f"there is no trace {name!r}", _known(list(arrays)))
        return [int(value) for value in arrays[name]]


def _known(names: Any) -> str:
    known = [str(name) for name in names][:8]
    return f"There are {', '.join(known)}." if known else "The file is empty."
