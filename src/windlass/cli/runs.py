"""Finds the run that somebody means.

Must not change runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from windlass.errors import OptionRefused, RunUnknown

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.state.model import Run
    from windlass.state.store import Store

NAMES_MAX = 10


def find_run(store: Store, text: str) -> Run:
    """The one run of this id, name or beginning of an id.

    Raises RunUnknown with the nearest names, OptionRefused with the candidates when several fit.
    """
    found = list(store.find_runs(text, limit=NAMES_MAX + 1))
    if len(found) == 1:
        return found[0]
    if found:
        raise _ambiguous(text, found)
    raise _unknown(store, text)


def told_apart(home: Home, runs: Iterable[Run]) -> list[Run]:
    """Those that can be asked about from here; where the others are is told."""
    from windlass.controller.clouds import is_within, named, way_to

    found: list[Run] = []
    others: dict[str, list[str]] = {}
    for run in runs:
        if is_within(run, home.cloud):
            found.append(run)
        else:
            others.setdefault(run.cloud, []).append(run.id)
    for cloud, ids in others.items():
        more = f" and {len(ids) - NAMES_MAX} more" if len(ids) > NAMES_MAX else ""
        names = ", ".join(ids[:NAMES_MAX]) + more
        sys.stderr.write(f"windlass: on {named(cloud)}: {names}. {way_to(cloud)}\n")
    return found


def _ambiguous(text: str, found: list[Run]) -> OptionRefused:
    shown = "\n".join(f"{run.id}  {run.phase}" for run in found[:NAMES_MAX])
    more = "\n…" if len(found) > NAMES_MAX else ""
    count = f"more than {NAMES_MAX}" if more else str(len(found))
    return OptionRefused(
        f"{text!r} fits {count} runs",
        context=shown + more,
        remedy="Give the whole id of the one you mean.",
    )


def _unknown(store: Store, text: str) -> RunUnknown:
    import difflib

    known: dict[str, None] = {}
    for run in store.list_runs(limit=500):
        known[run.id] = None
        known[run.name] = None
    near = difflib.get_close_matches(text, known, n=3, cutoff=0.5)
    if near:
        meant = " or ".join(f"`{name}`" for name in near)
        remedy = f"Did you mean {meant}? `windlass ps --all` lists every run."
    elif known:
        remedy = "`windlass ps --all` lists every run."
    else:
        remedy = "There are no runs yet: start one with `windlass run SPEC`."
    return RunUnknown(f"no run goes by {text!r}", remedy=remedy)
