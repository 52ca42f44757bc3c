"""Which checkpoints stay: the newest whole ones; and what earlier attempts left half written goes.

Must not remove the newest whole checkpoint, nor anything that a later attempt may be writing.
"""

from __future__ import annotations

import logging
import re
from typing import AbstractSet, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from windlass.runtime.checkpoint import manifest, reading
from windlass.runtime.checkpoint.errors import CheckpointFailed, CheckpointRefused, Damage
from windlass.runtime.checkpoint.places import Place, Shelf, Stored

log = logging.getLogger("windlass.runtime")

STALE_S = 3600.0
"""A half-written file of our own attempt number is taken for a dead process's after this long."""
Everything = Dict[int, Dict[str, Stored]]
"""The files of every step."""
_LEFTOVER = re.compile(r"\.?(?:part-|manifest-)?a(\d+)-\w.*")


class Scope(NamedTuple):
    """What retention needs to know about the save that was just committed."""

    step: int
    attempt: int
    keep: int
    damaged: AbstractSet[int]
    """Steps that were found damaged by this process."""


def tidy(shelf: Shelf, scope: Scope) -> None:
    """Remove what is no longer needed, after a commit. A refusal is logged, not raised."""
    try:
        found = shelf.everything()
        for step in surplus(shelf, scope, found):
            if step in scope.damaged:
                log.warning("removing the damaged checkpoint of step %d from %s", step, shelf)
            drop(shelf.at(step), found.pop(step))
        for step, name in leftovers(shelf, scope, found):
            place = shelf.at(step)
            place.remove(name)
            place.leave()
    except (OSError, CheckpointFailed) as exc:
        log.warning("old checkpoints in %s were not removed: %s", shelf, exc)


def surplus(shelf: Shelf, scope: Scope, everything: Everything) -> List[int]:
    """The steps older than the `keep` newest whole ones; never the one just committed."""
    found = sorted(step for step, files in everything.items() if manifest.NAME in files)
    if len(found) <= scope.keep:
        return []
    whole = [step for step in found if step not in scope.damaged and _is_whole(shelf.at(step))]
    if len(whole) <= scope.keep:
        return []
    oldest_kept = whole[-scope.keep]
    return [step for step in found if step < oldest_kept and step != scope.step]


def drop(place: Place, names: Iterable[str]) -> None:
    """Remove a checkpoint, its manifest first: without it, it never was one."""
    place.retract(manifest.NAME)
    for name in names:
        if name != manifest.NAME:
            place.remove(name)
    place.leave()


def leftovers(shelf: Shelf, scope: Scope, found: Everything) -> Iterator[Tuple[int, str]]:
    """Files that no manifest names, by attempts before ours or by a dead process of our number."""
    if manifest.NAME not in found.get(scope.step, {}):
        return  # A later attempt has removed it: it tidies up too.
    fresh_after = found[scope.step][manifest.NAME].modified - STALE_S
    for step, files in sorted(found.items()):
        suspects = [
            name for name in sorted(files) if _is_over(name, files[name], scope, fresh_after)
        ]
        named = _named(shelf.at(step), files) if suspects else frozenset()
        if named is not None:
            yield from ((step, name) for name in suspects if name not in named)


def _is_over(name: str, stored: Stored, scope: Scope, fresh_after: float) -> bool:
    """Whether nobody writes to it any more."""
    match = _LEFTOVER.fullmatch(name)
    if match is None:
        return False
    attempt = int(match[1])
    is_dead = attempt == scope.attempt and stored.modified < fresh_after
    return attempt < scope.attempt or is_dead


def _is_whole(place: Place) -> bool:
    try:
        return reading.looks_whole(place)
    except CheckpointRefused:
        return True  # A newer Windlass wrote it: not ours to judge.


def _named(place: Place, files: Mapping[str, Stored]) -> Optional[AbstractSet[str]]:
    """The files that the place's manifest names; None when that cannot be told."""
    if manifest.NAME not in files:
        return frozenset()
    try:
        return {entry.name for entry in reading.read_manifest(place).files}
    except (Damage, CheckpointRefused):
        return None
