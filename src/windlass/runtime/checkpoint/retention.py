"""Which checkpoints stay: the newest whole ones; and what earlier attempts left half written goes.

Must not remove the newest whole checkpoint, nor anything that a later attempt may be writing.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import AbstractSet, Iterator, List, NamedTuple, Optional

from windlass.runtime.checkpoint import files, manifest, reading
from windlass.runtime.checkpoint.errors import CheckpointRefused, Damage

log = logging.getLogger("windlass.runtime")

STALE_S = 3600.0
"""A half-written file of our own attempt number is taken for a dead process's after this long."""
_LEFTOVER = re.compile(r"\.?(?:part-|manifest-)?a(\d+)-\w.*")


class Scope(NamedTuple):
    """What retention needs to know about the save that was just committed."""

    step: int
    attempt: int
    keep: int
    damaged: AbstractSet[int]
    """Steps that were found damaged by this process."""


def tidy(root: Path, scope: Scope) -> None:
    """Remove what is no longer needed, after a commit. A disk's refusal is logged, not raised."""
    try:
        for step in surplus(root, scope):
            if step in scope.damaged:
                log.warning("removing the damaged checkpoint of step %d from %s", step, root)
            drop(root / str(step))
        for path in leftovers(root, scope):
            files.remove(path)
            files.remove_folder_if_empty(path.parent)
    except OSError as exc:
        log.warning("old checkpoints in %s were not removed: %s", root, exc)


def surplus(root: Path, scope: Scope) -> List[int]:
    """The steps older than the `keep` newest whole ones; never the one just committed."""
    found = reading.steps(root)
    whole = [step for step in found if step not in scope.damaged and _is_whole(root / str(step))]
    if len(whole) <= scope.keep:
        return []
    oldest_kept = whole[-scope.keep]
    return [step for step in found if step < oldest_kept and step != scope.step]


def drop(folder: Path) -> None:
    """Remove a checkpoint, its manifest first: without it, it never was one."""
    names = [entry for entry in folder.iterdir() if entry.name != manifest.NAME]
    (folder / manifest.NAME).unlink()
    files.sync_folder(folder)
    for path in names:
        files.remove(path)
    files.remove_folder_if_empty(folder)


def leftovers(root: Path, scope: Scope) -> Iterator[Path]:
    """Files that no manifest names, by attempts before ours or by a dead process of our number."""
    fresh_after = (root / str(scope.step) / manifest.NAME).stat().st_mtime - STALE_S
    for folder in sorted(root.iterdir()):
        if not folder.name.isdigit() or not folder.is_dir():
            continue
        named = _named(folder)
        if named is None:
            continue
        for path in sorted(folder.iterdir()):
            match = _LEFTOVER.fullmatch(path.name)
            if match is None or path.name in named:
                continue
            attempt = int(match[1])
            is_dead = attempt == scope.attempt and path.stat().st_mtime < fresh_after
            if attempt < scope.attempt or is_dead:
                yield path


def _is_whole(folder: Path) -> bool:
    try:
        return reading.looks_whole(folder)
    except CheckpointRefused:
        return True  # A newer Windlass wrote it: not ours to judge.


def _named(folder: Path) -> Optional[AbstractSet[str]]:
    """The files that the folder's manifest names; None when that cannot be told."""
    if not (folder / manifest.NAME).exists():
        return frozenset()
    try:
        return {entry.name for entry in reading.read_manifest(folder).files}
    except (Damage, CheckpointRefused):
        return None
